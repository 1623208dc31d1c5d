"""Arguments for one step of a random graph where they have to fit each other; by operator."""
from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from cases import B8, BF16, F16, F32, F64, FLOATS, I16, I32, I64, I8, INTS, U8
from graph_arguments import cut, dim, dims, dtype, generic, refolded, scalar, widened
from graphs import Ref, Unfit
from schemas import Row

if TYPE_CHECKING:
    from graph_maker import Maker

Made = tuple[tuple[Any, ...], dict[str, Any]]


def index_like(m: Maker, size: int, shape: list[int] | tuple[int, ...], negative: bool = False, distinct: bool = False, dtype: torch.dtype = I64) -> Ref:
    n = math.prod(shape)
    if size == 0 and n or distinct and n > size:
        raise Unfit
    v = torch.tensor(m.draw.sample(range(size), n) if distinct else [m.int(0, size - 1) for _ in range(n)], dtype=dtype)
    if negative:
        v = torch.where(torch.tensor([m.chance(0.3) for _ in range(n)], dtype=B8), v - size, v)
    return m.store(v.reshape(tuple(shape)))


def target(m: Maker, row: Row, *where: Any) -> Ref:
    a = m.owned() if row.macro == "QF_WRITE" else m.pick(*where)
    if not all(w(m.tensor(a)) for w in where):
        raise Unfit
    return a


def has_dims(t: Tensor) -> bool:
    return t.dim() > 0


def views(m: Maker, row: Row) -> Made:
    a = m.pick()
    t = m.tensor(a)
    size = refolded(m, t)
    if row.name == "aten._reshape_alias.default":
        if not t.is_contiguous() or t.numel() == 0:
            raise Unfit
        size = list(t.reshape(size).shape)
        return (a, size, list(t.view(size).stride())), {}
    return (a, size), {}


def strided(m: Maker, row: Row) -> Made:
    a = m.pick(lambda t: t.is_contiguous() and t.numel() > 3)
    rank = m.int(0, 3)
    size, stride = [m.int(1, 3) for _ in range(rank)], [m.int(0, 4) for _ in range(rank)]
    if sum((n - 1) * s for n, s in zip(size, stride)) >= m.tensor(a).numel():
        raise Unfit
    return (a, size, stride), {}


def expands(m: Maker, row: Row) -> Made:
    a = m.pick(lambda t: t.numel() < 300)
    return (a, widened(m, m.tensor(a))), {}


def permutes(m: Maker, row: Row) -> Made:
    a = m.pick()
    r = m.tensor(a).dim()
    return (a, [d - r if m.chance(0.3) else d for d in m.draw.sample(range(r), r)]), {}


def moves(m: Maker, row: Row) -> Made:
    a = m.pick(has_dims)
    r = m.tensor(a).dim()
    n = m.int(1, r)
    some = (m.draw.sample(range(r), n), m.draw.sample(range(r), n))
    return ((a, *some) if row.name.endswith("intlist") else (a, some[0][0], some[1][0])), {}


def unflattens(m: Maker, row: Row) -> Made:
    a = m.pick(has_dims)
    t = m.tensor(a)
    d = m.int(0, t.dim() - 1)
    return (a, d, refolded(m, torch.empty(t.shape[d]))), {}


def rolls(m: Maker, row: Row) -> Made:
    a = m.pick()
    d = dims(m, m.tensor(a))
    return (a, [m.int(-5, 5) for _ in d] or [m.int(-5, 5)], d), {}


def flips(m: Maker, row: Row) -> Made:
    a = m.pick()
    return (a, dims(m, m.tensor(a))), {}


def tiles(m: Maker, row: Row) -> Made:
    return (m.pick(lambda t: t.numel() < 200), [m.int(0 if m.chance(0.1) else 1, 3) for _ in range(m.int(0, 3))]), {}


def gathers(m: Maker, row: Row) -> Made:
    a = m.pick(has_dims)
    t = m.tensor(a)
    d = m.int(0, t.dim() - 1)
    shape = [m.int(0, n) if i != d else m.int(0, 5) for i, n in enumerate(t.shape)]
    if "take_along" in row.name:
        shape = [n if i != d else m.int(1, 5) for i, n in enumerate(t.shape)]
        return (a, index_like(m, t.shape[d], shape), d), {}
    return (a, d, index_like(m, t.shape[d], shape)), {}


