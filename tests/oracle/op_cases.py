"""The cases of ops.py: one small computation on constants per operator row, element type and special value that matters."""
from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from typing import Any

import torch
from cases import A, B8, BF16, F16, F32, F64, FLOATS, I8, I16, I32, I64, INTS, MIXED, NAMES, Q, U8, Case, as_list, case, scalars, special, values, written
from torch import Tensor


# ---- arithmetic ----

BINARY: dict[str, Callable[..., Tensor]] = {
    "add": A.add.Tensor, "sub": A.sub.Tensor, "rsub": A.rsub.Tensor, "mul": A.mul.Tensor, "div": A.div.Tensor,
    "true_divide": A.true_divide.Tensor, "fmod": A.fmod.Tensor, "remainder": A.remainder.Tensor, "minimum": A.minimum.default,
    "maximum": A.maximum.default, "min_other": A.min.other, "max_other": A.max.other, "floor_divide": A.floor_divide.default,
    "div_floor": lambda a, b: A.div.Tensor_mode(a, b, rounding_mode="floor"),
    "div_trunc": lambda a, b: A.div.Tensor_mode(a, b, rounding_mode="trunc"),
    "div_none": lambda a, b: A.div.Tensor_mode(a, b, rounding_mode=None),
    "eq": A.eq.Tensor, "ne": A.ne.Tensor, "lt": A.lt.Tensor, "le": A.le.Tensor, "gt": A.gt.Tensor, "ge": A.ge.Tensor,
    "logical_and": A.logical_and.default, "logical_or": A.logical_or.default, "logical_xor": A.logical_xor.default,
    "bitwise_and": A.bitwise_and.Tensor, "bitwise_or": A.bitwise_or.Tensor, "bitwise_xor": A.bitwise_xor.Tensor,
    "__and__": A.__and__.Tensor, "__or__": A.__or__.Tensor, "__xor__": A.__xor__.Tensor,
}


def binary_cases() -> Iterator[Case]:
    dtypes = (*FLOATS, *INTS, B8)
    for (name, fn), dtype in itertools.product(BINARY.items(), dtypes):
        core = dtype in (F32, BF16, I64)
        yield from case(f"{name}.{NAMES[dtype]}", fn, values(dtype), values(dtype, (4,), 1), core=core)
        yield from case(f"{name}.{NAMES[dtype]}.0d", fn, values(dtype), scalars(dtype), core=core)
    for (a, b), (name, fn) in itertools.product(itertools.permutations(dtypes, 2), BINARY.items()):
        tag = f"{NAMES[a]}.{NAMES[b]}"
        if name not in ("add", "mul", "div"):
            continue
        yield from case(f"{name}.{tag}", fn, values(a), values(b, (3, 4), 1), core=False)
        yield from case(f"{name}.{tag}.0d", fn, values(a), scalars(b), core=False)
    for (a, b), name in itertools.product(MIXED, ("lt", "maximum", "bitwise_and", "remainder", "div_floor", "sub")):
        yield from case(f"{name}.{NAMES[a]}.{NAMES[b]}", BINARY[name], values(a), values(b, (3, 4), 1))
        yield from case(f"{name}.{NAMES[a]}.{NAMES[b]}.0d", BINARY[name], values(a), scalars(b), core=False)
        yield from case(f"{name}.{NAMES[a]}.{NAMES[b]}.0d0d", BINARY[name], scalars(a), scalars(b), core=False)
    for (name, fn), dtype in itertools.product(BINARY.items(), FLOATS):
        x = special(dtype)
        # torch's vector kernels give NaN where the quotient overflows.
        x = x[x != torch.finfo(dtype).max] if name in ("fmod", "remainder") else x
        y = x[x.abs() != torch.finfo(dtype).smallest_normal / 4] if name in ("fmod", "remainder") else x
        a, b = x[:, None], y[None, :]
        if name.startswith(("min", "max")):  # of two zeros torch gives the second, but either where it broadcasts
            a, b = (t.contiguous() for t in torch.broadcast_tensors(a, b))
        yield from case(f"{name}.special.{NAMES[dtype]}", fn, a, b, core=False)
        yield from case(f"{name}.empty.{NAMES[dtype]}", fn, values(dtype, (0, 3)), values(dtype, (3,)))
    for name in ("bitwise_left_shift", "bitwise_right_shift"):
        for dtype in INTS:
            shift = torch.tensor([0, 1, 2, 5]).to(dtype)
            yield from case(f"{name}.{NAMES[dtype]}", getattr(A, name).Tensor, values(dtype), shift)
            yield from case(f"{name}.scalar.{NAMES[dtype]}", lambda a, f=getattr(A, name): f.Tensor_Scalar(a, 3), values(dtype))
    for name, dtype in itertools.product(("__lshift__", "__rshift__"), INTS):
        yield from case(f"{name}.{NAMES[dtype]}", getattr(A, name).Tensor, values(dtype), torch.tensor([0, 1, 2, 5]).to(dtype))
        yield from case(f"{name}.Scalar.{NAMES[dtype]}", lambda a, f=getattr(A, name): f.Scalar(a, 4), values(dtype))
    big = torch.tensor([[2**31 + 7, -(2**40) + 3], [5, -9]])
    for b in (torch.tensor(3), torch.tensor([7, -2])):
        yield from case("mul.i64.big", A.mul.Tensor, big, b)
        yield from case("div.i64.big", A.div.Tensor, big, b)
    half = torch.tensor([1.0, 2.0, 300.0], dtype=BF16)
    yield from case("mul.bf16.i64.single", A.mul.Tensor, half, torch.tensor([1001]))
    yield from case("mul.bf16.i64.many", A.mul.Tensor, half, torch.tensor([1001, 1003, 1007]))
    yield from case("add.bf16.i64.single", A.add.Tensor, half, torch.tensor([1001]))


