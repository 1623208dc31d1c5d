"""More cases of ops.py: functions, activations, blends, norms and what is normalised, piles, grids and strides."""
from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from typing import Any

import torch
from cases import A, B8, BF16, F16, F32, F64, FLOATS, I8, I32, I64, INTS, MIXED, NAMES, U8, Case, case, scalars, special, values, written
from torch import Tensor

INF = float("inf")
LIBM = {F16: 1, BF16: 1, F32: 2, F64: 3}  # ulps: two libraries may each be off


def layouts(dtype: torch.dtype, seed: int = 0, positive: bool = False) -> dict[str, Tensor]:
    """One shape, laid out in several ways."""
    x = values(dtype, (4, 6), seed, positive)
    return {"dense": x, "turned": x.t().contiguous().t(), "padded": torch.cat([x, x], 1)[:, 1:7], "repeated": x[:, :1].expand(4, 6)}


# ---- functions of one tensor ----

DOMAIN: dict[str, Callable[[Tensor], Tensor]] = {
    "expm1": lambda x: x, "log1p": lambda x: x.abs(), "log2": lambda x: x.abs(), "log10": lambda x: x.abs(), "sinh": lambda x: x,
    "cosh": lambda x: x, "tan": lambda x: x, "asin": lambda x: x / 16, "acos": lambda x: x / 16, "atan": lambda x: x, "asinh": lambda x: x,
    "acosh": lambda x: x.abs() + 1, "atanh": lambda x: x / 16,
}
NAMESAKES = {"arccos": "acos", "arccosh": "acosh", "arcsin": "asin", "arcsinh": "asinh", "arctan": "atan", "arctanh": "atanh", "special_expm1": "expm1",
             "special_log1p": "log1p"}


def function_cases() -> Iterator[Case]:
    for name, dtype in itertools.product(DOMAIN, FLOATS):
        fn, ulp = getattr(A, name).default, LIBM[dtype]
        for layout, x in layouts(dtype, 2).items():
            inside = DOMAIN[name](x) if layout != "padded" else DOMAIN[name](torch.cat([x, x], 1))[:, :6]
            yield from case(f"{name}.{NAMES[dtype]}.{layout}", fn, inside, ulp=ulp, near=1e-30)
        yield from case(f"{name}.special.{NAMES[dtype]}", fn, special(dtype), ulp=ulp, near=1e-30)
        yield from case(f"{name}_.{NAMES[dtype]}", written(getattr(A, name + "_").default), DOMAIN[name](values(dtype)), ulp=ulp)
    for name, dtype in itertools.product(DOMAIN, (*INTS, B8)):
        yield from case(f"{name}.{NAMES[dtype]}", getattr(A, name).default, values(dtype, positive=True), ulp=2)
    for name, same in NAMESAKES.items():
        yield from case(name, getattr(A, name).default, DOMAIN[same](values(F32)), ulp=2)
        if hasattr(A, name + "_"):
            yield from case(name + "_", written(getattr(A, name + "_").default), DOMAIN[same](values(F32)), ulp=2)
    for name in ("special_exp2", "special_expit", "special_erf"):
        yield from case(name, getattr(A, name).default, values(F32), ulp=2)
    for name, dtype in itertools.product(("absolute", "negative", "fix", "sgn", "frac", "sign"), (*FLOATS, *INTS)):
        yield from case(f"{name}.{NAMES[dtype]}", getattr(A, name).default, values(dtype))
        yield from case(f"{name}_.{NAMES[dtype]}", written(getattr(A, name + "_").default), values(dtype))
        if dtype.is_floating_point:
            yield from case(f"{name}.special.{NAMES[dtype]}", getattr(A, name).default, special(dtype))
    for name, dtype in itertools.product(("isfinite", "isposinf", "isneginf"), (*FLOATS, *INTS, B8)):
        yield from case(f"{name}.{NAMES[dtype]}", getattr(A, name).default, special(dtype) if dtype.is_floating_point else values(dtype))
    for dtype, args in itertools.product((*FLOATS, *INTS, B8), ((), (0.1,), (1.5, 7.0, -7.3), (None, 1e38, None))):
        x = special(dtype) if dtype.is_floating_point else values(dtype)
        yield from case(f"nan_to_num.{NAMES[dtype]}.{args}", lambda c, a=args: A.nan_to_num.default(c, *a), x)
    yield from case("nan_to_num_", written(A.nan_to_num_.default), special(F32).view(4, 4))


