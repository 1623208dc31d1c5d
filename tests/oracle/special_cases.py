"""The cases of ops.py on functions with rules of their own for signs, zeros and NaN, on bits, and on what is counted or found."""
from __future__ import annotations

import itertools
from collections.abc import Iterator

import torch
from cases import A, B8, BF16, F16, F32, F64, FLOATS, I8, I16, I32, I64, INTS, MIXED, NAMES, U8, Case, case, scalars, special, values, written

NEAR = {F16: 2e-3, BF16: 1.6e-2, F32: 2e-6, F64: 1e-13}


def sign_cases() -> Iterator[Case]:
    for dtype in (*FLOATS, *INTS):
        x, y, tag = values(dtype), values(dtype, (4,), 1), NAMES[dtype]
        yield from case(f"signbit.{tag}", A.signbit.default, x)
        yield from case(f"copysign.{tag}", A.copysign.Tensor, x, y)
        yield from case(f"copysign.Scalar.{tag}", lambda a: A.copysign.Scalar(a, -1), x)
        yield from case(f"heaviside.{tag}", lambda a, b: A.heaviside.default((a * 0 + torch.arange(-1, 3)).to(a.dtype), b), x, y)
        for name in ("fmax", "fmin"):
            yield from case(f"{name}.{tag}", getattr(A, name).default, x, y)
        yield from case(f"float_power.Tensor_Scalar.{tag}", lambda a: A.float_power.Tensor_Scalar(a, 2), x, ulp=1)
        yield from case(f"float_power.Tensor_Tensor.{tag}", lambda a, b: A.float_power.Tensor_Tensor(a.abs(), b), x, (y / 40).to(dtype), ulp=1)
        yield from case(f"float_power.Scalar.{tag}", lambda a: A.float_power.Scalar(1.5, a), (x / 40).to(dtype), ulp=1)
    for dtype in FLOATS:
        x, tag = special(dtype), NAMES[dtype]
        a, b = (t.contiguous() for t in torch.broadcast_tensors(x[:, None], x[None, :]))
        yield from case(f"signbit.special.{tag}", A.signbit.default, x[~x.isnan()])
        yield from case(f"copysign.special.{tag}", A.copysign.Tensor, a, b[:, ~x.isnan()][:, :1])
        yield from case(f"heaviside.special.{tag}", A.heaviside.default, a, b)
        for name in ("fmax", "fmin"):  # of two zeros either
            yield from case(f"{name}.special.{tag}", lambda c, d, f=getattr(A, name): f.default(c, d) + 0, a, b)
        yield from case(f"copysign_.{tag}", written(A.copysign_.Tensor), values(dtype), values(dtype, (4,), 1))
        yield from case(f"copysign_.Scalar.{tag}", written(lambda c: A.copysign_.Scalar(c, -2.0)), values(dtype))
        yield from case(f"heaviside_.{tag}", written(A.heaviside_.default), values(dtype), values(dtype, (4,), 1))
        yield from case(f"float_power_.{tag}", written(lambda c: A.float_power_.Scalar(c, 2)), values(dtype))
        yield from case(f"float_power_.Tensor.{tag}", written(A.float_power_.Tensor), values(dtype, positive=True), torch.tensor(2.0))
    for a, b in MIXED:
        yield from case(f"copysign.{NAMES[a]}.{NAMES[b]}", A.copysign.Tensor, values(a), values(b, (4,), 1))
        yield from case(f"fmax.{NAMES[a]}.{NAMES[b]}", A.fmax.default, values(a), values(b, (4,), 1))