SCALAR_OPS: dict[str, Callable[..., Tensor]] = {
    "add.Scalar": A.add.Scalar, "sub.Scalar": A.sub.Scalar, "rsub.Scalar": A.rsub.Scalar, "mul.Scalar": A.mul.Scalar,
    "div.Scalar": A.div.Scalar, "fmod.Scalar": A.fmod.Scalar, "remainder.Scalar": A.remainder.Scalar,
    "floor_divide.Scalar": A.floor_divide.Scalar,
    "remainder.Scalar_Tensor": lambda a, v: A.remainder.Scalar_Tensor(v, a),
    "div.Scalar_mode.floor": lambda a, v: A.div.Scalar_mode(a, v, rounding_mode="floor"),
    "div.Scalar_mode.trunc": lambda a, v: A.div.Scalar_mode(a, v, rounding_mode="trunc"),
    "eq.Scalar": A.eq.Scalar, "ne.Scalar": A.ne.Scalar, "lt.Scalar": A.lt.Scalar, "le.Scalar": A.le.Scalar, "gt.Scalar": A.gt.Scalar,
    "ge.Scalar": A.ge.Scalar, "bitwise_and.Scalar": A.bitwise_and.Scalar, "bitwise_or.Scalar": A.bitwise_or.Scalar,
    "bitwise_xor.Scalar": A.bitwise_xor.Scalar, "__and__.Scalar": A.__and__.Scalar, "__or__.Scalar": A.__or__.Scalar,
    "__xor__.Scalar": A.__xor__.Scalar, "add": lambda a, v: a + v, "sub": lambda a, v: a - v, "rsub": lambda a, v: v - a,
    "mul": lambda a, v: a * v, "div": lambda a, v: a / v, "rdiv": lambda a, v: v / a, "floordiv": lambda a, v: a // v,
    "mod": lambda a, v: a % v, "add.alpha": lambda a, v: A.add.Tensor(a, a, alpha=v), "sub.alpha": lambda a, v: A.sub.Tensor(a, a, alpha=v),
    "rsub.alpha": lambda a, v: A.rsub.Scalar(a, 2, v), "add.Scalar.alpha": lambda a, v: A.add.Scalar(a, 3, v),
    "clamp.min": lambda a, v: A.clamp.default(a, v), "clamp.max": lambda a, v: A.clamp.default(a, None, v),
    "clamp_min": A.clamp_min.default, "clamp_max": A.clamp_max.default, "full_like": A.full_like.default,
    "fill.Scalar": A.fill.Scalar, "new_full": lambda a, v: A.new_full.default(a, [2, 3], v),
}


def scalar_cases() -> Iterator[Case]:
    for (name, fn), dtype in itertools.product(SCALAR_OPS.items(), (*FLOATS, *INTS, B8)):
        for v in (3, -2, 0.1, 300, True):
            usual = dtype in (F32, BF16, I64, I8) and v in (3, 0.1) or (dtype, v) in ((U8, 300), (B8, True), (F16, 0.1), (F64, 0.1))
            if usual:
                yield from case(f"{name}.{NAMES[dtype]}.{v}", lambda a, f=fn, v=v: f(a, v), values(dtype, (8, 8)), core=dtype == BF16)
    for dtype in FLOATS:
        for v in (float("inf"), -1e9, -0.0):
            for name in ("add.Scalar", "mul.Scalar", "div.Scalar", "lt.Scalar", "floordiv", "mod"):
                yield from case(f"{name}.special.{NAMES[dtype]}.{v}", lambda a, f=SCALAR_OPS[name], v=v: f(a, v), special(dtype), core=False)
        yield from case(f"clamp.both.{NAMES[dtype]}", lambda a: A.clamp.default(a, -0.3, 1.7), special(dtype))
        for v in (0.0, -0.0):
            yield from case(f"clamp.zero.{NAMES[dtype]}.{v}", lambda a, v=v: [A.clamp.default(a, v), A.clamp.default(a, None, v)], special(dtype))
    for dtype in (*FLOATS, *INTS):
        low, high = values(dtype, (4,), 3), values(dtype, (4,), 4)
        yield from case(f"clamp.Tensor.{NAMES[dtype]}", A.clamp.Tensor, values(dtype), low, high)
        yield from case(f"clip.{NAMES[dtype]}", lambda a: A.clip.default(a, -2, 3), values(dtype))
        yield from case(f"clamp_min.Tensor.{NAMES[dtype]}", A.clamp_min.Tensor, values(dtype), low)
        yield from case(f"clamp_max.Tensor.{NAMES[dtype]}", A.clamp_max.Tensor, values(dtype), high)


# ---- functions of one tensor ----

EXACT = ("neg", "abs", "sign", "floor", "ceil", "trunc", "round", "reciprocal", "square", "logical_not", "bitwise_not", "positive")
ROUGH = {"sqrt": 1, "rsqrt": 1, "sin": 1, "cos": 1, "exp": 1, "exp2": 1, "log": 1, "tanh": 1, "erf": 1, "sigmoid": 2}


def unary_cases() -> Iterator[Case]:
    for name, dtype in itertools.product((*EXACT, *ROUGH), (*FLOATS, *INTS, B8)):
        fn = getattr(A, name).default
        positive = name in ("sqrt", "rsqrt", "log")
        # Two f64 libraries may each be an ulp off; torch flushes what is below the normal numbers in some of its kernels.
        ulp, near = ROUGH.get(name, 0) * (2 if dtype == F64 else 1), 1e-30 if name in ROUGH else 0
        yield from case(f"{name}.{NAMES[dtype]}", fn, values(dtype, (5, 7), 2, positive), ulp=ulp, near=near)
        if dtype.is_floating_point:
            yield from case(f"{name}.special.{NAMES[dtype]}", fn, special(dtype), ulp=ulp, near=near)
    for v, dtype in itertools.product((0, 1, 2, 3, -1, -2, 0.5, -0.5, 4, 1.7, 0.0, 2.0), (*FLOATS, *INTS, B8)):
        x = values(dtype, (3, 5), 1, positive=isinstance(v, float))
        ulp = 0 if v in (0, 1, 2, 3, -1, -2) or not dtype.is_floating_point and isinstance(v, int) else 4
        yield from case(f"pow.Tensor_Scalar.{NAMES[dtype]}.{v}", lambda a, v=v: A.pow.Tensor_Scalar(a, v), x, ulp=ulp)
    for dtype in (*FLOATS, *INTS):
        x, y = values(dtype, (3, 4), 1, True), torch.tensor([0, 1, 2, 3]).to(dtype)
        ulp = 2 if dtype.is_floating_point else 0
        yield from case(f"pow.Tensor_Tensor.{NAMES[dtype]}", A.pow.Tensor_Tensor, x, y, ulp=ulp)
        yield from case(f"pow.Scalar.{NAMES[dtype]}", lambda a: A.pow.Scalar(2, a), y, ulp=ulp)
        yield from case(f"pow.Scalar.one.{NAMES[dtype]}", lambda a: A.pow.Scalar(1, a), y)
        yield from case(f"pow.Scalar.float.{NAMES[dtype]}", lambda a: A.pow.Scalar(1.5, a), y, ulp=2)


def activation_cases() -> Iterator[Case]:
    for dtype in (*FLOATS, *INTS):
        x, tag = values(dtype, (4, 6), 3), NAMES[dtype]
        near = {F16: 2e-3, BF16: 1.6e-2, F64: 1e-14}.get(dtype, 1e-6)
        yield from case(f"relu.{tag}", A.relu.default, x)
        yield from case(f"silu.{tag}", A.silu.default, x, near=near)
        yield from case(f"gelu.{tag}", A.gelu.default, x, near=near)
        yield from case(f"gelu.tanh.{tag}", lambda c: A.gelu.default(c, approximate="tanh"), x, near=near)
        yield from case(f"isnan.{tag}", A.isnan.default, x)
        yield from case(f"isinf.{tag}", A.isinf.default, x)
        for name, packet, inner in (("softmax", A.softmax, A._softmax), ("log_softmax", A.log_softmax, A._log_softmax)):
            yield from case(f"{name}.int.{tag}", lambda c, f=packet: f.int(c, -1), x, near=near)
            yield from case(f"{name}.int.dtype.{tag}", lambda c, f=packet: f.int(c, 0, F32), x, near=1e-6)
            yield from case(f"_{name}.{tag}", lambda c, f=inner: f.default(c, 1, False), x, near=near)
    for dtype in FLOATS:
        x, tag = special(dtype), NAMES[dtype]
        yield from case(f"relu.special.{tag}", A.relu.default, x)
        yield from case(f"isnan.special.{tag}", A.isnan.default, x)
        yield from case(f"isinf.special.{tag}", A.isinf.default, x)
    masked = torch.tensor([[0.5, float("-inf"), 2.0], [1e4, -1e4, 0.0]])
    yield from case("softmax.masked", lambda c: A.softmax.int(c, -1), masked, near=1e-6)


