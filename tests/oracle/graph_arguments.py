"""Arguments for one step of a random graph, by the words of the operator's schema: each by its type and its name."""
from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from cases import B8, BF16, F16, F32, F64, FLOATS, I16, I32, I64, I8, INTS, U8
from graphs import Ref, Unfit
from schemas import Row, find_op

if TYPE_CHECKING:
    from graph_maker import Maker

SCALARS = (0, 1, 2, 3, -1, -2, 7, True, 0.5, -1.25, 2.5, 3.0, 0.1, -0.0, 1e-3, 300)
DTYPES = (*FLOATS, *INTS, torch.bool)


# ---- arguments that stand alone, by name ----

def dim(m: Maker, t: Tensor) -> int:
    return m.int(-t.dim(), t.dim() - 1) if t.dim() else m.one(0, -1)


def dims(m: Maker, t: Tensor) -> list[int]:
    some = m.draw.sample(range(t.dim()), m.int(0, t.dim()))
    return [d - t.dim() if m.chance(0.3) else d for d in some]


def dtype(m: Maker, t: Tensor | None) -> torch.dtype:
    return m.one(*DTYPES) if m.chance(0.97) else m.one(torch.float8_e4m3fn, torch.float8_e5m2)


def scalar(m: Maker, t: Tensor | None) -> Any:
    if t is not None and not t.is_floating_point() and m.chance(0.6):
        return m.int(-3, 9)
    return m.one(*SCALARS) if m.chance(0.9) else m.one(float("inf"), float("-inf"), float("nan"), 1e10, -3.4e38)


def some_shape(m: Maker, t: Tensor | None) -> list[int]:
    return [m.int(0, 1) if m.chance(0.1) else m.int(1, 6) for _ in range(m.int(0, 3))]


def refolded(m: Maker, t: Tensor) -> list[int]:
    """A shape of as many elements."""
    n, out = t.numel(), []
    if n == 0:
        return [0, m.int(1, 3)]
    for p in (2, 3, 2, 5, 7, 11):
        if n % p == 0 and m.chance(0.6):
            out.append(p)
            n //= p
    out += [n if m.chance(0.7) else -1] + [1] * m.chance(0.2)
    m.draw.shuffle(out)
    return out


def widened(m: Maker, t: Tensor) -> list[int]:
    return [m.int(1, 3) for _ in range(m.int(0, 2))] + [m.int(1, 4) if d == 1 and m.chance(0.8) else m.one(d, d, -1) for d in t.shape]


PLAIN: dict[str, Callable[[Maker, Any], Any]] = {
    **dict.fromkeys(("dim", "dim0", "dim1", "dim2", "axis0", "axis1", "dimension", "start_dim", "end_dim", "axis", "source", "destination"), dim),
    **dict.fromkeys(("dtype", "out_dtype", "output_dtype"), dtype),
    **dict.fromkeys(("offset", "diagonal"), lambda m, t: m.int(-3, 3)),
    **dict.fromkeys(("index",), lambda m, t: m.int(-3, 2)),
    **dict.fromkeys(("start",), lambda m, t: m.int(-4, 4)), "end": lambda m, t: m.one(None, m.int(-3, 9), 2**63 - 1), "length": lambda m, t: m.int(0, 3),
    "step": lambda m, t: m.int(1, 3), "split_size": lambda m, t: m.int(1, 4), "chunks": lambda m, t: m.int(1, 4), "k": lambda m, t: m.int(0, 4),
    "n": lambda m, t: m.int(0, 5), "m": lambda m, t: m.int(0, 5), "row": lambda m, t: m.int(0, 5), "col": lambda m, t: m.int(0, 5),
    "steps": lambda m, t: m.int(0, 40), "size": lambda m, t: m.int(1, 4), "repeats": lambda m, t: m.int(0, 3), "num_classes": lambda m, t: 9,
    "fill_value": scalar, "training": lambda m, t: False, "train": lambda m, t: False, "p": lambda m, t: 0.5, "minlength": lambda m, t: m.int(0, 9),
    "rounding_mode": lambda m, t: m.one(None, "floor", "trunc"), "approximate": lambda m, t: m.one("none", "tanh"),
    "indexing": lambda m, t: m.one("ij", "xy"), "correction": lambda m, t: m.one(None, 0, 1, 2), "ord": lambda m, t: m.one(0, 1, 2, 3, math.inf, -math.inf),
    "eps": lambda m, t: m.one(1e-5, 1e-3), "momentum": lambda m, t: 0.1, "exponent": lambda m, t: m.one(0, 1, 2, 3, -1, 0.5, -0.5, 2.0, 1.7),
    "half_to_float": lambda m, t: False, "device": lambda m, t: "cpu", "memory_format": lambda m, t: m.one(torch.contiguous_format, torch.preserve_format),
    "side": lambda m, t: None, "layout": lambda m, t: None,
}
DEFAULT_ONLY = frozenset("""layout pin_memory path sorter sparse sparse_grad scale_grad_by_freq non_blocking cudnn_enabled cudnn_enable padding_idx
    implicit output_size side device storage_offset unsafe""".split())
