"""What the cases of ops.py are made of: element types, values, one small computation on constants."""
from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import torch
import torch.ao.quantization.fx._decomposed  # noqa: F401  registers quantized_decomposed
from torch import Tensor

A = torch.ops.aten
Q = torch.ops.quantized_decomposed

F32, F64, F16, BF16 = torch.float32, torch.float64, torch.float16, torch.bfloat16
I64, I32, I16, I8, U8, B8 = torch.int64, torch.int32, torch.int16, torch.int8, torch.uint8, torch.bool
MIXED = ((F32, F64), (F16, BF16), (F32, I64), (BF16, I64), (I8, U8), (I64, I8), (B8, I64), (F16, F32), (I32, F64), (B8, BF16))
FLOATS, INTS = (F32, F64, F16, BF16), (I64, I32, I16, I8, U8)
NAMES = {F32: "f32", F64: "f64", F16: "f16", BF16: "bf16", I64: "i64", I32: "i32", I16: "i16", I8: "i8", U8: "u8", B8: "b8",
         torch.float8_e4m3fn: "f8e4m3", torch.float8_e5m2: "f8e5m2"}


@dataclass(frozen=True)
class Case:
    """run(inputs) gives a list of tensors. ulp: allowed distance.  near: allowed difference relative to the largest magnitude.
    keep: reason for which it must stay.  core: the decomposed form is checked too."""
    name: str
    run: Callable[..., list[Tensor]]
    inputs: tuple[Tensor, ...]
    n_out: int
    ulp: int = 0
    near: float = 0.0
    keep: str | None = None
    core: bool = True


def values(dtype: torch.dtype, shape: tuple[int, ...] = (3, 4), seed: int = 0, positive: bool = False) -> Tensor:
    """Ordinary numbers of a dtype, none of them zero."""
    g = torch.Generator().manual_seed(seed + 17 * len(shape))
    n = int(torch.tensor(shape).prod()) if shape else 1
    if dtype == B8:
        return (torch.rand(n, generator=g) > 0.5).reshape(shape)
    if not dtype.is_floating_point:
        low = 1 if positive or dtype == U8 else -100
        v = torch.randint(low, 101, (n,), generator=g)
        return torch.where(v == 0, 7, v).to(dtype).reshape(shape)
    v = torch.randn(n, generator=g, dtype=F64) * 3 + 0.01
    return (v.abs() + 0.01 if positive else v).to(dtype).reshape(shape)


def special(dtype: torch.dtype) -> Tensor:
    """Values at which float kernels go wrong."""
    inf, nan, tiny = float("inf"), float("nan"), torch.finfo(dtype).smallest_normal
    return torch.tensor([0.0, -0.0, 1.0, -1.0, 0.5, 1.5, 2.5, -2.5, inf, -inf, nan, tiny, tiny / 4, torch.finfo(dtype).max, 3.0, 0.1],
                        dtype=dtype)


def scalars(dtype: torch.dtype) -> Tensor:
    return values(dtype, (), 5)


def as_list(v: Any) -> list[Tensor]:
    return list(v) if isinstance(v, (list, tuple)) else [v]


def case(name: str, fn: Callable[..., Any], *inputs: Tensor, **options: Any) -> Iterator[Case]:
    """One case, if torch itself takes it."""
    try:
        out = as_list(fn(*[t.clone(memory_format=torch.preserve_format) for t in inputs]))
    except (RuntimeError, TypeError, ValueError, NotImplementedError, AssertionError, IndexError, OverflowError):
        return
    yield Case(name, lambda *c: as_list(fn(*c)), inputs, len(out), **options)


def written(f: Callable[..., Any]) -> Callable[..., list[Tensor]]:
    """An in-place form, on memory that only the program knows; a view of it sees the write."""
    def run(a: Tensor, *rest: Tensor) -> list[Tensor]:
        z = a.clone()
        f(z, *rest)
        return [z * 1, z[0] + 0]
    return run