# ---- activations ----

ACTIVATIONS: dict[str, Callable[[Tensor], Any]] = {
    "hardsigmoid": A.hardsigmoid.default, "hardswish": A.hardswish.default, "hardtanh": A.hardtanh.default, "relu6": A.relu6.default,
    "hardtanh.bounds": lambda c: A.hardtanh.default(c, -0.7, 2.33), "leaky_relu": A.leaky_relu.default,
    "leaky_relu.slope": lambda c: A.leaky_relu.default(c, -0.3), "threshold": lambda c: A.threshold.default(c, 0.1, 20.3),
    "hardsigmoid_": written(A.hardsigmoid_.default), "hardswish_": written(A.hardswish_.default), "hardtanh_": written(A.hardtanh_.default),
    "relu6_": written(A.relu6_.default), "leaky_relu_": written(A.leaky_relu_.default), "threshold_": written(lambda z: A.threshold_.default(z, 1, 2)),
}
ROUNDED: dict[str, Callable[[Tensor], Any]] = {
    "softplus": A.softplus.default, "softplus.beta": lambda c: A.softplus.default(c, 1.3, 2.0), "elu": A.elu.default,
    "elu.scaled": lambda c: A.elu.default(c, 1.3, 1.1, 0.9), "selu": A.selu.default, "celu": lambda c: A.celu.default(c, 0.7), "mish": A.mish.default,
    "log_sigmoid": A.log_sigmoid.default, "log_sigmoid_forward": A.log_sigmoid_forward.default, "elu_": written(A.elu_.default),
    "selu_": written(A.selu_.default), "celu_": written(A.celu_.default), "mish_": written(A.mish_.default), "silu_": written(A.silu_.default),
    "gelu_": written(A.gelu_.default), "erf_": written(A.erf_.default),
}


def curve_cases() -> Iterator[Case]:
    for (name, fn), dtype in itertools.product(ACTIVATIONS.items(), (*FLOATS, *INTS)):
        for layout, x in layouts(dtype, 3).items():
            if layout == "dense" or dtype in (F32, BF16):
                yield from case(f"{name}.{NAMES[dtype]}.{layout}", fn, x, core=layout == "dense")
        if dtype.is_floating_point:
            yield from case(f"{name}.special.{NAMES[dtype]}", fn, special(dtype)[:, None], core=dtype == F32)
    for (name, fn), dtype in itertools.product(ROUNDED.items(), FLOATS):
        near = {F16: 2e-3, BF16: 1.6e-2, F64: 1e-14}.get(dtype, 1e-6)
        near = max(near, 1e-5 if name == "gelu_" else 0)  # 1 + erf cancels
        for layout, x in layouts(dtype, 3).items():
            if layout == "dense" or dtype in (F32, BF16):
                yield from case(f"{name}.{NAMES[dtype]}.{layout}", fn, x, near=near, core=layout == "dense")
        if not name.startswith("log_sigmoid"):
            yield from case(f"{name}.special.{NAMES[dtype]}", fn, special(dtype)[:, None], ulp=4, near=1e-30, core=False)
        x = values(dtype, (2, 3, 4), 4)
        for slopes in (values(dtype, (3,), 1), values(dtype, (1,), 1)):
            yield from case(f"prelu.{NAMES[dtype]}.{len(slopes)}", A.prelu.default, x, slopes)
        yield from case(f"_prelu_kernel.{NAMES[dtype]}", A._prelu_kernel.default, x, values(dtype, (1, 3, 1), 1))
        masked = torch.tensor([[0.5, -INF, 2.0], [-INF, -INF, -INF]]).to(dtype)
        yield from case(f"_safe_softmax.{NAMES[dtype]}", lambda c: A._safe_softmax.default(c, -1), masked, near=near)
        yield from case(f"_safe_softmax.dtype.{NAMES[dtype]}", lambda c: A._safe_softmax.default(c, 0, F32), masked, near=1e-6)
        yield from case(f"special_softmax.{NAMES[dtype]}", lambda c: A.special_softmax.default(c, 0), x, near=near)
        yield from case(f"special_log_softmax.{NAMES[dtype]}", lambda c: A.special_log_softmax.default(c, 0), x, near=near)


