"""More cases of ops.py: what random graphs (differential.py) found, each in its smallest form."""
from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from typing import Any

import torch
import torchao.quantization.quant_primitives  # noqa: F401  registers torchao
from cases import A, B8, BF16, F16, F32, F64, I16, I32, I64, INTS, NAMES, U8, Case, case, scalars, values
from torch import Tensor

T = torch.ops.torchao
INF = float("inf")


def number_cases() -> Iterator[Case]:
    """Operators along a dim, of a single number; and of no elements."""
    for dtype in (F32, F64, BF16):
        x, none, tag = scalars(dtype), values(dtype, (2, 0, 3)), NAMES[dtype]
        near = {BF16: 1.6e-2, F64: 1e-13}.get(dtype, 2e-6)
        for name, fn in (("softmax", A.softmax.int), ("log_softmax", A.log_softmax.int)):
            yield from case(f"{name}.0d.{tag}", lambda c, f=fn: [f(c, -1), f(c, 0)], x)
            yield from case(f"{name}.0d.infinite.{tag}", lambda c, f=fn: f(c, 0), torch.tensor(INF, dtype=dtype))
            yield from case(f"{name}.empty.{tag}", lambda c, f=fn: [f(c, 1), f(c, -1)], none)
        yield from case(f"_safe_softmax.0d.{tag}", lambda c: A._safe_softmax.default(c, -1), x)
        yield from case(f"_safe_softmax.empty.{tag}", lambda c: A._safe_softmax.default(c, 1), none)
        yield from case(f"logsumexp.empty.{tag}", lambda c: [A.logsumexp.default(c, [1]), A.logsumexp.default(c, [0, -1], True)], none)
        for name in ("var", "std"):
            f = getattr(A, name)
            yield from case(f"{name}.0d.{tag}", lambda c, f=f: [f.default(c), f.correction(c, correction=0), f.dim(c, [], False, True)], x)
        for name in ("var_mean", "std_mean"):
            yield from case(f"{name}.0d.{tag}", lambda c, f=getattr(A, name): [*f.default(c, False), *f.correction(c)], x, near=near)


def order_of_norms() -> Iterator[Case]:
    for dtype, order in itertools.product((F32, F64, F16, BF16), (0, 0.5, 3, -1, 2.5)):
        near = {F16: 2e-3, BF16: 1.6e-2, F64: 1e-13}.get(dtype, 2e-6)
        x, tag = values(dtype, (3, 4, 5)), f"{NAMES[dtype]}.{order}"
        yield from case(f"linalg_vector_norm.{tag}", lambda c, o=order: [A.linalg_vector_norm.default(c, o), A.linalg_vector_norm.default(c, o, [1], True)], x, near=near)
        yield from case(f"norm.Scalar.{tag}", lambda c, o=order: A.norm.Scalar(c, o), x, near=near, core=False)
        yield from case(f"norm.ScalarOpt_dim.{tag}", lambda c, o=order: A.norm.ScalarOpt_dim(c, o, [0, 2]), x, near=near)
    zeros = torch.tensor([1.5, -2.0, 0.0, 3.0, -0.0])
    yield from case("linalg_vector_norm.zeros", lambda c: [A.linalg_vector_norm.default(c, 0), A.linalg_vector_norm.default(c, -1)], zeros, near=2e-6)
    yield from case("linalg_vector_norm.0d.half", lambda c: A.linalg_vector_norm.default(c, 0.5), scalars(F32), near=2e-6)


