"""More cases of ops.py: what random graphs (differential.py) found, each in its smallest form."""
from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from typing import Any

import torch
from cases import A, B8, BF16, F16, F32, F64, I64, INTS, NAMES, U8, Case, case, scalars, values
from torch import Tensor

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


def edge_cases() -> list[Case]:
    return [c for make in (number_cases, order_of_norms, argument_cases, written_view_cases) for c in make()]