def scatters(m: Maker, row: Row) -> Made:
    """Every place is written once, unless it is added to."""
    a = target(m, row, has_dims, lambda t: t.numel() > 0)
    t = m.tensor(a)
    d = m.int(0, t.dim() - 1)
    shape = [m.int(1, n) for n in t.shape]
    again = "add" in row.name or "reduce" in row.name
    if again:
        index = index_like(m, t.shape[d], shape)
    else:
        lines = torch.rand(*shape[:d], *shape[d + 1:], t.shape[d], generator=torch.Generator().manual_seed(m.int(0, 2**31))).argsort(-1)[..., :shape[d]]
        index = m.store(lines.movedim(-1, d).contiguous())
    named: dict[str, Any] = {}
    if "reduce" in row.name:
        how = m.one("sum", "prod", "mean", "amax", "amin") if "scatter_reduce" in row.name else m.one("add", "multiply")
        if "scatter_reduce" in row.name:
            return (a, d, index, m.new(shape, t.dtype), how), {"include_self": m.chance(0.5)}
        named = {"reduce": how}
    source = scalar(m, t) if ".value" in row.name else m.new(shape, t.dtype)
    return (a, d, index, source), named


def indexes(m: Maker, row: Row) -> Made:
    a = m.pick(has_dims)
    t = m.tensor(a)
    shape = [m.int(1, 3) for _ in range(m.int(0, 2))]
    index: list[Ref | None] = [index_like(m, n, shape, True, dtype=m.one(I64, I64, I32)) if m.chance(0.6) else None for n in t.shape]
    while index and index[-1] is None:
        index.pop()
    if not index:
        raise Unfit
    return (a, index), {}


def puts(m: Maker, row: Row) -> Made:
    a = target(m, row, has_dims, lambda t: t.numel() > 0)
    t = m.tensor(a)
    again = m.chance(0.3)
    n = m.int(1, min(t.shape[0], 4))
    if row.name.startswith(("aten.put.", "aten.put_.")):
        n = m.int(1, min(t.numel(), 5))
        return (a, index_like(m, t.numel(), [n], True, not again), m.new([n], t.dtype), again), {}
    index = [index_like(m, t.shape[0], [n], True, not again)]
    return (a, index, m.mate([n, *t.shape[1:]], t.dtype), again), {}


def index_dims(m: Maker, row: Row) -> Made:
    """index_select, index_add, index_copy, index_fill."""
    a = target(m, row, has_dims, lambda t: t.numel() > 0)
    t = m.tensor(a)
    d = m.int(0, t.dim() - 1)
    n = m.int(1, min(t.shape[d], 4))
    distinct = "copy" in row.name
    index = index_like(m, t.shape[d], [n], False, distinct)
    if "select" in row.name:
        return (a, d - t.dim() if m.chance(0.3) else d, index), {}
    if "fill" in row.name:
        return (a, d, index, m.new((), t.dtype) if "Tensor" in row.name else scalar(m, t)), {}
    source = m.new([n if i == d else s for i, s in enumerate(t.shape)], t.dtype)
    return (a, d, index, source), {}


def scattered_views(m: Maker, row: Row) -> Made:
    a = m.pick(has_dims)
    t = m.tensor(a)
    d = m.int(0, t.dim() - 1)
    if "select" in row.name:
        if not t.shape[d]:
            raise Unfit
        i = m.int(-t.shape[d], t.shape[d] - 1)
        return (a, m.new(t.select(d, i).shape), d, i), {}
    if "diagonal" in row.name:
        if t.dim() < 2:
            raise Unfit
        p, q = m.draw.sample(range(t.dim()), 2)
        k = m.int(-1, 1)
        return (a, m.new(t.diagonal(k, p, q).shape, t.dtype), k, p, q), {}
    start, end, step = m.int(-2, 2), m.one(None, m.int(-1, 4)), m.int(1, 2)
    return (a, m.new(torch.ops.aten.slice.Tensor(t, d, start, end, step).shape), d, start, end, step), {}


def embeddings(m: Maker, row: Row) -> Made:
    a = m.pick(lambda t: t.dim() == 2 and t.shape[0] > 0)
    return (a, index_like(m, m.tensor(a).shape[0], [m.int(0, 3) for _ in range(m.int(0, 2))], dtype=m.one(I64, I32))), {}


def takes(m: Maker, row: Row) -> Made:
    a = m.pick(lambda t: t.numel() > 0)
    return (a, index_like(m, m.tensor(a).numel(), [m.int(0, 4), 2], True)), {}