# ---- several tensors ----

def blend_cases() -> Iterator[Case]:
    for dtype in (*FLOATS, *INTS):
        tag = NAMES[dtype]
        for layout, a in layouts(dtype).items():
            b, c = values(dtype, (4, 6), 1), values(dtype, (6,), 2)
            w = (values(dtype, (4, 6), 3) / 4).to(dtype)
            name = f"{tag}.{layout}"
            yield from case(f"addcmul.{name}", A.addcmul.default, a, b, c, core=layout == "dense")
            yield from case(f"addcdiv.{name}", A.addcdiv.default, a, b, c, core=layout == "dense")
            for v in (0.7, 3, -1.5):
                yield from case(f"addcmul.{name}.{v}", lambda x, y, z, v=v: A.addcmul.default(x, y, z, value=v), a, b, c, core=False)
                yield from case(f"addcdiv.{name}.{v}", lambda x, y, z, v=v: A.addcdiv.default(x, y, z, value=v), a, b, c, core=False)
            yield from case(f"lerp.Tensor.{name}", A.lerp.Tensor, a, b, w, core=layout == "dense")
            for v in (0.3, 0.5, 0.8, -2, 1.7):
                yield from case(f"lerp.Scalar.{name}.{v}", lambda x, y, v=v: A.lerp.Scalar(x, y, v), a, b, core=layout == "dense")
            ulp = LIBM.get(dtype, 2)
            for fn in ("logaddexp", "logaddexp2", "hypot", "atan2", "arctan2"):
                yield from case(f"{fn}.{name}", getattr(A, fn).default, a, c, ulp=ulp, near=1e-6 if fn.startswith("log") else 0, core=layout == "dense")
        if dtype.is_floating_point:
            pairs = [t.contiguous() for t in torch.broadcast_tensors(special(dtype)[:, None], special(dtype))]
            for fn in ("logaddexp", "logaddexp2", "hypot", "atan2"):
                yield from case(f"{fn}.special.{tag}", getattr(A, fn).default, *pairs, ulp=LIBM[dtype], core=False)
        for fn in ("atan2_", "arctan2_", "hypot_"):
            yield from case(f"{fn}.{tag}", written(getattr(A, fn).default), values(dtype), values(dtype, (4,), 1), ulp=LIBM.get(dtype, 2))
        x, y, z = values(dtype), values(dtype, (3, 4), 1), values(dtype, (4,), 2)
        yield from case(f"addcmul_.{tag}", written(A.addcmul_.default), x, y, z)
        yield from case(f"addcdiv_.{tag}", written(A.addcdiv_.default), x, y, z)
        yield from case(f"lerp_.Scalar.{tag}", written(lambda a, b: A.lerp_.Scalar(a, b, 0.3)), x, y)
        yield from case(f"lerp_.Tensor.{tag}", written(A.lerp_.Tensor), x, y, (z / 3).to(dtype))
    for a, b in MIXED:
        tag = f"{NAMES[a]}.{NAMES[b]}"
        for fn in ("logaddexp", "hypot", "atan2"):
            yield from case(f"{fn}.mixed.{tag}", getattr(A, fn).default, values(a), values(b, (3, 4), 1), ulp=2, near=1e-6)
        yield from case(f"addcmul.mixed.{tag}", A.addcmul.default, values(a), values(b, (3, 4), 1), values(a, (4,), 2))
        yield from case(f"addcmul.0d.{tag}", A.addcmul.default, values(a), scalars(b), values(a, (4,), 2))


# ---- names for what stands elsewhere ----