# ---- dtypes ----

def cast_cases() -> Iterator[Case]:
    eights = (torch.float8_e4m3fn, torch.float8_e5m2)
    for a, b in itertools.product((*FLOATS, *INTS, B8, *eights), repeat=2):
        x = (values(F32, (6, 5)) * 8 if a.is_floating_point else values(I64, (6, 5))).to(a)
        tag = f"{NAMES[a]}.{NAMES[b]}"
        if a.is_floating_point and b == U8:
            x = x.float().abs().to(a)
        yield from case(f"to.dtype.{tag}", lambda c, b=b: A.to.dtype(c, b), x, core=False)
        yield from case(f"_to_copy.{tag}", lambda c, b=b: A._to_copy.default(c, dtype=b), x, core=False)
        if b not in eights and b.is_floating_point and a.is_floating_point:
            wide = torch.tensor([1e300, -1e300, float("inf"), float("nan"), 65519.99, 65520.0, 1e-8, 1 + 2**-11 + 2**-30], dtype=F64).to(a)
            yield from case(f"to.wide.{tag}", lambda c, b=b: A.to.dtype(c, b), wide, core=False)
    x = values(F32)
    yield from case("to.device", lambda c: A.to.device(c, torch.device("cpu"), F16), x)
    yield from case("to.dtype_layout", lambda c: A.to.dtype_layout(c, dtype=BF16, layout=torch.strided), x)
    yield from case("to.other", A.to.other, x, values(F64))
    yield from case("type_as", A.type_as.default, x, values(I32))
    yield from case("convert_element_type", lambda c: Q.convert_element_type.no_fuse(c, I8), x)
    yield from case("to.undefined", lambda c: c.to(I8), torch.tensor([300.0, 1.0]), keep="undefined", core=False)
    for a, b in itertools.product((F32, F64, F16, BF16), (I32, I64)):
        tag = f"{NAMES[a]}.{NAMES[b]}"
        below = torch.tensor([float("-inf"), -3e38, -65504.0, -0.5, 65504.0]).to(a)
        yield from case(f"to.below.{tag}", lambda c, b=b: A.to.dtype(c, b), below)
        for v in (float("nan"), float("inf")):
            yield from case(f"to.{v}.{tag}", lambda c, b=b: A.to.dtype(c, b), torch.tensor([1, v]).to(a), keep="undefined", core=False)


# ---- moves ----

def view_cases() -> Iterator[Case]:
    x, y = values(F32, (2, 3, 4)), values(I16, (2, 1, 3, 1))
    moves: dict[str, Callable[[Tensor], Any]] = {
        "permute": lambda c: A.permute.default(c, [2, 0, -2]), "transpose": lambda c: A.transpose.int(c, 0, -1),
        "numpy_T": A.numpy_T.default, "mT": A.mT.default, "swapaxes": lambda c: A.swapaxes.default(c, 0, 1),
        "swapdims": lambda c: A.swapdims.default(c, 0, 2), "movedim.int": lambda c: A.movedim.int(c, 0, 2),
        "movedim.intlist": lambda c: A.movedim.intlist(c, [0, 1], [2, 0]), "view": lambda c: A.view.default(c, [6, -1]),
        "reshape": lambda c: A.reshape.default(c.permute(1, 2, 0), [4, 6]), "_unsafe_view": lambda c: A._unsafe_view.default(c, [24]),
        "_reshape_alias": lambda c: A._reshape_alias.default(c, [4, 6], [6, 1]),
        "flatten": lambda c: A.flatten.using_ints(c, 1), "ravel": A.ravel.default,
        "unflatten": lambda c: A.unflatten.int(c, 2, [2, -1]), "unsqueeze": lambda c: A.unsqueeze.default(c, -1),
        "expand": lambda c: A.expand.default(c.unsqueeze(0), [3, -1, 3, 4]), "broadcast_to": lambda c: A.broadcast_to.default(c, [2, 2, 3, 4]),
        "slice": lambda c: A.slice.Tensor(c, 2, 1, 2**63 - 1, 2), "slice.negative": lambda c: A.slice.Tensor(c, -1, -3, -1),
        "slice.empty": lambda c: A.slice.Tensor(c, 1, 5, 9), "slice.whole": lambda c: A.slice.Tensor(c),
        "select": lambda c: A.select.int(c, 1, -1), "narrow": lambda c: A.narrow.default(c, 2, -3, 2),
        "split": lambda c: A.split.Tensor(c, 3, -1), "split.sizes": lambda c: A.split.sizes(c, [1, 3], 2),
        "split_with_sizes": lambda c: A.split_with_sizes.default(c, [2, 0, 1], 1), "unsafe_split": lambda c: A.unsafe_split.Tensor(c, 2, 1),
        "chunk": lambda c: A.chunk.default(c, 3, 2), "unbind": lambda c: A.unbind.int(c, 1),
        "diagonal": lambda c: A.diagonal.default(c, 1, 1, 2), "diagonal.below": lambda c: A.diagonal.default(c, -1, -2, 0),
        "flip": lambda c: A.flip.default(c, [0, -1]), "alias": A.alias.default, "detach": A.detach.default,
        "detach_": lambda c: A.detach_.default(c + 1), "lift": A.lift.default, "lift_fresh": A.lift_fresh.default,
        "lift_fresh_copy": A.lift_fresh_copy.default, "clone": A.clone.default,
        "clone.format": lambda c: A.clone.default(c.mT, memory_format=torch.contiguous_format),
        "contiguous": lambda c: A.contiguous.default(c.mT), "squeeze.none": A.squeeze.default, "t": lambda c: A.t.default(c[0]),
        "t.vector": lambda c: A.t.default(c[0, 0]), "movedim.same": lambda c: A.movedim.int(c, 1, 1),
        "view.scalar": lambda c: A.view.default(c[0, 0, :1], []), "view.empty": lambda c: A.view.default(c[:, :0], [-1, 2, 0, 4][1:]),
        "flatten.scalar": lambda c: A.flatten.using_ints(c[0, 0, 0]), "unfold": lambda c: A.unfold.default(c, 2, 2, 1),
        "unfold.apart": lambda c: A.unfold.default(c, -1, 1, 3), "unfold.even": lambda c: A.unfold.default(c, 0, 1, 1),
    }
    for name, fn in moves.items():
        yield from case(f"{name}", fn, x)
        yield from case(f"{name}.copy", lambda c, f=fn: [t * 2 for t in as_list(f(c))], x)
    yield from case("view_as", A.view_as.default, x, values(F32, (6, 4)))
    yield from case("reshape_as", A.reshape_as.default, x.mT, values(F32, (6, 4)))
    yield from case("expand_as", A.expand_as.default, y, values(F32, (2, 4, 3, 5)))
    yield from case("squeeze", A.squeeze.default, y)
    yield from case("squeeze.dim", lambda c: A.squeeze.dim(c, -1), y)
    yield from case("squeeze.dim.not", lambda c: A.squeeze.dim(c, 0), y)
    yield from case("squeeze.dims", lambda c: A.squeeze.dims(c, [1, 0, 3]), y)
    for dtype in (F64, BF16, U8, B8, torch.float8_e4m3fn, torch.complex64):
        x = values(F32, (4, 6)).to(dtype)
        yield from case(f"permute.{dtype}", lambda c: A.permute.default(c, [1, 0]).contiguous().view(3, 8), x, core=False)
    yield from case("rank8", lambda c: (c.view(2, 1, 3, 1, 2, 1, 2, 1).permute(7, 6, 5, 4, 3, 2, 1, 0) * 2), values(F32, (24,)))
    yield from case("rank9", lambda c: c.view(2, 1, 3, 1, 2, 1, 2, 1, 1) * 2, values(F32, (24,)), keep="unsupported_rank", core=False)