def one_hots(m: Maker, row: Row) -> Made:
    return (index_like(m, 6, [m.int(1, 3) for _ in range(m.int(0, 2))]), m.int(6, 9)), {}


def searches(m: Maker, row: Row) -> Made:
    edges = m.store(numbers_of(m, m.one(F32, I64, BF16, F64, I32), 7).sort()[0])
    of = scalar(m, None) if "Scalar" in row.name else m.pick(lambda t: t.dtype not in (B8,))
    named = {"out_int32": m.chance(0.5), "right": m.chance(0.5)}
    return ((of, edges) if "bucketize" in row.name else (edges, of)), named


def numbers_of(m: Maker, dtype: torch.dtype, n: int) -> Tensor:
    return torch.tensor([m.int(-12, 12) for _ in range(n)]).to(dtype)


def masked(m: Maker, row: Row) -> Made:
    a = target(m, row)
    t = m.tensor(a)
    mask = m.mate(t.shape, B8)
    if "scatter" in row.name:
        return (a, mask, m.new([t.numel() + m.int(0, 2)], t.dtype)), {}
    return (a, mask, scalar(m, t) if row.name.endswith("Scalar") else m.new(())), {}


def wheres(m: Maker, row: Row) -> Made:
    a = m.pick()
    mask = m.mate(m.tensor(a).shape, B8)
    how = row.name.rsplit(".", 1)[1]
    x = scalar(m, None) if how in ("Scalar", "ScalarSelf") else a
    y = scalar(m, None) if how in ("Scalar", "ScalarOther") else a if how == "ScalarSelf" else m.mate(m.tensor(a).shape)
    return (mask, x, y), {}


def products(m: Maker, row: Row) -> Made:
    """Of matrices and vectors, with what is added to them."""
    name = row.name.split(".")[1].rstrip("_")
    d = m.one(F32, F32, BF16, F16, F64, I64, I32)
    i, j, k, b = m.int(1, 5), m.int(0 if m.chance(0.1) else 1, 40), m.int(1, 9), m.int(1, 3)

    def of(*shape: int) -> Ref:
        return m.new(shape, d)

    scales = {"beta": m.one(1, 2, 0.5 if d.is_floating_point else 3), "alpha": m.one(1, 2, 0.5 if d.is_floating_point else 3)} if m.chance(0.5) else {}
    left = m.pick(lambda t: t.dtype == d and t.dim() == 2) if m.chance(0.4) else of(i, j)
    i, j = m.tensor(left).shape
    if name == "addmm":
        into = m.own(m.new([i, k], d)) if row.macro == "QF_WRITE" else m.mate([i, k], d)
        return (into, left, of(j, k)), scales
    if name == "baddbmm":
        into = m.own(m.new([b, i, k], d)) if row.macro == "QF_WRITE" else m.mate([b, i, k], d)
        return (into, of(b, i, j), of(b, j, k)), scales
    if name == "linear":
        return (left, of(k, j), m.one(None, of(k))), {}
    if name == "matmul":
        return m.one((left, of(j)), (of(i), of(i, j)), (of(b, i, j), of(j, k)), (of(b, 1, i, j), of(2, j, k)), (of(j), of(j))), {}
    shapes = {"mm": ((i, j), (j, k)), "bmm": ((b, i, j), (b, j, k)), "mv": ((i, j), (j,)), "dot": ((j,), (j,)), "vdot": ((j,), (j,)), "outer": ((i,), (k,))}
    x, y = shapes[name]
    return (left if x == (i, j) else of(*x), of(*y)), {}


def einsums(m: Maker, row: Row) -> Made:
    sizes = {"b": 2, "i": 3, "j": 4, "k": 5}
    equation = m.one("i,j->ij", "ij,jk->ik", "bij,bjk->bik", "bij,kj->bki", "ij,ij->", "ij,ij->ij", "ij,kj", "ijk,k->ji", "bik,bjk->ijb", "ij->ji", "ijk->k")
    d = m.one(F32, F64, BF16, I64)
    return (equation, [m.new([sizes[c] for c in part], d) for part in equation.split("->")[0].split(",")]), {}


