"""More cases of ops.py: operators that order elements, write by index, depend on where a mask is true, or choose a range."""
from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from typing import Any

import torch
from cases import A, B8, BF16, F16, F32, F64, FLOATS, I32, I64, I8, INTS, NAMES, Q, U8, Case, case, special, values, written
from torch import Tensor

DTYPES = (*FLOATS, *INTS, B8)


def distinct(dtype: torch.dtype, shape: tuple[int, ...], seed: int = 0) -> Tensor:
    """Numbers of a dtype, no two of them equal."""
    n = int(torch.tensor(shape).prod())
    order = torch.randperm(n, generator=torch.Generator().manual_seed(seed))
    return (order - (0 if dtype == U8 else n // 2)).to(dtype).reshape(shape)


def layouts(x: Tensor) -> Iterator[tuple[str, Tensor]]:
    yield "dense", x
    if x.dtype not in (F32, I8):  # the others differ in their elements alone
        return
    yield "turned", x.transpose(0, -1).contiguous().transpose(0, -1)
    yield "apart", torch.stack([x, x], -1)[..., 0]


def extreme_cases() -> Iterator[Case]:
    for dtype in DTYPES:
        tag = NAMES[dtype]
        for how, x in layouts(values(dtype, (3, 4, 5))):
            for name in ("argmax", "argmin"):
                f = getattr(A, name).default
                yield from case(f"{name}.{tag}.{how}", f, x)
                yield from case(f"{name}.keep.{tag}.{how}", lambda c, f=f: f(c, None, True), x)
                yield from case(f"{name}.dim.{tag}.{how}", lambda c, f=f: [f(c, 0), f(c, -1, True)], x)
            for name in ("max", "min"):
                f = getattr(A, name).dim
                yield from case(f"{name}.dim.{tag}.{how}", lambda c, f=f: [*f(c, 1), *f(c, -1, True)], x)
            yield from case(f"aminmax.{tag}.{how}", lambda c: [*A.aminmax.default(c), *A.aminmax.default(c, dim=1, keepdim=True)], x)
        small = (values(dtype, (40, 6)) if dtype == B8 else values(dtype, (40, 6)).abs() % 3).to(dtype)
        yield from case(f"max.ties.{tag}", lambda c: [*A.max.dim(c, 0), *A.min.dim(c, 0)], small)
    for dtype in FLOATS:
        x = torch.stack([special(dtype), special(dtype).flip(0)])
        for name in ("argmax", "argmin"):
            yield from case(f"{name}.special.{NAMES[dtype]}", lambda c, f=getattr(A, name).default: [f(c, 1), f(c[:, :10], 1), f(c, 0), f(c)], x)
        yield from case(f"max.special.{NAMES[dtype]}", lambda c: [*A.max.dim(c, 1), *A.min.dim(c, 1), *A.max.dim(c[:, :10], 1), *A.max.dim(c, 0)], x)
    scalar = torch.tensor(2.5)
    yield from case("argmax.0d", lambda c: [A.argmax.default(c), A.argmin.default(c, 0, True)], scalar)
    yield from case("max.dim.0d", lambda c: [*A.max.dim(c, 0), *A.min.dim(c, -1, True)], scalar)
    yield from case("argmax.large", lambda c: [A.argmax.default(c), A.argmin.default(c, 1)], values(F32, (7, 9000)))


def sort_cases() -> Iterator[Case]:
    for dtype in DTYPES:
        tag = NAMES[dtype]
        for how, x in layouts(values(dtype, (3, 4, 5))):
            yield from case(f"sort.stable.{tag}.{how}", lambda c: [*A.sort.stable(c, stable=True), *A.sort.stable(c, stable=True, dim=0, descending=True)], x)
            yield from case(f"argsort.stable.{tag}.{how}", lambda c: A.argsort.stable(c, stable=True, dim=1, descending=True), x)
            yield from case(f"sort.values.{tag}.{how}", lambda c: [A.sort.default(c)[0], A.topk.default(c, 2, 1)[0]], x)
            yield from case(f"msort.{tag}.{how}", A.msort.default, x)
        if dtype == B8:
            continue
        for how, x in layouts(distinct(dtype, (3, 4, 5), 3)):
            yield from case(f"sort.{tag}.{how}", lambda c: [*A.sort.default(c), *A.sort.default(c, 0, True)], x)
            yield from case(f"argsort.{tag}.{how}", lambda c: A.argsort.default(c, 1, True), x)
            yield from case(f"topk.{tag}.{how}", lambda c: [*A.topk.default(c, 3), *A.topk.default(c, 2, 0, False)], x)
            yield from case(f"kthvalue.{tag}.{how}", lambda c: [*A.kthvalue.default(c, 2), *A.kthvalue.default(c, 3, 0, True)], x)
        yield from case(f"sort.ties.{tag}", lambda c: A.sort.default(c)[1], (values(dtype, (30,)) % 3).round(), keep="undefined", core=False)
        yield from case(f"topk.ties.{tag}", lambda c: A.topk.default(c, 4)[1], (values(dtype, (30,)) % 3).round(), keep="undefined", core=False)
    for dtype in FLOATS:
        x = torch.stack([special(dtype), special(dtype).flip(0)])
        yield from case(f"sort.special.{NAMES[dtype]}", lambda c: [*A.sort.stable(c, stable=True), *A.sort.stable(c, stable=True, descending=True)], x)
    yield from case("sort.0d", lambda c: [*A.sort.stable(c, stable=True), A.argsort.default(c)], torch.tensor(2.5))
    yield from case("sort.empty", lambda c: [*A.sort.stable(c, stable=True)], values(F32, (3, 0)))
    yield from case("sort.long", lambda c: [*A.sort.stable(c, stable=True, dim=0), *A.topk.default(c[:, 0], 50)], distinct(F32, (3000, 3)))
    yield from case("topk.unsorted", lambda c: A.topk.default(c, 2, -1, True, False)[0], values(F32), keep="undefined", core=False)


def search_cases() -> Iterator[Case]:
    edges = {F32: torch.tensor([-2.0, 0.0, 0.5, 0.5, 3.0]), I64: torch.tensor([-5, 0, 2, 2, 40]), BF16: torch.tensor([-2, 0, 0.5, 3.0], dtype=BF16)}
    for dtype, edge in edges.items():
        x = torch.cat([values(dtype, (9,)), edge])
        for right in (False, True):
            yield from case(f"bucketize.{NAMES[dtype]}.{right}", lambda c, e, r=right: A.bucketize.Tensor(c, e, right=r), x, edge)
            yield from case(f"searchsorted.{NAMES[dtype]}.{right}", lambda c, e, r=right: A.searchsorted.Tensor(e, c.view(2, -1), right=r, out_int32=True), x[:12], edge)
        yield from case(f"searchsorted.side.{NAMES[dtype]}", lambda c, e: A.searchsorted.Tensor(e, c, side="right"), x, edge)
        yield from case(f"searchsorted.rows.{NAMES[dtype]}", lambda c, e: A.searchsorted.Tensor(torch.stack([e, e + 1]), c.view(2, -1)), x[:12], edge)
    yield from case("bucketize.special", lambda c, e: [A.bucketize.Tensor(c, e), A.bucketize.Tensor(c, e, right=True)], special(F32), edges[F32])
    yield from case("bucketize.Scalar", lambda e: [A.bucketize.Scalar(0.5, e), A.bucketize.Scalar(2, e, out_int32=True)], edges[F32])
    yield from case("searchsorted.Scalar", lambda e: [A.searchsorted.Scalar(e, 0.5), A.searchsorted.Scalar(e, 2, right=True)], edges[F32])
    yield from case("searchsorted.sorter", lambda e, c: A.searchsorted.Tensor(e, c, sorter=torch.arange(5)), edges[F32], values(F32, (3,)),
                    keep="unsupported_argument", core=False)


def put_cases() -> Iterator[Case]:
    i, j = torch.tensor([2, 0, -1]), torch.tensor([1, -1, 3])
    for dtype in (F32, F64, BF16, F16, I64, U8, I8, B8):
        tag = NAMES[dtype]
        near = {F16: 2e-3, BF16: 1e-2}.get(dtype, 1e-6) if dtype.is_floating_point else 0
        for how, x in layouts(values(dtype, (4, 5, 3))):
            rows, picked, grid = values(dtype, (3, 5, 3), 1), values(dtype, (3, 3), 2), values(dtype, (2, 3, 3), 3)
            yield from case(f"index_put.{tag}.{how}", lambda c, v, a: A.index_put.default(c, [a], v), x, rows, i)
            yield from case(f"index_put.two.{tag}.{how}", lambda c, v, a, b: A.index_put.default(c, [a, b], v), x, picked, i, j)
            yield from case(f"index_put.apart.{tag}.{how}", lambda c, v, a, b: A.index_put.default(c, [a, None, b], v), x, values(dtype, (3, 5), 4), i, j % 3)
            yield from case(f"index_put.last.{tag}.{how}", lambda c, v, a: A.index_put.default(c, [None, a], v), x, values(dtype, (4, 3, 3), 4), j)
            yield from case(f"index_put.grid.{tag}.{how}", lambda c, v, a, b: A.index_put.default(c, [a[:2, None], b], v), x, grid, i, j)
            yield from case(f"index_put.scalar.{tag}.{how}", lambda c, v, a: A.index_put.default(c, [torch.cat([a, a])], v[0, 0, 0]), x, rows, i)
            yield from case(f"index_put.add.{tag}.{how}", lambda c, v, a: A.index_put.default(c, [torch.cat([a, a])], torch.cat([v, v]), True), x, rows, i, near=near)
            mask = values(B8, (4, 5), 9)
            yield from case(f"index_put.mask.{tag}.{how}", lambda c, v, m: A.index_put.default(c, [m], v[0, 0]), x, rows, mask)
            yield from case(f"index_put.mask.first.{tag}.{how}", lambda c, v, m: A.index_put.default(c, [m[:, 0]], v[:1], True), x, rows, mask, near=near)
            yield from case(f"index_put.mask.rows.{tag}.{how}", lambda c, v, m: A.index_put.default(c, [None, m], v), x,
                            values(dtype, (4, int(mask[0].sum()), 3), 5), mask[0])
            yield from case(f"scatter.src.{tag}.{how}", lambda c, v, a: A.scatter.src(c, 1, a, v), x, rows,
                            torch.tensor([[[0, 1, 4], [2, 3, 1], [4, 0, 0]], [[3, 3, 3], [1, 2, 4], [0, 0, 0]]]))
            yield from case(f"scatter.value.{tag}.{how}", lambda c, a: A.scatter.value(c, -1, a, 1), x, torch.tensor([[[0, 0], [2, 1]]]))
            again = torch.tensor([[[0, 1, 4], [0, 1, 1], [0, 0, 0]], [[3, 3, 3], [3, 2, 4], [0, 2, 0]]])
            yield from case(f"scatter_add.{tag}.{how}", lambda c, v, a: A.scatter_add.default(c, 1, a, v), x, rows, again, near=near)
            for name in ("sum", "prod", "mean", "amax", "amin"):
                loose = near if name not in ("amax", "amin") else 0
                yield from case(f"scatter_reduce.{name}.{tag}.{how}", lambda c, v, a, n=name: [A.scatter_reduce.two(c, 1, a, v, n),
                                A.scatter_reduce.two(c, 1, a, v, n, include_self=False)], x, rows, again, near=2 * loose)
            yield from case(f"scatter.reduce.{tag}.{how}", lambda c, v, a: [A.scatter.reduce(c, 1, a, v, reduce="add"),
                            A.scatter.value_reduce(c, 1, a, 2, reduce="multiply")], x, rows, again, near=near)
            yield from case(f"index_copy.{tag}.{how}", lambda c, v, a: A.index_copy.default(c, 0, a.abs(), v), x, rows, i)
            yield from case(f"index_add.{tag}.{how}", lambda c, v, a: A.index_add.default(c, 1, torch.cat([a, a]).abs(), torch.cat([v, v], 1)[..., :6, :]), x,
                            values(dtype, (4, 3, 3), 1), i, near=near)
            if dtype != B8:
                yield from case(f"index_add.alpha.{tag}.{how}", lambda c, v, a: A.index_add.default(c, 0, a.abs(), v, alpha=2), x, rows, i, near=near)
            yield from case(f"index_fill.{tag}.{how}", lambda c, a: [A.index_fill.int_Scalar(c, 1, torch.cat([a, a]), 3),
                            A.index_fill.int_Tensor(c, 0, a, c[0, 0, 0])], x, i)
            yield from case(f"put.{tag}.{how}", lambda c, v, a: A.put.default(c, a.view(3, 1), v[0, 0]), x, rows, i * 7)
            yield from case(f"put.add.{tag}.{how}", lambda c, v, a: A.put.default(c, torch.cat([a, a]), v[0, :2], True), x, rows, i * 7, near=near)
            yield from case(f"diagonal_scatter.{tag}.{how}", lambda c, v: A.diagonal_scatter.default(c, v, 1, 0, 1), x, values(dtype, (3, 4), 2))
    x, v = values(F32, (4, 5)), values(F32, (3, 5), 1)
    twice = torch.tensor([1, 0, 1])
    for name, fn in (("index_put", lambda c, v, a: A.index_put.default(c, [a], v)), ("index_copy", lambda c, v, a: A.index_copy.default(c, 0, a, v)),
                     ("scatter", lambda c, v, a: A.scatter.src(c, 0, a[:, None].expand(3, 5), v)),
                     ("put", lambda c, v, a: A.put.default(c, a, v[:, 0]))):
        yield from case(f"{name}.twice", fn, x, v, twice, keep="undefined", core=False)
        yield from case(f"{name}.twice.equal", fn, x, v[:1].expand(3, 5).contiguous(), twice)
    yield from case("index_put.i32", lambda c, v, a: A.index_put.default(c, [a], v), x, v, torch.tensor([0, 3, 1], dtype=I32))
    yield from case("index_put.none", lambda c, v, a: A.index_put.default(c, [a], v[:0]), x, v, torch.zeros(0, dtype=I64))
    yield from case("scatter.0d", lambda c, a: A.scatter.value(c, 0, a, 3.0), torch.tensor(1.0), torch.tensor(0))
    yield from case("index_fill.0d", lambda c, a: A.index_fill.int_Scalar(c, 0, a, 3.0), torch.tensor(1.0), torch.tensor(0))
    forms: dict[str, Callable[..., Any]] = {
        "index_put_": lambda z, v, a: A.index_put_.default(z, [a], v), "_index_put_impl_": lambda z, v, a: A._index_put_impl_.default(z, [a], v, True),
        "index_copy_": lambda z, v, a: A.index_copy_.default(z, 0, a, v), "index_add_": lambda z, v, a: A.index_add_.default(z, 0, a, v),
        "index_fill_.int_Scalar": lambda z, v, a: A.index_fill_.int_Scalar(z, 1, a, -1), "index_fill_.int_Tensor": lambda z, v, a: A.index_fill_.int_Tensor(z, 1, a, v[0, 0]),
        "scatter_.src": lambda z, v, a: A.scatter_.src(z, 0, a[:, None], v), "scatter_.value": lambda z, v, a: A.scatter_.value(z, 0, a[:, None], 2),
        "scatter_.reduce": lambda z, v, a: A.scatter_.reduce(z, 0, a[:, None], v, reduce="multiply"),
        "scatter_.value_reduce": lambda z, v, a: A.scatter_.value_reduce(z, 0, a[:, None], 3, reduce="add"),
        "scatter_add_": lambda z, v, a: A.scatter_add_.default(z, 0, a[:, None], v),
        "scatter_reduce_": lambda z, v, a: A.scatter_reduce_.two(z, 0, a[:, None], v, "amax"), "put_": lambda z, v, a: A.put_.default(z, a, v[:, 0]),
        "masked_scatter_": lambda z, v, a: A.masked_scatter_.default(z, z > 0, torch.cat([v, v])),
    }
    for (name, fn), dtype in itertools.product(forms.items(), (F32, BF16, I64)):
        yield from case(f"{name}.{NAMES[dtype]}", written(fn), values(dtype, (4, 5)), values(dtype, (3, 5), 1), torch.tensor([2, 0, 3]))


def mask_place_cases() -> Iterator[Case]:
    for dtype in (F32, BF16, I64, B8, F64):
        x, tag, mask = values(dtype, (4, 5, 3)), NAMES[dtype], values(B8, (4, 5, 3), 4)
        yield from case(f"masked_scatter.{tag}", A.masked_scatter.default, x, mask, values(dtype, (9, 7), 2))
        yield from case(f"masked_scatter.wide.{tag}", A.masked_scatter.default, x, mask[0, :, :1], values(dtype, (9, 7), 2))
        yield from case(f"take.{tag}", lambda c, a: A.take.default(c, a), x, torch.tensor([[0, 59, -1], [-60, 7, 7]]))
        yield from case(f"diag_embed.{tag}", lambda c: [A.diag_embed.default(c), A.diag_embed.default(c, 1, 0, 2), A.diag_embed.default(c, -2, -1, 1)], x)
        yield from case(f"diag.{tag}", lambda c: [A.diag.default(c[0]), A.diag.default(c[0, 0], 1), A.diag.default(c[0], -1)], x)
        yield from case(f"count_nonzero.{tag}", lambda c: [A.count_nonzero.default(c), A.count_nonzero.dim_IntList(c, [0, -1])], x)
        yield from case(f"_unsafe_index.{tag}", lambda c, a: A._unsafe_index.Tensor(c, [None, a]), x, torch.tensor([0, 4, -1]), core=False)
        yield from case(f"_unsafe_index_put.{tag}", lambda c, a: A._unsafe_index_put.default(c, [None, a], c[:, 1:4]), x, torch.tensor([0, 4, -2]), core=False)
        yield from case(f"repeat_interleave.one.{tag}", lambda c, r: A.repeat_interleave.self_Tensor(c, r, 0, output_size=8), x, torch.tensor([2]))
        yield from case(f"repeat_interleave.each.{tag}", lambda c, r: A.repeat_interleave.self_Tensor(c, r, 1, output_size=7), x, torch.tensor([2, 0, 1, 4, 0]))
    yield from case("masked_scatter.short", A.masked_scatter.default, values(F32), torch.ones(3, 4, dtype=B8), values(F32, (20,)))
    yield from case("repeat_interleave.Tensor", lambda r: A.repeat_interleave.Tensor(r, output_size=7), torch.tensor([2, 0, 1, 4, 0]))
    yield from case("one_hot", lambda c: A.one_hot.default(c, 6), torch.tensor([[0, 5], [2, 2]]))
    for row, col, offset in ((3, 4, 0), (4, 3, 1), (5, 5, -2), (2, 6, -9), (0, 3, 0)):
        for f, name in ((A.tril_indices.default, "tril"), (A.triu_indices.default, "triu")):
            yield from case(f"{name}_indices.{row}.{col}.{offset}", lambda f=f, r=row, c=col, o=offset: [f(r, c, o), f(r, c, o, dtype=I32)])

    def sized(fn: Callable[..., Tensor]) -> Callable[..., Tensor]:
        """What has a size that depends on the values, seen through something that has not."""
        return lambda *c: torch.zeros(7, dtype=I64) + fn(*c).sum()

    few = torch.tensor([3, 1, 1, 0, 5, 3])
    for dtype in (I64, I32, U8):
        yield from case(f"bincount.{NAMES[dtype]}", lambda c: torch.zeros(9, dtype=I64) + A.bincount.default(c).sum(), few.to(dtype), core=False)
    for weight in (F32, F64, BF16, I64):
        yield from case(f"bincount.weights.{NAMES[weight]}", lambda c, w: torch.zeros(2, dtype=F64) + A.bincount.default(c, w, 4).to(F64).amax(), few, values(weight, (6,)), near=1e-6, core=False)
    mask = values(B8, (4, 5), 3)
    yield from case("nonzero", sized(lambda m: A.nonzero.default(m)), mask, core=False)
    yield from case("nonzero.f32", sized(lambda c: A.nonzero.default(c)), torch.tensor([[0.0, 1.0], [float("nan"), -0.0]]), core=False)
    yield from case("argwhere", sized(lambda m: A.argwhere.default(m)), mask, core=False)
    yield from case("nonzero_numpy", sized(lambda m: A.nonzero_numpy.default(m)[1]), mask, core=False)
    for size in (3, 30):
        yield from case(f"nonzero_static.{size}", lambda m, n=size: A.nonzero_static.default(m, size=n, fill_value=-7), mask)
    yield from case("masked_select", sized(lambda c, m: A.masked_select.default(c, m)), values(I64, (4, 5)), mask, core=False)
    yield from case("index.mask", sized(lambda c, m: A.index.Tensor(c, [m])), values(I64, (4, 5, 2)), mask, core=False)
    yield from case("index.mask.last", sized(lambda c, m: A.index.Tensor(c, [None, m])), values(I64, (4, 5, 2)), mask[0], core=False)


def qparam_cases() -> Iterator[Case]:
    for dtype in (F32, F16, BF16):
        tag = NAMES[dtype]
        for k, x in enumerate((values(dtype, (3, 40)), values(dtype, (3, 40)).abs(), -values(dtype, (3, 40)).abs(), torch.zeros(3, 5, dtype=dtype))):
            for low, high, q in ((-128, 127, I8), (0, 255, U8), (-8, 7, I8), (-300, 300, torch.int16)):
                yield from case(f"choose_qparams.{tag}.{k}.{low}", lambda c, a=(low, high, 2.0**-23, q): list(Q.choose_qparams.tensor(c, *a)), x)
                yield from case(f"choose_qparams_symmetric.{tag}.{k}.{low}", lambda c, a=(low, high, 1e-6, q): list(Q.choose_qparams_symmetric.tensor(c, *a)), x)
            yield from case(f"choose_qparams_per_token_asymmetric.{tag}.{k}", lambda c: list(Q.choose_qparams_per_token_asymmetric.default(c, I8)), x)
            yield from case(f"_choose_qparams_per_token_asymmetric_impl.{tag}.{k}", lambda c: list(Q._choose_qparams_per_token_asymmetric_impl.default(c, I8)), x)


def order_cases() -> list[Case]:
    makers = (extreme_cases, sort_cases, search_cases, put_cases, mask_place_cases, qparam_cases)
    return [c for make in makers for c in make()]