PLAIN_LISTS: dict[str, Callable[[Maker, Any], Any]] = {
    "dim": dims, "size": some_shape, "normalized_shape": lambda m, t: list(t.shape[m.int(0, max(t.dim() - 1, 0)):]),
    "pad": lambda m, t: [m.int(-1, 2) for _ in range(2 * m.int(0, t.dim()))], "repeats": lambda m, t: some_shape(m, t)[:1] + [m.int(0, 2) for _ in t.shape],
    "split_sizes": lambda m, t: cut(m, t.shape[0] if t.dim() else 0), "split_size": lambda m, t: cut(m, t.shape[0] if t.dim() else 0),
}


def cut(m: Maker, n: int) -> list[int]:
    out = []
    while n:
        out.append(m.int(0 if m.chance(0.1) else 1, n))
        n -= out[-1]
    return out


def generic(m: Maker, row: Row, first: Ref | None = None) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Each argument by its type and its name; defaults where they stand, now and then."""
    args: list[Any] = []
    named: dict[str, Any] = {}
    t = m.tensor(first) if first else None
    for a in find_op(row.name)._schema.arguments:
        kind = str(a.type)
        if a.has_default_value() and (a.name in DEFAULT_ONLY or m.chance(0.35)):
            value = a.default_value
            if not a.kwarg_only:
                args.append(int_dtype(value, a.name))
            continue
        if kind in ("Tensor", "Optional[Tensor]"):
            if t is None:
                first = first or (m.owned() if row.macro == "QF_WRITE" else m.pick())
                value, t = first, m.tensor(first)
            elif first is not None and not args:
                value = first
            else:
                value = m.mate(t.shape)
        elif kind == "List[Tensor]":
            value = fellows(m, row.name)
            t = m.tensor(value[0])
        elif kind in ("number", "Optional[number]", "float", "Optional[float]"):
            value = PLAIN[a.name](m, t) if a.name in ("eps", "momentum", "p", "ord", "correction", "exponent") else scalar(m, t)
            value = float(value) if "float" in kind else value
        elif kind in ("bool", "Optional[bool]"):
            value = False if a.name in ("training", "train", "half_to_float") else m.chance(0.5)
        elif "List[int]" in kind:
            value = PLAIN_LISTS[a.name](m, t)
        else:
            value = PLAIN[a.name](m, t)
        if a.kwarg_only:
            named[a.name] = value
        else:
            args.append(value)
    return tuple(args), named


def int_dtype(value: Any, name: str) -> Any:
    """torch's schemas give element types as numbers, which python does not take."""
    return None if name == "dtype" and isinstance(value, int) else value


def fellows(m: Maker, name: str) -> list[Ref]:
    first = m.pick(lambda t: t.dim() < 5)
    shape = m.tensor(first).shape
    if "meshgrid" in name:
        return [m.pick(lambda t: t.dim() <= 1 and t.numel() < 10) for _ in range(m.int(1, 3))]
    return [first] + [m.mate(shape) if "broadcast" in name else m.pick(lambda t: t.shape == shape) if m.chance(0.5) else m.new(shape) for _ in range(m.int(0, 3))]