def namesake_cases() -> Iterator[Case]:
    compare = ("greater", "greater_equal", "less", "less_equal", "not_equal")
    for name, dtype in itertools.product((*compare, "subtract", "multiply", "divide"), (F32, BF16, I64, I8)):
        packet, write = getattr(A, name), getattr(A, name + "_")
        x, y, tag = values(dtype), values(dtype, (4,), 1), NAMES[dtype]
        yield from case(f"{name}.Tensor.{tag}", packet.Tensor, x, y)
        yield from case(f"{name}.Scalar.{tag}", lambda a, f=packet: f.Scalar(a, 3), x)
        yield from case(f"{name}_.Tensor.{tag}", written(write.Tensor), x, y)
        yield from case(f"{name}_.Scalar.{tag}", written(lambda a, f=write: f.Scalar(a, 3)), x)
    for name, dtype in itertools.product(("lt_", "le_", "gt_", "ge_", "fmod_", "true_divide_"), (F32, BF16, I64)):
        packet, tag = getattr(A, name), NAMES[dtype]
        yield from case(f"{name}.Tensor.{tag}", written(packet.Tensor), values(dtype), values(dtype, (4,), 1))
        yield from case(f"{name}.Scalar.{tag}", written(lambda a, f=packet: f.Scalar(a, 3)), values(dtype))
    for dtype in (F32, BF16, I64):
        x, y, tag = values(dtype), values(dtype, (4,), 1), NAMES[dtype]
        yield from case(f"true_divide.Scalar.{tag}", lambda a: A.true_divide.Scalar(a, 3), x)
        for mode in ("floor", "trunc"):
            yield from case(f"divide.Tensor_mode.{tag}.{mode}", lambda a, b, m=mode: A.divide.Tensor_mode(a, b, rounding_mode=m), x, y)
            yield from case(f"divide.Scalar_mode.{tag}.{mode}", lambda a, m=mode: A.divide.Scalar_mode(a, 3, rounding_mode=m), x)
            yield from case(f"divide_.Tensor_mode.{tag}.{mode}", written(lambda a, b, m=mode: A.divide_.Tensor_mode(a, b, rounding_mode=m)), x, y)
            yield from case(f"divide_.Scalar_mode.{tag}.{mode}", written(lambda a, m=mode: A.divide_.Scalar_mode(a, 3, rounding_mode=m)), x)
            yield from case(f"div_.Scalar_mode.{tag}.{mode}", written(lambda a, m=mode: A.div_.Scalar_mode(a, 3, rounding_mode=m)), x)
        low, high = y - 3, y + 3
        yield from case(f"clip.Tensor.{tag}", A.clip.Tensor, x, low, high)
        yield from case(f"clip_.{tag}", written(lambda a: A.clip_.default(a, -1, 2)), x)
        yield from case(f"clip_.Tensor.{tag}", written(A.clip_.Tensor), x, low, high)
        yield from case(f"clamp_.Tensor.{tag}", written(A.clamp_.Tensor), x, low, high)
        yield from case(f"clamp_min_.Tensor.{tag}", written(A.clamp_min_.Tensor), x, low)
        yield from case(f"clamp_max_.Tensor.{tag}", written(A.clamp_max_.Tensor), x, high)
        yield from case(f"logical_xor_.{tag}", written(A.logical_xor_.default), x, y)
        yield from case(f"zero.{tag}", A.zero.default, x)
        yield from case(f"pow_.Tensor.{tag}", written(A.pow_.Tensor), x.abs(), torch.tensor([0, 1, 2, 3]).to(dtype), ulp=2)
        yield from case(f"vdot.{tag}", A.vdot.default, y, y, near=1e-2 if dtype == BF16 else 1e-6)
        yield from case(f"addmm_.{tag}", written(lambda z, a, b: A.addmm_.default(z, a, b, beta=2)), x, x[:, :3], x, near=2e-2 if dtype == BF16 else 1e-6)
        yield from case(f"baddbmm_.{tag}", written(A.baddbmm_.default), x[None], x[None, :, :3], x[None], near=2e-2 if dtype == BF16 else 1e-6)
    shift = torch.tensor([0, 1, 2, 5])
    for dtype in (I64, I8, U8):
        x, tag = values(dtype), NAMES[dtype]
        for name in ("bitwise_and", "bitwise_or", "bitwise_xor"):
            yield from case(f"{name}_.Scalar.{tag}", written(lambda a, f=getattr(A, name + "_"): f.Scalar(a, 5)), x)
            yield from case(f"{name}.Scalar_Tensor.{tag}", lambda a, f=getattr(A, name): f.Scalar_Tensor(5, a), x)
        for name in ("__iand__", "__ior__", "__ixor__", "__ilshift__", "__irshift__"):
            yield from case(f"{name}.Tensor.{tag}", written(getattr(A, name).Tensor), x, shift.to(dtype))
            yield from case(f"{name}.Scalar.{tag}", written(lambda a, f=getattr(A, name): f.Scalar(a, 3)), x)
        for name in ("bitwise_left_shift", "bitwise_right_shift"):
            yield from case(f"{name}_.Tensor.{tag}", written(getattr(A, name + "_").Tensor), x, shift.to(dtype))
            yield from case(f"{name}_.Tensor_Scalar.{tag}", written(lambda a, f=getattr(A, name + "_"): f.Tensor_Scalar(a, 3)), x)
            yield from case(f"{name}.Scalar_Tensor.{tag}", lambda a, f=getattr(A, name): f.Scalar_Tensor(5, a), shift.to(dtype))


