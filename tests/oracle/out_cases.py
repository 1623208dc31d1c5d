"""The cases of ops.py on overloads that fill an operand, and on memory that holds nothing until it is written."""
from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import torch
from cases import A, B8, BF16, F32, I64, NAMES, Case, as_list, case, values
from schemas import TABLE, find_op, read_rows
from torch import Tensor

# What stands for the arguments of an overload, by the words of its schema.
ARGUMENTS: dict[str, Callable[[Tensor, Tensor], tuple[tuple[Any, ...], dict[str, Any]]]] = {
    "self, *, out": lambda a, b: ((a,), {}),
    "self, other, *, out": lambda a, b: ((a, b), {}),
    "self, other, *, alpha=1, out": lambda a, b: ((a, b), {"alpha": 2}),
    "self, dim, keepdim=False, *, out": lambda a, b: ((a, 1), {}),
    "self, dim=None, keepdim=False, *, dtype=None, out": lambda a, b: ((a, [1]), {}),
    "self, dim=[], keepdim=False, *, out": lambda a, b: ((a, [0]), {}),
    "self, mat2, *, out": lambda a, b: ((a[0], b[0].mT) if a.dim() == 3 else (a, b.mT), {}),
    "self, min=None, max=None, *, out": lambda a, b: ((a, -2, 3), {}),
    "self, size, *, out": lambda a, b: ((a, [12]), {}),
    "self, dim0, dim1, *, out": lambda a, b: ((a, 0, 1), {}),
    "tensors, dim=0, *, out": lambda a, b: (([a, b], 1), {}),
    "self, diagonal=0, *, out": lambda a, b: ((a, 1), {}),
}


# torch traces none of these.
UNTRACED = {"aten.new_ones.out", "aten.new_zeros.out", "aten.nonzero.out"}


def filled(op: Any, like: Tensor, arguments: Callable[..., Any], start: Callable[..., Tensor]) -> Callable[..., list[Tensor]]:
    def run(a: Tensor, b: Tensor) -> list[Tensor]:
        z = start(like.shape, dtype=like.dtype)
        positional, named = arguments(a, b)
        op(*positional, **named, out=z)
        return [z[:1] * 1, z]
    return run


def out_row_cases() -> Iterator[Case]:
    for row in (r for r in read_rows(TABLE) if r.macro == "QF_OUT" and r.schema in ARGUMENTS and r.name not in UNTRACED):
        op, arguments = find_op(row.name), ARGUMENTS[row.schema]
        scalar = any(str(a.type) == "number" and a.name == "other" for a in op._schema.arguments)
        for dtype in (F32, I64, BF16, B8):
            a, b = values(dtype, (3, 4), positive=True), values(dtype, (3, 4), 1, True)
            if "pow" in row.name or "shift" in row.name:
                b = b.clamp(max=2)
            take = (lambda x, y, f=arguments: ((x, 3), f(x, y)[1])) if scalar else arguments
            try:
                like = torch.empty(0, dtype=torch.bool)
                like = next(t for t in (torch.empty(0, dtype=d) for d in (dtype, F32, I64, B8)) if op(*take(a, b)[0], **take(a, b)[1], out=t) is not None)
            except (RuntimeError, TypeError, ValueError, NotImplementedError, IndexError, StopIteration):
                continue
            natural = natural_dtype(row.name, take(a, b))
            if like.dtype != natural or not like.dim():
                continue
            near = {F32: 2e-6, BF16: 1.6e-2}.get(dtype, 0) if like.dtype.is_floating_point else 0
            for start in (torch.empty, torch.zeros):
                yield from case(f"{row.name}.{NAMES[dtype]}.{start.__name__}", filled(op, like, take, start), a, b, near=near, core=False)


def natural_dtype(name: str, arguments: tuple[tuple[Any, ...], dict[str, Any]]) -> torch.dtype | None:
    """What the overload that makes its result gives."""
    packet = getattr(A, name.split(".")[1])
    try:
        return as_list(packet(*arguments[0], **arguments[1]))[0].dtype
    except (RuntimeError, TypeError):
        return None


def empty_cases() -> Iterator[Case]:
    def masked(x: Tensor) -> list[Tensor]:
        z = torch.empty(4, 4)
        z.fill_(-1.0)
        return [z.triu_(1) + x]

    def halves(x: Tensor) -> list[Tensor]:
        z = torch.empty_like(x)
        z[:2] = x[:2] * 2
        z[2:] = 1
        return [z * 1]

    def like(x: Tensor) -> list[Tensor]:
        z = x.new_empty(2, 3)
        z.copy_(x[:2, :3])
        return [z * 2]

    x = values(F32, (4, 4))
    yield from case("empty.fill_", masked, x)
    yield from case("empty.halves", halves, x)
    yield from case("empty.copy_", like, x)
    yield from case("empty.out", lambda c: torch.add(c, 1, out=torch.empty(4, 4)), x, core=False)
    yield from case("zeros.out.resized", lambda c: torch.add(c, 1, out=torch.zeros(0)) * 1, x, core=False, keep="unsupported_argument")
    yield from case("empty.part", lambda c: [(torch.empty(4).fill_(2) * c[0])[1:], torch.empty(0) * 1], x)
    yield from case("empty.read", lambda c: [torch.empty(4, 4).shape[0] * c, (torch.empty(4, 4) * 0).isnan() | True], x, core=False, keep="uninitialised")


def out_cases() -> list[Case]:
    return [*out_row_cases(), *empty_cases()]