def argument_cases() -> Iterator[Case]:
    x, ends = values(F32, (3, 4)), values(F32, (3, 2), 1)
    yield from case("diff.0.ends", lambda c, d: A.diff.default(c, 0, 1, d, d), x, ends)
    for dtype, n in itertools.product((F32, I64, B8), (4, 5, 9)):
        yield from case(f"diff.beyond.{NAMES[dtype]}.{n}", lambda c, n=n: A.diff.default(c, n, 1), values(dtype))
    for dtype in (F32, I64, B8):
        yield from case(f"prod.b8.{NAMES[dtype]}", lambda c: [A.prod.default(c, dtype=B8), A.prod.dim_int(c * 0, 0, dtype=B8), A.prod.dim_int(c[:, :0], 1, dtype=B8)],
                        values(dtype), core=False)
    for weight in (F64, F16, F32):
        yield from case(f"lerp.weight.0d.{NAMES[weight]}", A.lerp.Tensor, x, values(F32, (4,), 1), torch.tensor(0.3).to(weight))
    for dtype, args in itertools.product(INTS, ((0.0, 34.5, 1.0), (0.5, 5.2, 1.0), (-1.5, 6.5, 2.5), (0, 5, 1.9))):
        if dtype != U8 or args[0] >= 0:
            yield from case(f"arange.fraction.{NAMES[dtype]}.{args}", lambda d=dtype, a=args: A.arange.start_step(*a, dtype=d), core=False)
    yield from case("_index_put_impl", lambda c, i, v: A._index_put_impl.default(c, [i], v), x, torch.tensor([2, 0]), values(F32, (2, 4), 1), core=False)


def written_view_cases() -> Iterator[Case]:
    """Views by name of "unsafe": a write to the whole is seen in the parts, and the other way round."""
    parts: dict[str, Callable[[Tensor], Any]] = {"unsafe_chunk": lambda c: A.unsafe_chunk.default(c, 2, 1), "unsafe_split": lambda c: A.unsafe_split.Tensor(c, 2, 1),
                                                 "unsafe_split_with_sizes": lambda c: A.unsafe_split_with_sizes.default(c, [1, 3], 1)}
    for name, fn in parts.items():
        def run(a: Tensor, f: Callable[[Tensor], Any] = fn) -> list[Tensor]:
            whole = a.clone()
            first, last = f(whole)
            whole.mul_(2)
            last.add_(1)
            return [first + 0, last + 0, whole * 1]
        yield from case(f"{name}.written", run, values(F32), core=False)


def half_cases() -> Iterator[Case]:
    """Chains of which torch rounds each step to the half type: all numbers of the type, bit for bit but for the functions in them."""
    for dtype, near in ((F16, 1e-3), (BF16, 8e-3)):
        every, tag = torch.arange(65536, dtype=I32).to(torch.uint16).view(dtype), NAMES[dtype]
        finite = every[every.isfinite() & (every.abs() < 100)]
        for eps in (None, 1e-5, 1e-3, 0.1):
            yield from case(f"logit.every.{tag}.{eps}", lambda c, e=eps: A.logit.default(c, e), finite, ulp=1)
        for other in (F16, BF16, F32, I32):
            e = values(other, finite.shape, 2).clamp(-9, 9)
            yield from case(f"ldexp.every.{tag}.{NAMES[other]}", A.ldexp.Tensor, finite, e, ulp={F32: 2, I32: 0}.get(other, 1), core=other != I32)
            yield from case(f"ldexp.0d.{tag}.{NAMES[other]}", lambda c, d: [A.ldexp.Tensor(c, d[0]), A.ldexp.Tensor(c[7], d[:9]), A.ldexp.Tensor(c[:1], d[:1])], finite, e,
                            near=near)
    for dtype in (F16, BF16, F32, F64):
        info = torch.finfo(dtype)
        x = torch.tensor([info.tiny, info.tiny / 4, 0.7, 1.0, 3.0, info.max, -0.0, INF, -INF, 1.3 * info.smallest_normal], dtype=dtype)
        n = torch.tensor([-2200, -1100, -1030, -160, -50, -30, -9, 0, 7, 20, 140, 300, 1050, 2200, 2**32 + 1, 2**31 + 1])
        yield from case(f"ldexp.far.{NAMES[dtype]}", A.ldexp.Tensor, x[:, None], n, core=False)
    every = torch.arange(65536, dtype=I32).to(torch.uint16).view(F16)
    for exponent in (0.5, -0.5, 2, 3, -1, -2):
        yield from case(f"pow.every.f16.{exponent}", lambda c, e=exponent: A.pow.Tensor_Scalar(c, e), every, core=False)