# ---- masks ----

def mask_cases() -> Iterator[Case]:
    mask = values(B8, (3, 4), 9)
    for a, b in MIXED:
        tag = f"{NAMES[a]}.{NAMES[b]}"
        yield from case(f"where.self.{tag}", A.where.self, mask, values(a), values(b, (4,), 1))
        yield from case(f"where.self.0d.{tag}", A.where.self, mask, values(a), scalars(b))
        yield from case(f"masked_fill.Tensor.{tag}", A.masked_fill.Tensor, values(a), mask, scalars(b))
    lowest = {F16: -65504.0, BF16: -3.3895313892515355e38, F32: -3.4028234663852886e38}
    for dtype in (*FLOATS, *INTS, B8):
        for v in (2.5, True, float("-inf"), -1e9, lowest.get(dtype, 1)):
            tag = f"{NAMES[dtype]}.{v}"
            yield from case(f"where.ScalarOther.{tag}", lambda m, c, v=v: A.where.ScalarOther(m, c, v), mask, values(dtype))
            yield from case(f"where.ScalarSelf.{tag}", lambda m, c, v=v: A.where.ScalarSelf(m, v, c), mask, values(dtype))
            yield from case(f"masked_fill.Scalar.{tag}", lambda c, m, v=v: A.masked_fill.Scalar(c, m, v), values(dtype), mask)
    for a, b in ((0.0, float("-inf")), (1, 2), (True, False), (1, 2.5)):
        yield from case(f"where.Scalar.{a}.{b}", lambda m, a=a, b=b: A.where.Scalar(m, a, b), mask)
    yield from case("where.broadcast", A.where.self, mask[:, None], values(F32, (2, 1)), values(F32, (1, 4)))
    yield from case("masked_fill.broadcast", lambda c, m: A.masked_fill.Scalar(c, m, 1.0), values(F32, (4,)), mask)


# ---- tensors from numbers ----

def factory_cases() -> Iterator[Case]:
    for dtype in (None, *FLOATS, *INTS, B8, torch.float8_e4m3fn):
        tag = "default" if dtype is None else NAMES[dtype]
        for v in (1, 3.7, -1, True, 70000, float("-inf"), -3.3895313892515355e38, -255, 500):
            yield from case(f"full.{tag}.{v}", lambda d=dtype, v=v: A.full.default([2, 3], v, dtype=d), core=False)
            if v in (-1, 3.7):
                yield from case(f"scalar_tensor.{tag}.{v}", lambda d=dtype, v=v: A.scalar_tensor.default(v, dtype=d))
        yield from case(f"zeros.{tag}", lambda d=dtype: A.zeros.default([2, 0, 3], dtype=d))
        yield from case(f"ones.{tag}", lambda d=dtype: A.ones.default([], dtype=d))
        for name in ("zeros_like", "ones_like"):
            yield from case(f"{name}.{tag}", lambda c, f=getattr(A, name), d=dtype: f.default(c, dtype=d), values(I32))
        for name in ("new_zeros", "new_ones"):
            yield from case(f"{name}.{tag}", lambda c, f=getattr(A, name), d=dtype: f.default(c, [4], dtype=d), values(F16))
        for a in ((5,), (5.0,), (2, 7), (-3, 3.0), (0.5, 3.5), (5, 0, -2), (1, 9, 3), (0, 300), (250, 260), (0.0, 5.0, 2.0)):
            fn = (A.arange.default, A.arange.start, A.arange.start_step)[len(a) - 1]
            yield from case(f"arange.{tag}.{a}", lambda d=dtype, f=fn, a=a: f(*a, dtype=d), core=dtype in (None, F32))
        yield from case(f"eye.{tag}", lambda d=dtype: A.eye.default(3, dtype=d))
        yield from case(f"eye.m.{tag}", lambda d=dtype: A.eye.m(2, 5, dtype=d))
    for args in ((0.0, 1.0, 11), (-1, 1, 6), (3.5, 3.5, 1), (5, -5, 0), (0.25, 100.0, 97)):
        for dtype in (F32, F64, BF16):
            yield from case(f"linspace.{NAMES[dtype]}.{args}", lambda a=args, d=dtype: A.linspace.default(*a, dtype=d),
                            near={BF16: 8e-3, F64: 1e-15}.get(dtype, 2e-7), core=False)
    yield from case("arange.fraction", lambda: A.arange.start_step(0, 1, 0.003), ulp=2)
    yield from case("arange.fraction.f64", lambda: A.arange.start_step(0.1, 1, 0.003, dtype=F64), ulp=4)
    for dtype, k in itertools.product((F32, BF16, I64, B8), (-9, -1, 0, 1, 9)):
        x = special(dtype)[:12].view(3, 4) if dtype.is_floating_point else values(dtype, (2, 3, 4))
        yield from case(f"triu.{NAMES[dtype]}.{k}", lambda c, k=k: A.triu.default(c, k), x)
        yield from case(f"tril.{NAMES[dtype]}.{k}", lambda c, k=k: A.tril.default(c, k), x)


# ---- pieces ----