def norms(m: Maker, row: Row) -> Made:
    name = row.name.split(".")[1]
    d, n = m.one(*FLOATS), m.int(1, 12)
    if "batch_norm" in name or "group_norm" in name:
        c, groups = m.int(1, 3) * 2, m.one(1, 2)
        x = m.new([2, c, n], d)
        # torch reads weights of group_norm as if they lay side by side
        w, b = (m.store(m.tensor(m.new([c], d)).contiguous()) if m.chance(0.7) or name == "_batch_norm_no_update" else None for _ in range(2))
        if name == "group_norm":
            return (x, groups, w, b), {}
        if name == "native_group_norm":
            return (x, w, b, 2, c, n, groups, 1e-5), {}
        stats = (m.new([c], d), m.store(numbers_of(m, F32, c).abs().to(d) + 1))
        flags = {"batch_norm": (False, 0.1, 1e-3, False), "native_batch_norm": (False, 0.1, 1e-3)}.get(name, (0.1, 1e-3))
        return (x, w, b, *stats, *flags), {}
    x = m.pick(lambda t: t.dtype == d and t.dim() > 0 and t.numel() > 0)
    shape = list(m.tensor(x).shape[m.int(0, m.tensor(x).dim() - 1):])
    w, b = (m.new(shape, d) if m.chance(0.7) else None for _ in range(2))
    if "rms" in name:
        return (x, shape, w, m.one(None, 1e-3)), {}
    return (x, shape, w, b, 1e-3), {}


def weight_norms(m: Maker, row: Row) -> Made:
    d, rank = m.one(F32, F64, BF16), m.int(2, 3)
    shape = [m.int(1, 6) for _ in range(rank)]
    k = m.one(0, rank - 1)
    # torch reads both as if they were row-major
    return tuple(m.store(m.tensor(m.new(s, d)).contiguous()) for s in (shape, [n if i == k else 1 for i, n in enumerate(shape)])) + (k,), {}


def prelus(m: Maker, row: Row) -> Made:
    x = m.pick(lambda t: t.is_floating_point() and t.dim() > 1)
    t = m.tensor(x)
    n = t.shape[1]
    if "kernel" in row.name:
        return (x, m.new([1, n] + [1] * (t.dim() - 2), t.dtype)), {}
    return (x, m.new([m.one(1, n)], t.dtype)), {}


def splits(m: Maker, row: Row) -> Made:
    a = m.pick(has_dims)
    d = dim(m, m.tensor(a))
    return (a, cut(m, m.tensor(a).shape[d]), d), {}


def selects(m: Maker, row: Row) -> Made:
    a = m.pick(has_dims)
    t = m.tensor(a)
    d = dim(m, t)
    n = t.shape[d]
    if "narrow" in row.name:
        start = m.int(-n, n)
        return (a, d, start, m.int(0, n - start % n if n and start < n else 0)), {}
    return (a, d, m.int(-n, n - 1) if n else 0), {}


def clamps(m: Maker, row: Row) -> Made:
    a = target(m, row)
    t = m.tensor(a)
    bounds = [m.mate(t.shape) if "Tensor" in row.name else scalar(m, t) for _ in range(2)]
    if "min" in row.name or "max" in row.name:
        return (a, bounds[0]), {}
    lost = m.int(0, 5)
    return (a, None if lost == 0 else bounds[0], None if lost == 1 else bounds[1]), {}


def shifts(m: Maker, row: Row) -> Made:
    a = target(m, row, lambda t: t.dtype in INTS)
    t = m.tensor(a)
    by = m.int(0, 5)
    if row.name.endswith("Scalar_Tensor"):
        return (m.int(-9, 9), m.store(torch.full(t.shape, by, dtype=t.dtype))), {}
    return (a, by if "Scalar" in row.name else m.store(torch.full(t.shape, by, dtype=t.dtype))), {}


def whole_divisions(m: Maker, row: Row) -> Made:
    """Integers are never divided by zero."""
    args, named = generic(m, row)
    divisor = m.tensor(args[1]) if isinstance(args[1], Ref) else torch.tensor(args[1])
    whole = not any(m.tensor(a).is_floating_point() if isinstance(a, Ref) else isinstance(a, float) for a in args[:2])
    if whole and bool((divisor == 0).any()):
        args = (args[0], m.store(torch.where(divisor == 0, torch.ones_like(divisor), divisor)) if isinstance(args[1], Ref) else 3, *args[2:])
    return args, named


def as_dtypes(m: Maker, row: Row) -> Made:
    a = m.pick()
    how = {"memory_format": m.one(torch.contiguous_format, torch.preserve_format)} if m.chance(0.3) else {}
    if row.name == "aten.to.device":
        return (a, torch.device("cpu"), dtype(m, None)), how
    if row.name == "aten.to.dtype":
        return (a, dtype(m, None), False, m.chance(0.5)), how
    return (a,), {"dtype": dtype(m, None), **how}