def number_order_cases() -> Iterator[Case]:
    """A half type takes a number or a single element in f32 where it comes second, else rounded to the type."""
    for dtype in (F16, BF16):
        x, one, tag = values(dtype, (50, 40)), torch.tensor(0.1), NAMES[dtype]
        for name in ("mul", "div", "multiply", "true_divide"):
            f, g = getattr(A, name), getattr(A, f"{name}_")
            yield from case(f"{name}.order.{tag}", lambda c, d, f=f: [f.Tensor(c, d), f.Tensor(d, c), f.Tensor(c[:1, :1], c), f.Tensor(c, c[:1, :1]), f.Scalar(c, 0.1)], x, one)
            yield from case(f"{name}_.order.{tag}", lambda c, d, g=g: [g.Tensor(c.clone(), d) * 1, g.Scalar(c.clone(), 0.1) * 1, g.Scalar(c[0, 0].clone(), 0.3) * 1], x, one, core=False)
        yield from case(f"div.order.trunc.{tag}", lambda c, d: [A.div.Tensor_mode(c, d, rounding_mode="trunc"), A.div.Tensor_mode(d, c, rounding_mode="trunc")], x, one * 7,
                        core=False)


def dtype_cases() -> Iterator[Case]:
    flags = torch.rand(5, 9, generator=torch.Generator().manual_seed(4)) > 0.5
    for name in ("cummax", "cummin"):
        f = getattr(A, name).default
        yield from case(f"{name}.b8", lambda c, f=f: [*f(c, 0), *f(c, -1), *f(c[0, 0], 0), *f(c[:0], 1)], flags)
    for dtype in (I16, U8):
        yield from case(f"atan2.wide_number.{NAMES[dtype]}", lambda c, d: [A.atan2.default(c, d), A.atan2.default(d, c)], values(dtype), torch.tensor(-540829772, dtype=I32), ulp=2)
    for a, b in itertools.product((F32, I64, B8, BF16), repeat=2):
        yield from case(f"inner.0d.{NAMES[a]}.{NAMES[b]}", lambda c, d: [A.inner.default(c, d[0, 0]), A.inner.default(c[0, 0], d[0, 0])], values(a), values(b, seed=1), core=False)
    x, whole = values(F32, (4, 12)) * 30, torch.tensor([[3, 7, 2, 5]])
    for scale, dims in itertools.product((F64, F16, BF16, I64, U8, B8), ("one", "row", "blocks")):
        s = (whole * 0.37 if scale.is_floating_point else whole).to(scale)
        s = {"one": s[0, 0], "row": s.reshape(4, 1), "blocks": s}[dims]
        tag = f"{NAMES[scale]}.{dims}"
        yield from case(f"quantize_float8.scale.{tag}", T.quantize_affine_float8_non_decomposed, x, s)
        yield from case(f"dequantize_float8.scale.{tag}", T.dequantize_affine_float8_non_decomposed, x.to(torch.float8_e4m3fn), s)


def circle_cases() -> Iterator[Case]:
    """Negative pads go before the rest is laid around."""
    for pad in ([-1, 2], [2, -1], [-2, -1], [-1, 3, -2, 1], [1, 1, -1, 2], [-3, 1], [0, -4]):
        yield from case(f"_pad_circular.{pad}", lambda c, p=pad: [A._pad_circular.default(c, p), A.pad.default(c, p, "circular")], values(F32, (2, 4, 5)), core=False)


def edge_cases() -> list[Case]:
    makers = (number_cases, order_of_norms, argument_cases, written_view_cases, half_cases, number_order_cases, dtype_cases, circle_cases)
    return [c for make in makers for c in make()]