def piece_cases() -> Iterator[Case]:
    x = values(F32, (2, 3))
    for a, b in itertools.product((F32, F16, I64, U8, B8), repeat=2):
        tag = f"{NAMES[a]}.{NAMES[b]}"
        yield from case(f"cat.{tag}", lambda c, d: A.cat.default([c, d]), values(a, (2, 3)), values(b, (1, 3)))
        yield from case(f"stack.{tag}", lambda c, d: A.stack.default([c, d], -1), values(a, (2, 3)), values(b, (2, 3)))
        yield from case(f"copy.{tag}", A.copy.default, values(a, (2, 3)), values(b, (3,), 1, a == U8))
        yield from case(f"fill.Tensor.{tag}", A.fill.Tensor, values(a, (2, 3)), values(b, (), 1, a == U8))
    yield from case("stack.0d", lambda c, d: A.stack.default([c, d]), scalars(F32), scalars(F16))
    yield from case("cat.dim", lambda c, d: A.cat.default([c.t(), d, c.t()], -1), x, values(F32, (3, 4)))
    yield from case("cat.empty", lambda c, d: A.cat.default([c, d]), x, torch.zeros(0, dtype=F64))
    yield from case("cat.all_empty", lambda c: A.cat.default([c, c]), torch.zeros(0))
    yield from case("concat", lambda c: A.concat.default([c, c]), x)
    yield from case("concatenate", lambda c: A.concatenate.default([c, c], 1), x)
    for r in ([2], [2, 1], [3, 1, 2], []):
        yield from case(f"tile.{r}", lambda c, r=r: A.tile.default(c, r), x)
    yield from case("cat.one", lambda c: A.cat.default([c]), x)
    for shifts, dims in (([1], [0]), ([-5, 2], [1, 0]), ([7], []), ([2, 2], [1, 1])):
        yield from case(f"roll.{shifts}.{dims}", lambda c, s=shifts, d=dims: A.roll.default(c, s, d), values(F32, (3, 4)))
    for r in ([2], [2, 1], [3, 1, 2], [1, 2, 2], [0, 1, 1]):
        yield from case(f"repeat.{r}", lambda c, r=r: A.repeat.default(c, r), values(I32, (2, 3)[:len(r)]))
    yield from case("repeat_interleave", lambda c: A.repeat_interleave.self_int(c, 3, 0), x)
    yield from case("repeat_interleave.flat", lambda c: A.repeat_interleave.self_int(c, 2), x)
    for pad in ([1, 2], [0, 1, 2, 0], [-1, 2], [-1, -1, 1, 1]):
        for dtype in (F32, I8, B8):
            yield from case(f"constant_pad_nd.{pad}.{NAMES[dtype]}", lambda c, p=pad: A.constant_pad_nd.default(c, p, 1), values(dtype, (3, 4)))
    y = values(F32, (4, 5))
    yield from case("slice_scatter", lambda c, d: A.slice_scatter.default(c, d, 1, 1, 5, 2), y, values(F16, (4, 2)))
    yield from case("slice_scatter.whole", lambda c, d: A.slice_scatter.default(c, d), y, values(F32, (4, 5), 1))
    yield from case("select_scatter", lambda c, d: A.select_scatter.default(c, d, -1, 2), y, values(F32, (4,)))


# ---- in-place forms ----

def write_cases() -> Iterator[Case]:
    two: dict[str, Callable[..., Any]] = {
        "add_.Tensor": lambda z, b: A.add_.Tensor(z, b, alpha=2), "sub_.Tensor": A.sub_.Tensor, "mul_.Tensor": A.mul_.Tensor,
        "div_.Tensor": A.div_.Tensor, "div_.Tensor_mode": lambda z, b: A.div_.Tensor_mode(z, b, rounding_mode="floor"),
        "floor_divide_.Tensor": A.floor_divide_.Tensor, "remainder_.Tensor": A.remainder_.Tensor, "copy_": A.copy_.default,
        "logical_and_": A.logical_and_.default, "logical_or_": A.logical_or_.default, "bitwise_and_.Tensor": A.bitwise_and_.Tensor,
        "bitwise_or_.Tensor": A.bitwise_or_.Tensor, "bitwise_xor_.Tensor": A.bitwise_xor_.Tensor, "eq_.Tensor": A.eq_.Tensor,
        "ne_.Tensor": A.ne_.Tensor,
    }
    one: dict[str, Callable[..., Any]] = {
        "add_.Scalar": lambda z: A.add_.Scalar(z, 3), "sub_.Scalar": lambda z: A.sub_.Scalar(z, 2), "mul_.Scalar": lambda z: A.mul_.Scalar(z, 3),
        "div_.Scalar": lambda z: A.div_.Scalar(z, 3), "floor_divide_.Scalar": lambda z: A.floor_divide_.Scalar(z, 2),
        "remainder_.Scalar": lambda z: A.remainder_.Scalar(z, 3), "pow_.Scalar": lambda z: A.pow_.Scalar(z, 2),
        "clamp_": lambda z: A.clamp_.default(z, -1, 2), "clamp_min_": lambda z: A.clamp_min_.default(z, 1),
        "clamp_max_": lambda z: A.clamp_max_.default(z, 1), "fill_.Scalar": lambda z: A.fill_.Scalar(z, 2), "zero_": A.zero_.default,
        "eq_.Scalar": lambda z: A.eq_.Scalar(z, 7), "ne_.Scalar": lambda z: A.ne_.Scalar(z, 7), "triu_": A.triu_.default, "tril_": A.tril_.default,
        "logical_not_": A.logical_not_.default, "bitwise_not_": A.bitwise_not_.default, "cumsum_": lambda z: A.cumsum_.default(z, 0),
        "neg_": A.neg_.default, "abs_": A.abs_.default, "floor_": A.floor_.default, "ceil_": A.ceil_.default, "round_": A.round_.default,
        "trunc_": A.trunc_.default, "relu_": A.relu_.default, "square_": A.square_.default, "reciprocal_": A.reciprocal_.default,
    }
    rough = {n + "_": getattr(A, n + "_").default for n in ("exp", "log", "sqrt", "rsqrt", "sin", "cos", "tanh", "sigmoid")}

    for name, dtype in itertools.product(two, (F32, BF16, I64, B8)):
        yield from case(f"{name}.{NAMES[dtype]}", written(two[name]), values(dtype), values(dtype, (4,), 1))
        yield from case(f"{name}.{NAMES[dtype]}.mixed", written(two[name]), values(dtype), values(F16 if dtype == F32 else I32, (4,), 1))
    for name, dtype in itertools.product(one, (F32, BF16, I64, B8)):
        yield from case(f"{name}.{NAMES[dtype]}", written(one[name]), values(dtype))
    for name, fn in rough.items():
        yield from case(name, written(fn), values(F32, (3, 4), 1, True), ulp=2)
    mask = values(B8, (3, 4), 2)
    yield from case("masked_fill_.Scalar", written(lambda z, m: A.masked_fill_.Scalar(z, m, -1.0)), values(F32), mask)
    yield from case("masked_fill_.Tensor", written(lambda z, m, v: A.masked_fill_.Tensor(z, m, v)), values(F32), mask, scalars(F32))
    yield from case("fill_.Tensor", written(lambda z, v: A.fill_.Tensor(z, v)), values(F32), scalars(F64))

    def through_views(a: Tensor, b: Tensor) -> list[Tensor]:
        z = torch.zeros(4, 6)
        z[1:3, ::2] = 1.5
        z[0].copy_(b)
        z.t()[2].mul_(3)
        z.view(2, 12)[1, 3:5].fill_(a[0, 0])
        return [z, z.t() + 1]

    yield from case("views", through_views, values(F32), values(F32, (6,), 1))