def aranges(m: Maker, row: Row) -> Made:
    a = [m.int(-5, 5), m.int(5, 40), m.int(1, 3)] if m.chance(0.7) else [float(m.int(-5, 5)), m.int(5, 40) + 0.5, m.one(1.0, 2.0, 0.25)]
    args = {"default": a[1:2], "start": a[:2], "start_step": a}[row.name.rsplit(".", 1)[1]]
    return tuple(args), {"dtype": dtype(m, None)} if m.chance(0.5) else {}


def sorts(m: Maker, row: Row) -> Made:
    args, named = generic(m, row)
    return args, named | {"stable": True} if row.name.endswith("stable") else named


def repeats_each(m: Maker, row: Row) -> Made:
    return (m.pick(lambda t: t.numel() < 500), m.int(0, 3), *m.one((), (0,), (-1,))), {}


def dropouts(m: Maker, row: Row) -> Made:
    return (m.pick(lambda t: t.is_floating_point()), 0.5, False), {}


def differences(m: Maker, row: Row) -> Made:
    a = m.pick(has_dims)
    t = m.tensor(a)
    d = m.int(0, t.dim() - 1)
    ends = [m.new([m.int(1, 2) if i == d else n for i, n in enumerate(t.shape)], t.dtype) if m.chance(0.3) else None for _ in range(2)]
    return (a, m.int(0, 3), d, *ends), {}


# ---- quantisation ----

RANGES = ((I8, -128, 127), (I8, -8, 7), (U8, 0, 255), (I16, -32768, 32767), (I8, -127, 127))


def quantised(m: Maker, shape: list[int] | None = None) -> tuple[Ref, tuple[Any, ...]]:
    d, low, high = m.one(*RANGES)
    if shape is None and m.chance(0.4):
        a = m.pick(lambda t: t.dtype == d)
        t = m.tensor(a)
        if t.numel() and (int(t.min()) < low or int(t.max()) > high):
            raise Unfit
        return a, (low, high, d)
    shape = shape or [m.int(1, 5), m.int(1, 4) * 4]
    return m.store(torch.tensor([m.int(low, high) for _ in range(math.prod(shape))], dtype=d).reshape(shape)), (low, high, d)


def scales(m: Maker, shape: list[int]) -> Ref:
    return m.store((torch.tensor([m.int(1, 400) for _ in range(math.prod(shape))]) * 0.0037).to(m.one(F32, F32, F64, BF16)).reshape(shape))


def zeros_at(m: Maker, shape: list[int]) -> Ref:
    return m.store(torch.tensor([m.int(0, 7) for _ in range(math.prod(shape))]).to(m.one(I64, I64, I32, F32)).reshape(shape))


