"""How far the results of a step may be from what torch computes, and which steps have a result at all."""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from cases import BF16, F16, F32, F64
from graphs import Step, call, refs, resolve
from schemas import find_op

# Results whose last bits torch does not define, by builder. All others are equal bit for bit, and so are all of integers.
#   LIBM   one function of the C library per element: ulps of the result
#   SUM    sums and products of matrices: roundings of what the same operator makes of the magnitudes
#   CURVE  a chain of a few such steps: roundings of the largest element
LIBM = frozenset("""acos acosh asin asinh atan atan2 atanh cos cosh erf erfc exp exp2 expm1 float_power hypot ldexp log log10 log1p log2 polar pow_scalar
    pow_tensor rsqrt sigmoid sin sinh sqrt tan tanh""".split())
SUM = frozenset("addmm einsum linear matmul mean nansum sum cumsum scatter_add index_add".split())
CURVE = frozenset("""batch_norm celu elu gelu group_norm layer_norm log_sigmoid log_softmax glu logaddexp logaddexp2 logsumexp mish native_group_norm norm rms_norm
    safe_softmax selu silu softmax softplus std var vector_norm weight_norm cumprod prod index_put put scatter_op scatter_reduce bincount linspace arange
    logit sinc xlogy xlog1py""".split())
# Of those, the ones whose steps are as many as the elements.
NORM = frozenset("norm vector_norm".split())
# torch finds means and spreads by updates, to which an infinity is not the end.
SPREAD = frozenset("std var layer_norm group_norm native_group_norm".split())
ULPS = {F16: 1, BF16: 1, F32: 2, F64: 4}
ROUNDINGS = {"sum": 4, "curve": 16}
# Below the normal numbers torch flushes in some of its kernels.
TINY = 1e-30


def builder(step: Step) -> str:
    return step.row.rest[0]


def is_move(step: Step) -> bool:
    """Gives elements of its operand as they are."""
    return step.row.macro == "QF_ATEN" and (step.row.rest[1].startswith("ALIAS") or step.row.name.split(".")[1].endswith("_copy")) and builder(step) not in ("to", "to_other")


def roundings(t: Tensor, n: float, largest: Tensor) -> Tensor:
    return torch.full_like(t, 0, dtype=F64) + n * torch.finfo(t.dtype).eps * torch.nan_to_num(largest, 0, 0, 0).abs() + TINY


def terms_factor(terms: int) -> float:
    return 1 + min(terms, 64) / 8


def overflow(dtype: torch.dtype) -> float:
    return torch.finfo(dtype).max / 4


def of_magnitudes(step: Step, env: dict[str, Any], parts: Sequence[Tensor]) -> list[Tensor]:
    """What the same operator makes of the magnitudes of its operands, in f64."""
    large = {n: v.abs().double() if isinstance(v, Tensor) and v.is_floating_point() else v for n, v in env.items()}
    names = [a.name for a in refs((step.args, step.named))]
    terms = max([env[n].numel() for n in names] or [1])
    positive = {k: abs(v) if isinstance(v, (int, float)) and not isinstance(v, bool) and k in ("alpha", "beta") else F64 if k == "dtype" else v
                for k, v in step.named.items()}
    result = find_op(step.row.name)(*resolve(step.args, large), **resolve(positive, large))
    most = result if isinstance(result, (list, tuple)) else [result]
    for p, m in zip(parts, most, strict=True):
        if p.is_floating_point() and bool((m.isfinite() & (m > overflow(p.dtype))).any()):
            raise ValueError("whether it overflows depends on the order")
    return [roundings(p, ROUNDINGS["sum"] * terms_factor(terms), m.double()) for p, m in zip(parts, most, strict=True)]


def of_ulps(t: Tensor) -> Tensor:
    size = torch.nan_to_num(t.double(), 0, 0, 0).abs()
    _, exponent = torch.frexp(size)
    ulp = torch.ldexp(torch.full_like(size, torch.finfo(t.dtype).eps), (exponent - 1).clamp(-1000, 1023))
    return ULPS[t.dtype] * ulp + TINY


def loose(step: Step, env: dict[str, Any], parts: Sequence[Tensor]) -> list[Tensor | None]:
    name = builder(step)
    operands = [env[a.name] for a in refs((step.args, step.named))]
    top = max([float(torch.nan_to_num(t.double(), 0, 0, 0).abs().max()) for t in (*operands, *parts) if t.numel() and not t.is_complex()] or [0.0])
    if name in SUM and top > 1e15 and not all(bool(t.isfinite().all()) for t in operands):
        raise ValueError("whether it overflows depends on the order")
    if name in SUM:
        return list(of_magnitudes(step, env, parts))
    if name in LIBM:
        return [of_ulps(p.abs() if p.is_complex() else p) if p.is_complex() or p.dtype in ULPS else None for p in parts]
    if name in CURVE:
        if top > 1e15 or name in SPREAD and not all(bool(t.isfinite().all()) for t in operands):
            raise ValueError("whether it overflows depends on the order")
        steps = max((t.numel() for t in operands), default=1) if name in NORM else 0
        return [roundings(p, ROUNDINGS["curve"] * terms_factor(steps), torch.tensor(top, dtype=F64)) for p in parts]
    return [None for _ in parts]


def allowance(step: Step, env: dict[str, Any], parts: Sequence[Tensor], allowed: dict[str, Tensor]) -> list[Tensor | None]:
    """Per result, how far each element may be off; None: not at all. Raises for a step that would make much of a last bit."""
    taken = [a.name for a in refs((step.args, step.named)) if a.name in allowed]
    if taken:
        if not is_move(step):
            raise ValueError("its operands are not exact")
        moved = call(step, {n: allowed.get(n, v) for n, v in env.items()})
        return list(moved) if isinstance(moved, (list, tuple)) else [moved]
    if not any(p.is_floating_point() or p.is_complex() for p in parts):
        return [None for _ in parts]
    return [a if p.is_floating_point() or p.is_complex() else None for a, p in zip(loose(step, env, parts), parts, strict=True)]


def defined(step: Step, env: dict[str, Any], parts: Sequence[Tensor]) -> bool:
    """Whether no float becomes an integer that cannot hold it."""
    whole = [p for p in parts if not p.is_floating_point() and not p.is_complex() and p.dtype != torch.bool]
    reals = [env[a.name] for a in refs((step.args, step.named)) if env[a.name].is_floating_point()]
    if not whole or not reals or step.row.name.startswith("quantized_decomposed.q"):
        return True
    low, high = max(torch.iinfo(p.dtype).min for p in whole), min(torch.iinfo(p.dtype).max for p in whole)
    return all(not t.numel() or bool(t.isfinite().all()) and low < float(t.min()) and float(t.max()) < high for t in map(Tensor.double, reals))