# ---- reductions and products ----

def reduce_cases() -> Iterator[Case]:
    for dtype in (*FLOATS, *INTS, B8):
        x, tag = values(dtype, (3, 4, 5)), NAMES[dtype]
        near = {F16: 2e-3, BF16: 1e-2, F64: 1e-13}.get(dtype, 2e-6) if dtype.is_floating_point else 0
        yield from case(f"sum.{tag}", A.sum.default, x, near=near)
        yield from case(f"sum.dim.{tag}", lambda c: A.sum.dim_IntList(c, [0, -1], True), x, near=near)
        yield from case(f"sum.dim.none.{tag}", lambda c: A.sum.dim_IntList(c, None), x, near=near)
        yield from case(f"sum.dtype.{tag}", lambda c: A.sum.dim_IntList(c, [1], dtype=F32), x, near=max(near, 2e-6))
        yield from case(f"mean.{tag}", A.mean.default, x, near=near)
        yield from case(f"mean.dim.{tag}", lambda c: A.mean.dim(c, [1], True), x, near=near)
        yield from case(f"amax.{tag}", lambda c: A.amax.default(c, [1]), x)
        yield from case(f"amin.{tag}", lambda c: A.amin.default(c, [-1, 0], True), x)
        yield from case(f"max.{tag}", A.max.default, x)
        yield from case(f"min.{tag}", A.min.default, x)
        for name in ("any", "all"):
            packet = getattr(A, name)
            yield from case(f"{name}.{tag}", packet.default, x)
            yield from case(f"{name}.dim.{tag}", lambda c, f=packet: f.dim(c > 0, 1, True), x)
            yield from case(f"{name}.dims.{tag}", lambda c, f=packet: f.dims(c, [0, 2]), x)
            yield from case(f"{name}.u8.{tag}", lambda c, f=packet: f.dim((c > 0).to(U8), 0), x)
        yield from case(f"cumsum.{tag}", lambda c: A.cumsum.default(c, -1), x, near=near if dtype in (F16, BF16) else 0)
        yield from case(f"cumsum.dtype.{tag}", lambda c: A.cumsum.default(c, 0, dtype=F64), x, near=1e-13)
        yield from case(f"diff.{tag}", lambda c: A.diff.default(c, 2, 1), x)
        yield from case(f"diff.ends.{tag}", lambda c: A.diff.default(c, 1, -1, c[..., :1], c[..., :2]), x)
        for order in (2, 1, float("inf"), float("-inf")):
            yield from case(f"linalg_vector_norm.{tag}.{order}", lambda c, o=order: A.linalg_vector_norm.default(c, o, [1], True), x, near=near)
        yield from case(f"linalg_vector_norm.all.{tag}", A.linalg_vector_norm.default, x, near=near)
        yield from case(f"norm.Scalar.{tag}", A.norm.Scalar, x, near=near, core=False)
        yield from case(f"norm.ScalarOpt_dim.{tag}", lambda c: A.norm.ScalarOpt_dim(c, 2, [0, 1], True), x, near=near)
        for dim in (0, 2, -1):
            g = values(dtype, {0: (3, 1, 1), 2: (1, 1, 5), -1: ()}[dim], 3)
            yield from case(f"_weight_norm.{tag}.{dim}", lambda v, c, d=dim: A._weight_norm.default(v, c, d), x, g, near=near)
    for dtype in (*FLOATS, *INTS, B8):
        x, tag = values(dtype, (3, 4, 5)), NAMES[dtype]
        near = {F16: 4e-3, BF16: 2e-2, F64: 1e-13}.get(dtype, 2e-6) if dtype.is_floating_point else 0
        yield from case(f"prod.{tag}", A.prod.default, x[0, 0], near=near)
        yield from case(f"prod.dim.{tag}", lambda c: A.prod.dim_int(c, 1, True), x, near=near)
        yield from case(f"prod.dtype.{tag}", lambda c: A.prod.dim_int(c, -1, dtype=F32), x, near=2e-6)
        yield from case(f"prod.none.{tag}", lambda c: A.prod.dim_int(c[:, :0], 1), x)
        for name in ("var", "std"):
            packet = getattr(A, name)
            yield from case(f"{name}.{tag}", packet.default, x, near=near)
            yield from case(f"{name}.dim.{tag}", lambda c, f=packet: f.dim(c, [0, 2], False, True), x, near=near)
            yield from case(f"{name}.correction.{tag}", lambda c, f=packet: f.correction(c, [1], correction=0), x, near=near)
            yield from case(f"{name}.correction.none.{tag}", lambda c, f=packet: f.correction(c), x, near=near)
            yield from case(f"{name}.one.{tag}", lambda c, f=packet: f.correction(c[:, :1], [1], correction=1), x)
    yield from case("any.special", A.any.default, special(F32))
    yield from case("amax.special", lambda c: A.amax.default(c, [0]), special(F32)[None].expand(2, 16))
    yield from case("sum.0d", A.sum.default, scalars(F32))
    yield from case("sum.empty", lambda c: A.sum.dim_IntList(c, [0]), values(F32, (0, 3)))
    yield from case("cumsum.0d", lambda c: A.cumsum.default(c, 0), scalars(I32))