def curve_cases() -> Iterator[Case]:
    for dtype in FLOATS:
        x, tag, near = values(dtype, positive=True), NAMES[dtype], NEAR[dtype]
        y, signed = values(dtype, (4,), 1, True), values(dtype)
        for name in ("xlogy", "special_xlogy", "special_xlog1py"):
            packet = getattr(A, name)
            forms = ("Tensor", "Scalar_Self", "Scalar_Other") if name == "xlogy" else ("default", "self_scalar", "other_scalar")
            yield from case(f"{name}.{tag}", getattr(packet, forms[0]), x, y, near=near)
            yield from case(f"{name}.self.{tag}", lambda c, f=getattr(packet, forms[1]): f(2, c), y, near=near)
            yield from case(f"{name}.other.{tag}", lambda c, f=getattr(packet, forms[2]): f(c, 3), x, near=near)
            s = special(dtype)
            a, b = (t.contiguous() for t in torch.broadcast_tensors(s[:, None], s[None, :].abs()))
            yield from case(f"{name}.special.{tag}", lambda c, d, f=getattr(packet, forms[0]): f(c, d).isnan(), a, b)
        yield from case(f"xlogy_.{tag}", written(A.xlogy_.Tensor), x, y, near=near)
        yield from case(f"xlogy_.other.{tag}", written(lambda c: A.xlogy_.Scalar_Other(c, 3)), x, near=near)
        tails = torch.tensor([-6.0, -3.0, -0.5, -0.0, 0.25, 0.5, 0.75, 1.0, 2.0, 4.0, 5.9, 6.5, 9.0, 30.0, float("inf"), float("-inf"), float("nan")]).to(dtype)
        for name in ("erfc", "special_erfc"):
            yield from case(f"{name}.{tag}", getattr(A, name).default, tails, ulp=4 if dtype == F64 else 2)
        for name, inputs in {"erfc_": signed, "sinc_": signed, "logit_": (signed / 20).abs().to(dtype), "deg2rad_": signed, "rad2deg_": signed}.items():
            yield from case(f"{name}.{tag}", written(getattr(A, name).default), inputs, near=near)
        for name in ("sinc", "special_sinc", "deg2rad", "rad2deg"):
            yield from case(f"{name}.{tag}", getattr(A, name).default, torch.cat([signed.flatten(), torch.zeros(1, dtype=dtype)]), near=near if "sinc" in name else 0)
        for name in ("logit", "special_logit"):
            yield from case(f"{name}.{tag}", lambda c, f=getattr(A, name): f.default(c), (signed / 20).abs().to(dtype), near=near)
            yield from case(f"{name}.eps.{tag}", lambda c, f=getattr(A, name): f.default(c, 0.125), torch.linspace(-0.5, 1.5, 9).to(dtype), near=near)
        for dim in (0, -1):
            yield from case(f"glu.{tag}.{dim}", lambda c, d=dim: A.glu.default(c, d), values(dtype, (4, 6)), near=near)
        yield from case(f"hardshrink.{tag}", lambda c: A.hardshrink.default(c, 0.5), torch.cat([special(dtype), signed.flatten()]))
        # The sign of its zeros depends on where they stand.
        yield from case(f"softshrink.{tag}", lambda c: A.softshrink.default(c, 0.5) + 0, torch.cat([special(dtype), signed.flatten()]))
        for digits in (2, 0, -1, 3):
            yield from case(f"round.decimals.{tag}.{digits}", lambda c, k=digits: A.round.decimals(c, decimals=k), signed * 7)
        yield from case(f"special_round.{tag}", lambda c: A.special_round.default(c, decimals=1), signed)
        yield from case(f"round_.decimals.{tag}", written(lambda c: A.round_.decimals(c, decimals=1)), signed)
        exponents = torch.tensor([-2, 0, 1, 3])
        yield from case(f"ldexp.{tag}", A.ldexp.Tensor, signed, exponents)
        yield from case(f"ldexp_.{tag}", written(A.ldexp_.default), signed, exponents)
    for dtype in INTS:
        for name in ("deg2rad", "rad2deg", "sinc", "erfc"):
            yield from case(f"{name}.{NAMES[dtype]}", getattr(A, name).default, values(dtype), near=2e-6)
        yield from case(f"xlogy.{NAMES[dtype]}", A.xlogy.Tensor, values(dtype), values(dtype, (4,), 1, True), near=2e-6)


def bit_cases() -> Iterator[Case]:
    groups = ((F32, I32), (F64, I64), (F16, BF16, I16), (U8, I8, torch.float8_e4m3fn))
    for group in groups:
        for a, b in itertools.permutations(group, 2):
            x = values(F32).to(a)
            yield from case(f"view.dtype.{NAMES[a]}.{NAMES[b]}", lambda c, t=b: A.view.dtype(c, t).view(c.dtype) if t.is_floating_point else A.view.dtype(c, t), x)
            yield from case(f"view_copy.dtype.{NAMES[a]}.{NAMES[b]}", lambda c, t=b: A.view_copy.dtype(c.t(), t), x)
    yield from case("view.dtype.computed", lambda c: A.view.dtype(c * 2, I32) + 1, values(F32))
    yield from case("view.dtype.wider", lambda c: A.view.dtype(c, I64) + 1, values(F32), keep="unsupported_dtype", core=False)