# ---- reductions, norms ----

def sum_cases() -> Iterator[Case]:
    for dtype in (*FLOATS, *INTS, B8):
        x, tag = values(dtype, (3, 4, 5)), NAMES[dtype]
        near = {F16: 4e-3, BF16: 2e-2, F64: 1e-13}.get(dtype, 2e-6)
        yield from case(f"logsumexp.{tag}", lambda c: A.logsumexp.default(c, [1]), x, near=near)
        yield from case(f"logsumexp.keep.{tag}", lambda c: A.logsumexp.default(c, [0, -1], True), x, near=near)
        yield from case(f"special_logsumexp.{tag}", lambda c: A.special_logsumexp.default(c, [2]), x, near=near)
        for name in ("var_mean", "std_mean"):
            packet = getattr(A, name)
            yield from case(f"{name}.{tag}", packet.default, x, near=near)
            yield from case(f"{name}.dim.{tag}", lambda c, f=packet: f.dim(c, [0, 2], False, True), x, near=near)
            yield from case(f"{name}.correction.{tag}", lambda c, f=packet: f.correction(c, [1], correction=0), x, near=near)
        small = (x / 4).to(dtype) if dtype.is_floating_point else x
        for layout, y in {"dense": small, "turned": small.permute(2, 0, 1), "padded": torch.cat([small, small], 2)[:, :, 2:7]}.items():
            for dim in (0, 1, -1):
                near = {F16: 2e-3, BF16: 1e-2}.get(dtype, 0)
                yield from case(f"cumprod.{tag}.{layout}.{dim}", lambda c, d=dim: A.cumprod.default(c, d), y, near=near)
        yield from case(f"cumprod.dtype.{tag}", lambda c: A.cumprod.default(c, 1, dtype=F64), small)
        yield from case(f"cumprod_.{tag}", written(lambda z: A.cumprod_.default(z, 0)), small, near=near)
    masked = torch.tensor([[0.5, -INF, 2.0], [-INF, -INF, -INF], [INF, 1.0, 0.0], [float("nan"), 1.0, 0.0]])
    yield from case("logsumexp.special", lambda c: A.logsumexp.default(c, [1]), masked, near=1e-6)
    yield from case("logsumexp.0d", lambda c: A.logsumexp.default(c, [0]), scalars(F32), near=1e-6)
    yield from case("cumprod.0d", lambda c: A.cumprod.default(c, 0), scalars(I32))
    yield from case("cumprod.special", lambda c: A.cumprod.default(c, 0), special(F32))