def product_cases() -> Iterator[Case]:
    for dtype in (*FLOATS, *INTS):
        tag = NAMES[dtype]
        near = {F16: 4e-3, BF16: 2e-2, F64: 1e-13}.get(dtype, 1e-5) if dtype.is_floating_point else 0
        a, b = values(dtype, (3, 5)), values(dtype, (5, 4), 1)
        batch, more = values(dtype, (2, 3, 5)), values(dtype, (2, 5, 4), 1)
        yield from case(f"mm.{tag}", A.mm.default, a, b, near=near)
        yield from case(f"mm.t.{tag}", lambda c, d: A.mm.default(c, d.t().clone().t()), a, b, near=near)
        yield from case(f"bmm.{tag}", A.bmm.default, batch, more, near=near)
        yield from case(f"matmul.{tag}", A.matmul.default, values(dtype, (4, 1, 3, 5)), more, near=near)
        yield from case(f"matmul.vector.{tag}", lambda c, d: [A.matmul.default(c, d[:, 0]), A.matmul.default(c[0], d)], a, b, near=near)
        yield from case(f"matmul.dot.{tag}", lambda c, d: A.matmul.default(c[0], d[:, 0]), a, b, near=near)
        yield from case(f"mv.{tag}", lambda c, d: A.mv.default(c, d[:, 1]), a, b, near=near)
        yield from case(f"dot.{tag}", lambda c, d: A.dot.default(c[1], d[:, 1]), a, b, near=near)
        yield from case(f"outer.{tag}", lambda c, d: A.outer.default(c[1], d[:, 1]), a, b)
        bias = values(dtype, (4,), 7)
        yield from case(f"addmm.{tag}", A.addmm.default, bias, a, b, near=near)
        yield from case(f"addmm.scaled.{tag}", lambda c, d, e: A.addmm.default(c, d, e, beta=2, alpha=3), bias, a, b, near=near)
        yield from case(f"baddbmm.{tag}", A.baddbmm.default, values(dtype, (2, 3, 4), 3), batch, more, near=near)
        w = values(dtype, (4, 5), 2)
        yield from case(f"linear.{tag}", A.linear.default, batch, w, near=near)
        yield from case(f"linear.bias.{tag}", A.linear.default, batch, w, bias, near=near)
    sizes = {"b": 2, "i": 3, "j": 4, "k": 5}
    for equation in ("i,j->ij", "ij,jk->ik", "bij,bjk->bik", "bij,kj->bki", "ij,ij->", "ij,ij->ij", "ij,kj", "ijk,k->ji", "bik,bjk->ijb",
                     "ij->ji", "ijk->k", "ij", "ij , b -> j b", "i,i->i", "ijb,k->kij"):
        shapes = [tuple(sizes[c] for c in t if c != " ") for t in equation.split("->")[0].split(",")]
        for dtype in (F32, BF16, I64):
            near = {BF16: 2e-2}.get(dtype, 1e-5) if dtype.is_floating_point else 0
            yield from case(f"einsum.{equation}.{NAMES[dtype]}", lambda *t, e=equation: A.einsum.default(e, list(t)),
                            *[values(dtype, shape, i) for i, shape in enumerate(shapes)], near=near)
    yield from case("einsum.diagonal", lambda c: A.einsum.default("ii->i", [c]), values(F32, (3, 3)), keep="unsupported_argument", core=False)
    yield from case("einsum.three", lambda c, d, e: A.einsum.default("i,j,k->ijk", [c, d, e]), values(F32, (2,)), values(F32, (3,)), values(F32, (4,)),
                    keep="unsupported_argument", core=False)
    yield from case("matmul.inner0", A.matmul.default, values(F32, (2, 0)), values(F32, (0, 3)))
    yield from case("matmul.i8.wraps", A.matmul.default, torch.full((2, 300), 100, dtype=I8), torch.full((300, 2), 100, dtype=I8))


# ---- indices ----

def index_cases() -> Iterator[Case]:
    for dtype in (F32, BF16, I64, B8, F64):
        x, tag = values(dtype, (4, 5, 3)), NAMES[dtype]
        i, j = torch.tensor([[2, 0], [3, -1]]), torch.tensor([1, -2])
        yield from case(f"index_select.{tag}", lambda c, d: A.index_select.default(c, 1, d), x, torch.tensor([4, 0, 0]))
        yield from case(f"index_select.i32.{tag}", lambda c, d: A.index_select.default(c, -1, d), x, torch.tensor([2, 1], dtype=I32))
        yield from case(f"embedding.{tag}", A.embedding.default, x[0], torch.tensor([[0, 3], [4, 1]]))
        yield from case(f"index.one.{tag}", lambda c, d: A.index.Tensor(c, [d]), x, i)
        yield from case(f"index.two.{tag}", lambda c, d, e: A.index.Tensor(c, [d, e]), x, i, j)
        yield from case(f"index.apart.{tag}", lambda c, d, e: A.index.Tensor(c, [d, None, e]), x, i, j)
        yield from case(f"index.last.{tag}", lambda c, d, e: A.index.Tensor(c, [None, d, e]), x, i, j)
        yield from case(f"gather.{tag}", lambda c, d: A.gather.default(c, 1, d), x, torch.tensor([[[0, 4, 1]], [[2, 2, 3]]]))
        yield from case(f"take_along_dim.{tag}", lambda c, d: A.take_along_dim.default(c, d, 1), x, torch.tensor([[[0, 4, 1]], [[2, 2, 3]]])[:1])
        yield from case(f"take_along_dim.flat.{tag}", A.take_along_dim.default, x, i.abs())
    yield from case("list_index", lambda c: c[[0, 1]], values(F32, (3, 2)))


# ---- quantisation ----