def quants(m: Maker, row: Row) -> Made:
    """Operands with scales and zero points in the shape that the operator wants."""
    name, overload = row.name.split(".")[1:]
    back = name.startswith("de")
    if back:
        a, more = quantised(m, [m.int(1, 5), m.int(1, 4) * 4] if "token" in name or "group" in name else None)
    else:
        d, low, high = m.one(*RANGES)
        a, more = m.pick(lambda t: t.dtype in (F32, F32, F16, BF16) and t.dim() > ("per_tensor" not in name) and bool(t.isfinite().all())), (low, high, d)
    t = m.tensor(a)
    out = {"out_dtype": m.one(F16, BF16, F32)} if back and m.chance(0.3) else {}
    if "per_tensor" in name:
        if overload == "default":
            return (a, m.one(0.5, 0.0171, 0.3), m.int(0, 5), *more), out
        bounds = more if overload == "tensor" else (m.store(torch.tensor(more[0])), m.store(torch.tensor(more[1])), more[2])
        return (a, scales(m, []), m.store(torch.tensor(m.int(0, 5))), *bounds), out
    if t.dim() == 0:
        raise Unfit
    if "token" in name:
        shape = [*t.shape[:-1], 1]
        return (a, scales(m, shape), zeros_at(m, shape), *more, *((m.one(F32, BF16),) if back else ())), {}
    if "group" in name:
        if t.dim() != 2 or t.shape[1] % 4:
            raise Unfit
        shape = [t.shape[0], t.shape[1] // 4]
        return (a, scales(m, shape), zeros_at(m, shape), *more, 4, *((m.one(F32, BF16),) if back else ())), {}
    axis = m.int(0, t.dim() - 1)
    return (a, scales(m, [t.shape[axis]]), zeros_at(m, [t.shape[axis]]), axis, *more), out


def ranges(m: Maker, row: Row) -> Made:
    a = m.pick(lambda t: t.dtype in (F32, F16, BF16) and t.numel() > 0 and bool(t.isfinite().all()))
    if "token" in row.name:
        return (a, I8), {}
    d, low, high = m.one(*RANGES)
    return (a, low, high, m.one(2.0**-23, 1e-6), d), {}


FITTED: dict[str, Callable[[Maker, Row], Made]] = {
    **dict.fromkeys(("view", "reshape", "_unsafe_view", "view_copy", "_reshape_copy", "_reshape_alias"), views), **dict.fromkeys(("as_strided", "as_strided_copy"), strided),
    **dict.fromkeys(("expand", "broadcast_to", "expand_copy"), expands), **dict.fromkeys(("permute", "permute_copy"), permutes), "unflatten": unflattens,
    **dict.fromkeys(("movedim", "moveaxis"), moves), "roll": rolls, "flip": flips, "tile": tiles, **dict.fromkeys(("gather", "take_along_dim"), gathers),
    **dict.fromkeys(("scatter", "scatter_add", "scatter_reduce"), scatters), **dict.fromkeys(("index", "_unsafe_index"), indexes),
    **dict.fromkeys(("index_put", "_unsafe_index_put", "_index_put_impl", "put"), puts),
    **dict.fromkeys(("index_select", "index_add", "index_copy", "index_fill"), index_dims),
    **dict.fromkeys(("slice_scatter", "select_scatter", "diagonal_scatter"), scattered_views), "embedding": embeddings, "take": takes, "one_hot": one_hots,
    **dict.fromkeys(("bucketize", "searchsorted"), searches), **dict.fromkeys(("masked_fill", "masked_scatter"), masked), "where": wheres,
    **dict.fromkeys(("mm", "bmm", "mv", "dot", "vdot", "outer", "addmm", "baddbmm", "linear", "matmul"), products), "einsum": einsums,
    **dict.fromkeys(("batch_norm", "native_batch_norm", "_native_batch_norm_legit_no_training", "_batch_norm_no_update", "group_norm", "native_group_norm",
                     "layer_norm", "native_layer_norm", "rms_norm", "_fused_rms_norm"), norms), **dict.fromkeys(("_weight_norm", "_weight_norm_interface"), weight_norms),
    **dict.fromkeys(("prelu", "_prelu_kernel"), prelus), **dict.fromkeys(("split_with_sizes", "split_with_sizes_copy", "unsafe_split_with_sizes"), splits),
    **dict.fromkeys(("select", "select_copy", "narrow", "narrow_copy"), selects), **dict.fromkeys(("clamp", "clip", "clamp_min", "clamp_max"), clamps),
    **dict.fromkeys(("__lshift__", "__rshift__", "__ilshift__", "__irshift__", "bitwise_left_shift", "bitwise_right_shift"), shifts),
    **dict.fromkeys(("remainder", "fmod", "floor_divide", "div", "divide"), whole_divisions), **dict.fromkeys(("to", "_to_copy"), as_dtypes), "arange": aranges,
    **dict.fromkeys(("sort", "argsort"), sorts), "repeat_interleave": repeats_each, **dict.fromkeys(("dropout", "native_dropout"), dropouts), "diff": differences,
    **dict.fromkeys(("quantize_per_tensor", "quantize_per_channel", "quantize_per_token", "quantize_per_channel_group", "dequantize_per_tensor",
                     "dequantize_per_channel", "dequantize_per_token", "dequantize_per_channel_group"), quants),
    **dict.fromkeys(("choose_qparams", "choose_qparams_symmetric", "choose_qparams_per_token_asymmetric", "_choose_qparams_per_token_asymmetric_impl"), ranges),
}
FITTED_ROWS = {"aten.split.sizes": splits, "aten.to.other": generic, "aten.to.dtype_layout": as_dtypes}


def arguments(m: Maker, row: Row) -> Made:
    """Arguments of one call, or Unfit."""
    packet = row.name.split(".")[1]
    make = FITTED_ROWS.get(row.name) or FITTED.get(packet) or FITTED.get(packet.rstrip("_") if row.macro == "QF_WRITE" else packet)
    return make(m, row) if make else generic(m, row)