def found_cases() -> Iterator[Case]:
    apart = torch.tensor([[3, 1, 4, 9, 5], [2, 6, 8, 7, 0]])
    for dtype in (*FLOATS, *INTS):
        x, tag = values(dtype, (3, 5, 4)), NAMES[dtype]
        small = (values(dtype, (4, 9), 3).double().abs() % 3).to(dtype)
        yield from case(f"median.{tag}", A.median.default, x)
        for dim in (0, 1, -1):
            yield from case(f"median.dim.{tag}.{dim}", lambda c, d=dim: A.median.dim(c, d)[0], x)
            yield from case(f"cummax.{tag}.{dim}", lambda c, d=dim: list(A.cummax.default(c, d)), x)
            yield from case(f"cummin.{tag}.{dim}", lambda c, d=dim: list(A.cummin.default(c, d)), x)
        yield from case(f"median.dim.places.{tag}", lambda c: list(A.median.dim(c, 1, True)), apart.to(dtype))
        yield from case(f"mode.{tag}", lambda c: A.mode.default(c, 1)[0], small)
        yield from case(f"mode.keep.{tag}", lambda c: A.mode.default(c, 0, True)[0], small)
        yield from case(f"mode.places.{tag}", lambda c: list(A.mode.default(c, 0)), apart.to(dtype))
        yield from case(f"cummax.ties.{tag}", lambda c: list(A.cummax.default(c, 1)), small)
        yield from case(f"trace.{tag}", A.trace.default, x[0], near=NEAR.get(dtype, 0))
        yield from case(f"isin.{tag}", lambda c, d: [A.isin.Tensor_Tensor(c, d), A.isin.Tensor_Tensor(c, d, invert=True)], small, small[0, :2])
        yield from case(f"isin.scalar.{tag}", lambda c: [A.isin.Tensor_Scalar(c, 1), A.isin.Scalar_Tensor(1, c)], small)
        yield from case(f"nansum.{tag}", lambda c: A.nansum.default(c, [1], True), x, near=NEAR.get(dtype, 0))
        for name in ("flipud", "fliplr"):
            yield from case(f"{name}.{tag}", getattr(A, name).default, x)
        for k in (-1, 0, 1, 2, 3, 6):
            yield from case(f"rot90.{tag}.{k}", lambda c, k=k: A.rot90.default(c, k, [0, 2]), x)
        yield from case(f"rot90.{tag}", A.rot90.default, x)
        for n in (1, 2, 3, 4):
            yield from case(f"tensor_split.{tag}.{n}", lambda c, n=n: A.tensor_split.sections(c, n, 1), x)
        yield from case(f"tensor_split.indices.{tag}", lambda c: A.tensor_split.indices(c, [1, -2, 2, 9], 1), x)
        yield from case(f"addmv.{tag}", lambda c: A.addmv.default(c[0, :, 0], c[1], c[0, 0], beta=2, alpha=3), x, near=NEAR.get(dtype, 0) * 2)
        yield from case(f"addmv_.{tag}", written(lambda z, c: A.addmv_.default(z, c[1], c[0, 0])), x[0, :, 0], x, near=NEAR.get(dtype, 0) * 2)
        yield from case(f"addbmm.{tag}", lambda c: A.addbmm.default(c[0, 0], c.mT, c), x, near=NEAR.get(dtype, 0) * 4)
        yield from case(f"addbmm_.{tag}", written(lambda z, c: A.addbmm_.default(z, c.mT, c)), x[0, :4], x, near=NEAR.get(dtype, 0) * 4)
        yield from case(f"inner.{tag}", lambda c: A.inner.default(c, c[0]), x, near=NEAR.get(dtype, 0) * 2)
        yield from case(f"ger.{tag}", lambda c: A.ger.default(c[0, 0], c[0, 1]), x)
        yield from case(f"_stack.{tag}", lambda c: A._stack.default([c, c + 1], 1), x)
    for dtype in FLOATS:
        x = special(dtype)[:12]
        yield from case(f"median.special.{NAMES[dtype]}", A.median.default, x)
        yield from case(f"median.dim.special.{NAMES[dtype]}", lambda c: A.median.dim(c.view(3, 4), 1)[0], x)
        yield from case(f"cummax.special.{NAMES[dtype]}", lambda c: list(A.cummax.default(c, 0)), special(dtype))
        yield from case(f"cummin.special.{NAMES[dtype]}", lambda c: list(A.cummin.default(c, 0)), special(dtype))
        yield from case(f"nansum.special.{NAMES[dtype]}", A.nansum.default, torch.tensor([1.0, float("nan"), 2.0]).to(dtype))
        yield from case(f"norm.dtype.{NAMES[dtype]}", lambda c: A.norm.ScalarOpt_dtype(c, 2, dtype=F64), values(dtype), near=1e-12)
        yield from case(f"norm.dim_dtype.{NAMES[dtype]}", lambda c: A.norm.ScalarOpt_dim_dtype(c, 1, [1], dtype=F32), values(dtype), near=2e-6)
    yield from case("cummax.0d", lambda c: list(A.cummax.default(c, 0)), scalars(F32))
    yield from case("median.0d", A.median.default, scalars(F32))
    yield from case("median.ties", lambda c: list(A.median.dim(c, 0)), torch.tensor([1.0, 1.0, 1.0]), keep="undefined", core=False)
    yield from case("mode.ties", lambda c: list(A.mode.default(c, 0)), torch.tensor([1.0, 1.0, 2.0]), keep="undefined", core=False)
    yield from case("_is_all_true", lambda c: [A._is_all_true.default(c), A._is_any_true.default(c)], values(B8))


def special_cases() -> list[Case]:
    makers = (sign_cases, curve_cases, bit_cases, found_cases)
    return [c for make in makers for c in make()]