def quant_cases() -> Iterator[Case]:
    ranges = {I8: (-128, 127), U8: (0, 255), I16: (-32768, 32767)}
    ties = torch.cat([torch.arange(-300, 300) * 0.0171 / 2, torch.tensor([float("inf"), float("-inf"), 1e30])]).view(3, -1)
    for q, (low, high) in ranges.items():
        tag = NAMES[q]
        for real in (F32, F16, BF16):
            x = ties.to(real)
            more = (low, high, q)
            yield from case(f"quantize_per_tensor.{tag}.{NAMES[real]}", lambda c, m=more: Q.quantize_per_tensor.default(c, 0.0171, 3, *m), x)
            for scale in (F32, F64):
                s = torch.tensor(0.0171, dtype=scale)
                yield from case(f"quantize_per_tensor.tensor.{tag}.{NAMES[real]}.{NAMES[scale]}",
                                lambda c, d, z, m=more: Q.quantize_per_tensor.tensor(c, d, z, *m), x, s, torch.tensor(3))
            yield from case(f"quantize_per_tensor.tensor2.{tag}.{NAMES[real]}", lambda c, d, z, a, b, q=q: Q.quantize_per_tensor.tensor2(c, d, z, a, b, q),
                            x, torch.tensor(0.02), torch.tensor(1), torch.tensor(low + 3), torch.tensor(high - 3))
            for axis, scale, zero in itertools.product((0, -1), (F32, BF16, F64), (I64, F32)):
                if real != F32 and (axis, zero) != (0, I64):
                    continue
                n = x.shape[axis]
                s, z = (torch.arange(1, n + 1) * 0.0071).to(scale), torch.arange(n).remainder(5).to(zero)
                yield from case(f"quantize_per_channel.{tag}.{NAMES[real]}.{axis}.{NAMES[scale]}.{NAMES[zero]}",
                                lambda c, d, e, a=axis, m=more: Q.quantize_per_channel.default(c, d, e, a, *m), x, s, z, core=q == I8)
        stored = torch.randint(low, high + 1, (6, 8), generator=torch.Generator().manual_seed(1)).to(q)
        for out in (None, F16, BF16):
            name = "f32" if out is None else NAMES[out]
            more = (low, high, q)
            yield from case(f"dequantize_per_tensor.{tag}.{name}", lambda c, m=more, o=out: Q.dequantize_per_tensor.default(c, 0.0171, 3, *m, out_dtype=o), stored)
            yield from case(f"dequantize_per_tensor.tensor.{tag}.{name}", lambda c, s, z, m=more, o=out: Q.dequantize_per_tensor.tensor(c, s, z, *m, out_dtype=o),
                            stored, torch.tensor(0.0171), torch.tensor(3))
            yield from case(f"dequantize_per_tensor.tensor2.{tag}.{name}", lambda c, s, z, a, b, q=q, o=out: Q.dequantize_per_tensor.tensor2(c, s, z, a, b, q, out_dtype=o),
                            stored, torch.tensor(0.0171), torch.tensor(3), torch.tensor(low), torch.tensor(high))
            for axis, scale, zero in itertools.product((0, 1), (F32, BF16, F64), (None, I8, I64, F32)):
                if out == F16 and (axis, zero) != (1, I8):
                    continue
                n = stored.shape[axis]
                inputs = [stored, (torch.arange(1, n + 1) * 0.0071).to(scale)] + ([] if zero is None else [torch.arange(n).mul(30).sub(100).to(zero)])
                yield from case(f"dequantize_per_channel.{tag}.{name}.{axis}.{NAMES[scale]}.{zero and NAMES[zero]}",
                                lambda c, s, z=None, a=axis, m=more, o=out: Q.dequantize_per_channel.default(c, s, z, a, *m, out_dtype=o), *inputs, core=q == I8)
        for out in (F32, BF16):
            yield from case(f"dequantize_per_channel_group.{tag}.{NAMES[out]}",
                            lambda c, s, z, m=(low, high, q), o=out: Q.dequantize_per_channel_group.default(c, s, z, *m, 4, o),
                            stored, values(F32, (6, 2), 1, True), torch.arange(12).view(6, 2).to(q))
        x = ties.to(F32)[:, :200].contiguous()
        for scale, zero in ((F32, I32), (F32, F32), (F64, I64), (BF16, I64), (BF16, F32)):
            s, z = torch.tensor([[0.0171], [0.02], [0.3]]).to(scale), torch.tensor([[1], [0], [-3]]).abs().to(zero)
            name = f"{tag}.{NAMES[scale]}.{NAMES[zero]}"
            for real in (F32,) if q == I16 else (F32, BF16):  # bf16 rounds the bound of i16 out of its range
                yield from case(f"quantize_per_token.{name}.{NAMES[real]}", lambda c, d, e, m=(low, high, q): Q.quantize_per_token.default(c, d, e, *m), x.to(real), s, z)
            for out in (F32, BF16):
                yield from case(f"dequantize_per_token.{name}.{NAMES[out]}",
                                lambda c, d, e, m=(low, high, q), o=out: Q.dequantize_per_token.default(c, d, e, *m, o), stored[:3], s, z)
            for size in (100, 512):
                n = x.shape[1] // min(size, x.shape[1])
                yield from case(f"quantize_per_channel_group.{name}.{size}",
                                lambda c, d, e, m=(low, high, q), g=size: Q.quantize_per_channel_group.default(c, d, e, *m, g),
                                x.clamp(-1e4, 1e4), (s * torch.arange(1, n + 1)).to(scale), z.repeat(1, n))
    yield from case("quantize.i32.max", lambda c: Q.quantize_per_tensor.default(c, 0.1, 0, -2**31, 2**31 - 1, I32), values(F32), keep="undefined", core=False)


# ---- numbers ----

def number_cases() -> Iterator[Case]:
    yield from case("item", lambda c: A.scalar_tensor.default(c.item(), dtype=F64), torch.tensor(3.25), core=False)
    yield from case("_local_scalar_dense", lambda c: A.scalar_tensor.default(A._local_scalar_dense.default(c), dtype=I64), torch.tensor(-3), core=False)
    number_ops: dict[str, Callable[..., Any]] = {
        "add": lambda a, b: a + b, "sub": lambda a, b: a - b, "mul": lambda a, b: a * b, "floordiv": lambda a, b: a // b,
        "truediv": lambda a, b: a / b, "mod": lambda a, b: a % b, "neg": lambda a, b: -a, "pow": lambda a, b: a**2,
        "lshift": lambda a, b: a << 2, "rshift": lambda a, b: a >> 1, "sym_sqrt": lambda a, b: torch.sym_sqrt(torch.sym_float(a)),
        "sym_max": torch.sym_max, "sym_min": torch.sym_min, "sym_float": lambda a, b: torch.sym_float(a),
        "sym_int": lambda a, b: torch.sym_int(torch.sym_float(a)),
    }
    for (name, fn), (a, b) in itertools.product(number_ops.items(), ((7, 3), (1000, 8))):
        def run(x: Tensor, y: Tensor, f: Callable[..., Any] = fn) -> Tensor:
            m, n = x.item(), y.item()
            torch._check(m >= 1)
            torch._check(n >= 1)
            return A.scalar_tensor.default(f(m, n), dtype=F64)
        yield from case(f"number.{name}.{a}.{b}", run, torch.tensor(a), torch.tensor(b), core=False)

    def sized(x: Tensor, c: Tensor) -> Tensor:
        n = x.item()
        torch._check_is_size(n)
        torch._check(n <= 4)
        return torch.zeros(n, 2) + torch.arange(n)[:, None]

    yield from case("number.size", sized, torch.tensor(3), values(F32), core=False)
    yield from case("dropout", lambda c: A.dropout.default(c, 0.5, False) * 2, values(F32))
    yield from case("native_dropout", lambda c: list(A.native_dropout.default(c, 0.5, False)), values(F32), core=False)
    yield from case("assert_metadata", lambda c: c.to(F16).to(F32) + 1, values(F32))
    yield from case("_assert_async", lambda c: (A._assert_async.default(c > 0), c * 2)[1], torch.tensor(2.0), core=False, keep="assertion")
    yield from case("_assert_async.msg", lambda c: (A._assert_async.msg(c > 0, "text"), c * 2)[1], torch.tensor(2.0), core=False, keep="assertion")

    def without_autocast(c: Tensor, d: Tensor) -> Tensor:
        with torch.autocast("cpu", enabled=False):
            return torch.cos(c @ d) * 1.0

    def with_autocast(c: Tensor, d: Tensor) -> Tensor:
        with torch.autocast("cpu", dtype=BF16):
            return c @ d

    def with_grad(c: Tensor, d: Tensor) -> Tensor:
        with torch.enable_grad():
            e = c + d.t()
        return e * 2

    yield from case("autocast.off", without_autocast, values(F32), values(F32, (4, 3), 1), near=1e-5)
    yield from case("autocast.on", with_autocast, values(F32), values(F32, (4, 3), 1), near=1e-5, keep="control_flow", core=False)
    yield from case("grad.on", with_grad, values(F32), values(F32, (4, 3), 1))


def all_cases() -> list[Case]:
    makers = (binary_cases, scalar_cases, unary_cases, activation_cases, cast_cases, view_cases, mask_cases, factory_cases, piece_cases, write_cases,
              reduce_cases, product_cases, index_cases, quant_cases, number_cases)
    return [c for make in makers for c in make()]