def norm_cases() -> Iterator[Case]:
    for dtype, weights in itertools.product(FLOATS, (None, F32, F16, BF16, F64)):
        tag = f"{NAMES[dtype]}.{weights and NAMES[weights]}"
        near = {F16: 2e-3, BF16: 1.6e-2, F64: 1e-13}.get(dtype, 2e-6)
        bits = {F16: 2e-3, BF16: 1.6e-2}.get(dtype, near)
        # torch records another dtype for the statistics of half operands with f32 weights than it computes.
        n_out = 1 if weights not in (None, dtype) else 3

        def some(shape: tuple[int, ...], seed: int, positive: bool = False, w: torch.dtype | None = weights) -> list[Tensor]:
            return [] if w is None else [values(w, shape, seed, positive)]

        for layout, x in {"dense": values(dtype, (2, 6, 10)), "turned": values(dtype, (10, 2, 6)).permute(1, 2, 0)}.items():
            name = f"{tag}.{layout}"
            for shape in ([10], [6, 10]):
                p = [*some(tuple(shape), 1), *some(tuple(shape), 2)]
                yield from case(f"layer_norm.{name}.{len(shape)}", lambda c, *p, s=shape: A.layer_norm.default(c, s, *p), x, *p, near=near)
                yield from case(f"native_layer_norm.{name}.{len(shape)}",
                                lambda c, w=None, b=None, s=shape, n=n_out: A.native_layer_norm.default(c, s, w, b, 1e-5)[:n], x, *p, near=near)
                yield from case(f"rms_norm.{name}.{len(shape)}", lambda c, w=None, s=shape: A.rms_norm.default(c, s, w, 1e-5), x, *p[:1], near=bits)
                yield from case(f"_fused_rms_norm.{name}.{len(shape)}",
                                lambda c, w=None, s=shape: A._fused_rms_norm.default(c, s, w, None), x, *p[:1], near=bits)
            yield from case(f"rms_norm.tiny.{name}", lambda c: A.rms_norm.default(c, [10]), (x * 1e-3).to(dtype), near=bits)
            p = [*some((6,), 1), *some((6,), 2)]
            for groups in (1, 3, 6):
                yield from case(f"group_norm.{name}.{groups}", lambda c, *p, g=groups: A.group_norm.default(c, g, *p), x, *p, near=near)
                yield from case(f"native_group_norm.{name}.{groups}",
                                lambda c, w=None, b=None, g=groups, n=n_out: A.native_group_norm.default(c, w, b, 2, 6, 10, g, 1e-5)[:n], x, *p, near=near)
            s = weights or dtype
            stats = (values(s, (6,), 3), values(s, (6,), 4, True))
            exact = dtype == F32 and layout == "dense"
            near_bn = 0 if exact else near
            yield from case(f"_native_batch_norm_legit_no_training.{name}",
                            lambda c, m, v, w=None, b=None, n=n_out: A._native_batch_norm_legit_no_training.default(c, w, b, m, v, 0.1, 1e-5)[:n],
                            x, *stats, *p, near=near_bn)
            yield from case(f"native_batch_norm.{name}",
                            lambda c, m, v, w=None, b=None, n=n_out: A.native_batch_norm.default(c, w, b, m, v, False, 0.1, 1e-5)[:n], x, *stats, *p, near=near_bn)
            yield from case(f"batch_norm.{name}",
                            lambda c, m, v, w=None, b=None: A.batch_norm.default(c, w, b, m, v, False, 0.1, 1e-5, False), x, *stats, *p, near=near_bn)
            if p:  # torch exports it with weights alone
                yield from case(f"_batch_norm_no_update.{name}",
                                lambda c, m, v, w, b, n=n_out: A._batch_norm_no_update.default(c, w, b, m, v, 0.1, 1e-5)[:n],
                                x, *stats, *p, near=near_bn, core=False)
    for dtype, dim in itertools.product(FLOATS, (0, 2)):
        v, g = values(dtype, (3, 4, 5)), values(dtype, {0: (3, 1, 1), 2: (1, 1, 5)}[dim], 3)
        near = {F16: 2e-3, BF16: 1.6e-2, F64: 1e-13}.get(dtype, 2e-6)
        yield from case(f"_weight_norm_interface.{NAMES[dtype]}.{dim}",
                        lambda c, d, k=dim, n=1 if dtype == F16 else 2: A._weight_norm_interface.default(c, d, k)[:n], v, g, near=near)


# ---- piles, grids, strides ----

def shape_cases() -> Iterator[Case]:
    for rank, dtypes in itertools.product(range(4), ((F32, F32), (F16, I64), (U8, B8))):
        a, b = (values(t, (2, 2, 2)[:rank], i) for i, t in enumerate(dtypes))
        for name in ("hstack", "vstack", "dstack", "column_stack", "row_stack"):
            yield from case(f"{name}.{rank}.{NAMES[dtypes[0]]}", lambda c, d, f=getattr(A, name): f.default([c, d, c]), a, b)
    rows = (values(F32, (3,)), values(F32, (), 1), values(F32, (2,), 2))
    yield from case("meshgrid", lambda *c: A.meshgrid.default(list(c)), *rows)
    for order in ("ij", "xy"):
        for n in (1, 2, 3):
            yield from case(f"meshgrid.{order}.{n}", lambda *c, o=order: A.meshgrid.indexing(list(c), indexing=o), *rows[:n])
    yield from case("broadcast_tensors", lambda *c: A.broadcast_tensors.default(list(c)), values(F32, (3, 1)), values(I64, (2, 1, 4)), scalars(F16))

    def gridded(a: Tensor, b: Tensor) -> list[Tensor]:
        x, y = a * 1, b * 1
        grid = A.meshgrid.indexing([x, y], indexing="ij")
        y.mul_(2)
        return [g + 0 for g in grid]

    yield from case("meshgrid.written", gridded, rows[0], rows[2])
    for layout, x in {"dense": values(F32, (4, 6)), "cube": values(I64, (2, 3, 4))}.items():
        for args in (([4, 6], [6, 1]), ([6, 4], [1, 6]), ([2, 3], [12, 2]), ([2, 3], [12, 2], 1), ([3, 2, 4], [4, 12, 1]), ([5, 2], [0, 1], 3), ([4, 3], [2, 1]),
                     ([5, 5], [3, 2]), ([], []), ([1], [7], 5), ([2, 2], [5, 3], 4), ([3, 2, 2, 2], [8, 4, 2, 1])):
            yield from case(f"as_strided.{layout}.{args}", lambda c, a=args: A.as_strided.default(c, *a), x)
            yield from case(f"as_strided_copy.{layout}.{args}", lambda c, a=args: A.as_strided_copy.default(c * 1, *a), x)
    yield from case("as_strided.turned", lambda c: A.as_strided.default(c, [2, 2], [1, 2]) * 1, values(F32, (4, 6)).t(), keep="unsupported_argument", core=False)
    yield from case("as_strided.part", lambda c: A.as_strided.default(c[1], [2, 2], [3, 1]), values(F32, (4, 6)))
    copies: dict[str, Callable[[Tensor], Any]] = {
        "narrow_copy": lambda c: A.narrow_copy.default(c, 2, -3, 2), "expand_copy": lambda c: A.expand_copy.default(c, [2, 2, 3, 4]),
        "permute_copy": lambda c: A.permute_copy.default(c, [2, 0, -2]), "transpose_copy": lambda c: A.transpose_copy.int(c, 0, -1),
        "t_copy": lambda c: A.t_copy.default(c[0]), "slice_copy": lambda c: A.slice_copy.Tensor(c, 2, 1, 3), "select_copy": lambda c: A.select_copy.int(c, 1, -1),
        "split_copy": lambda c: A.split_copy.Tensor(c, 3, -1), "split_with_sizes_copy": lambda c: A.split_with_sizes_copy.default(c, [2, 0, 1], 1),
        "unsafe_split_with_sizes": lambda c: A.unsafe_split_with_sizes.default(c, [2, 1], 1), "unsafe_chunk": lambda c: A.unsafe_chunk.default(c, 3, 2),
        "unbind_copy": lambda c: A.unbind_copy.int(c, 1), "unsqueeze_copy": lambda c: A.unsqueeze_copy.default(c, -1),
        "squeeze_copy": lambda c: A.squeeze_copy.default(c[:, :1]), "squeeze_copy.dim": lambda c: A.squeeze_copy.dim(c[:, :1], 1),
        "squeeze_copy.dims": lambda c: A.squeeze_copy.dims(c[:1, :1], [0, 1]), "alias_copy": A.alias_copy.default, "detach_copy": A.detach_copy.default,
        "diagonal_copy": lambda c: A.diagonal_copy.default(c, 1, 1, 2), "unfold_copy": lambda c: A.unfold_copy.default(c, 2, 2, 1),
        "view_copy": lambda c: A.view_copy.default(c, [6, -1]), "_reshape_copy": lambda c: A._reshape_copy.default(c.mT, [6, 4]),
        "adjoint": A.adjoint.default, "moveaxis.int": lambda c: A.moveaxis.int(c, 0, 2), "moveaxis.intlist": lambda c: A.moveaxis.intlist(c, [0, 1], [2, 0]),
    }
    for name, fn in copies.items():
        yield from case(name, fn, values(F32, (2, 3, 4)))
        yield from case(f"{name}.i8", fn, values(I8, (2, 3, 4)))


def math_cases() -> list[Case]:
    makers = (function_cases, curve_cases, blend_cases, namesake_cases, sum_cases, norm_cases, shape_cases)
    return [c for make in makers for c in make()]
