"""Makes small random graphs of constants for differential.py: stored tensors, and steps that compute on them.

A step is an operator row of driver/io/aten_ops.def with arguments drawn by the words of its schema (graph_arguments.py); it is
run while the graph is made, and stays if torch takes it. So a new row is met without a line here, unless its arguments
have to fit each other. Everything follows from the seed."""
from __future__ import annotations

import random
import warnings
from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from cases import B8, BF16, F16, F32, F64, I16, I32, I64, I8, U8
from graph_bounds import allowance, defined
from graph_operands import arguments
from graphs import Graph, Ref, Step, Unfit, call, keep, refs
from schemas import TABLE, Row, read_rows

warnings.filterwarnings("ignore")
F8, F8_WIDE = torch.float8_e4m3fn, torch.float8_e5m2
USUAL = (F32, F32, F32, F32, F32, F64, F16, F16, BF16, BF16, I64, I64, I32, I16, I8, U8, B8, B8)
RARE = (F8, F8_WIDE, torch.complex64, torch.uint16, torch.uint32, torch.uint64)
SHAPES = ((), (), (1,), (3,), (8,), (67,), (257,), (4, 4), (2, 3), (3, 1), (1, 5), (9, 33), (2, 3, 4), (3, 1, 5), (2, 0, 3), (0,), (2, 2, 3, 2),
          (1, 1), (4, 2, 1, 3, 2))
LIMIT = 4000

# What these give has a size that depends on values, which no program may return as it is: ops.py has cases that look at it through something else.
SIZED_BY_VALUES = frozenset(("nonzero", "nonzero_numpy", "argwhere", "masked_select", "bincount", "repeat_interleave.Tensor", "repeat_interleave.self_Tensor", "item",
                             "_local_scalar_dense"))


def rows() -> list[Row]:
    """Those that compute tensors from tensors and numbers."""
    usable = []
    for row in read_rows(TABLE):
        module, _, name = row.name.partition(".")
        known = {name, name.split(".")[0]}
        if row.macro in ("QF_ATEN", "QF_WRITE", "QF_DEQUANTIZE") and module not in ("_operator", "math", "torch") and not known & SIZED_BY_VALUES \
                and not name.startswith("sym_"):
            usable.append(row)
    return usable


def numbers(dtype: torch.dtype, shape: Sequence[int], draw: random.Random) -> Tensor:
    """Values of a dtype: quarters whose sums are exact, ordinary ones, or what kernels go wrong on."""
    n = 1
    for d in shape:
        n *= d
    g = torch.Generator().manual_seed(draw.randrange(2**31))
    kind = draw.random()
    if dtype == B8:
        return torch.randint(0, 2, (n,), generator=g).bool().reshape(tuple(shape))
    if dtype.is_complex:
        return torch.complex(*(torch.randn(n, generator=g) for _ in range(2))).reshape(tuple(shape))
    if not dtype.is_floating_point:
        info = torch.iinfo(dtype)
        bits = draw.choice((3, 3, 6, 8, 16, 31))
        v = torch.randint(-(2**bits) if info.min < 0 else 0, 2**bits, (n,), generator=g)
        return v.clamp(max(info.min, -(2**62)), min(info.max, 2**62)).to(dtype).reshape(tuple(shape))
    v = torch.randint(-12, 13, (n,), generator=g) / 4.0
    if kind > 0.3:
        v = torch.randn(n, generator=g, dtype=F64) * draw.choice((0.1, 3, 3, 50))
    if kind > 0.85 and n:
        info, inf = torch.finfo(dtype), float("inf")
        odd = torch.tensor([0.0, -0.0, 1.0, inf, -inf, float("nan"), info.smallest_normal, info.max, -0.5, 2.5, info.eps], dtype=F64)
        v = torch.where(torch.rand(n, generator=g) < 0.3, odd[torch.randint(0, len(odd), (n,), generator=g)], v.double())
    return v.to(dtype).reshape(tuple(shape))


def laid_out(t: Tensor, draw: random.Random) -> Tensor:
    """The same values in other memory: turned, apart, behind others, repeated."""
    r, way = t.dim(), draw.random()
    if way < 0.55 or r == 0 or t.dtype in (F8, F8_WIDE):
        return t
    if way < 0.7:
        order = draw.sample(range(r), r)
        return t.permute(order).contiguous().permute([order.index(d) for d in range(r)])
    d = draw.randrange(r)
    if way < 0.8:
        return torch.stack([t, t], d + 1).select(d + 1, draw.randrange(2))
    if way < 0.9:
        return torch.cat([t, t], d).narrow(d, draw.randrange(t.shape[d] + 1), t.shape[d])
    return t.narrow(d, 0, 1).expand(t.shape) if t.shape[d] else t


class Maker:
    """The values that exist so far. `allowed` has those whose last bits are not defined."""

    def __init__(self, seed: int, table: Sequence[Row]) -> None:
        self.draw = random.Random(seed)
        self.graph = Graph(seed)
        self.table = table
        self.env = self.graph.values
        self.stored_at: set[int] = set()
        self.count = 0

    # ---- choosing ----

    def chance(self, p: float) -> bool:
        return self.draw.random() < p

    def one(self, *choices: Any) -> Any:
        return self.draw.choice(choices)

    def int(self, low: int, high: int) -> int:
        return self.draw.randint(low, high)

    def dtype(self) -> torch.dtype:
        return self.one(*RARE) if self.chance(0.02) else self.one(*USUAL)

    def tensor(self, a: Ref) -> Tensor:
        return self.env[a.name]

    def store(self, value: Tensor) -> Ref:
        name = f"c{len(self.graph.stored)}"
        self.graph.stored[name] = self.env[name] = value
        self.stored_at.add(value.untyped_storage().data_ptr())
        return Ref(name)

    def new(self, shape: Sequence[int], dtype: torch.dtype | None = None) -> Ref:
        """A stored tensor of this shape."""
        return self.store(laid_out(numbers(dtype or self.dtype(), shape, self.draw), self.draw))

    def exact(self) -> list[str]:
        return [n for n in self.env if n not in self.graph.allowed]

    def pick(self, *where: Any) -> Ref:
        """A value for which every condition holds, mostly a late one; sometimes, or where there is none, a new one."""
        names = [n for n in self.exact() if all(w(self.env[n]) for w in where)]
        if names and not self.chance(0.15):
            late = [n for n in names if n.startswith("v")][-4:]
            return Ref(self.draw.choice(late if late and self.chance(0.75) else names))
        for _ in range(20):
            value = laid_out(numbers(self.dtype(), self.one(*SHAPES), self.draw), self.draw)
            if all(w(value) for w in where):
                return self.store(value)
        raise Unfit

    def mate(self, shape: Sequence[int], dtype: torch.dtype | None = None) -> Ref:
        """Something that broadcasts with this shape without widening it."""
        def fits(t: Tensor) -> bool:
            if dtype is not None and t.dtype != dtype or t.dim() > len(shape):
                return False
            return all(d in (1, s) for d, s in zip(reversed(t.shape), reversed(shape)))
        names = [n for n in self.exact() if fits(self.env[n])]
        if names and self.chance(0.6):
            return Ref(self.draw.choice(names))
        part = list(shape)[self.one(0, 0, 0, self.int(0, len(shape))):]
        return self.new([1 if self.chance(0.15) else d for d in part], dtype)

    # ---- steps ----

    def result_names(self, result: Any) -> tuple[tuple[str, ...], bool]:
        many = isinstance(result, (list, tuple))
        n = len(result) if many else 1
        self.count += n
        return tuple(f"v{self.count - n + i}" for i in range(n)), many

    def add(self, row: Row, args: tuple[Any, ...], named: dict[str, Any]) -> None:
        bare = Step(row, args, named, (), False)
        env = self.env
        if row.macro == "QF_WRITE":
            env = self.env | {a.name: self.tensor(a).clone(memory_format=torch.preserve_format) for a in refs(args[:1])}
        result = call(bare, env)
        parts = result if isinstance(result, (list, tuple)) else [result]
        if not all(isinstance(t, Tensor) and t.numel() <= LIMIT and t.dim() <= 8 for t in parts) or not defined(bare, self.env, parts):
            raise Unfit
        allowed = allowance(bare, self.env, parts, self.graph.allowed)
        if row.macro == "QF_WRITE":
            self.write(bare, allowed[0])
            return
        out, many = self.result_names(result)
        step = Step(row, args, named, out, many)
        self.graph.steps.append(step)
        keep(self.env, step, result)
        self.graph.allowed |= {n: a for n, a in zip(out, allowed, strict=True) if a is not None}

    def write(self, step: Step, allowed: Tensor | None) -> None:
        """Changes all values that share the memory of the operand."""
        target = self.tensor(step.args[0])
        call(step, self.env)
        self.graph.steps.append(step)
        at = target.untyped_storage().data_ptr()
        shared = [n for n, t in self.env.items() if t.untyped_storage().data_ptr() == at]
        if allowed is None:
            return
        for n in shared:
            t = self.env[n]
            self.graph.allowed[n] = torch.full_like(t, float(allowed.max()) if allowed.numel() else 0, dtype=F64)

    def owned(self) -> Ref:
        """A value that may be written: of its own memory, no element twice."""
        def free(t: Tensor) -> bool:
            spread = sum(s * (d - 1) for s, d in zip(t.stride(), t.shape)) + 1
            return t.untyped_storage().data_ptr() not in self.stored_at and (t.numel() == 0 or spread >= t.numel()) and 0 not in t.stride()
        names = [n for n in self.exact() if free(self.env[n])]
        if names and self.chance(0.5):
            return Ref(self.draw.choice(names))
        return self.own(self.pick())

    def own(self, source: Ref) -> Ref:
        """A copy that only the graph knows."""
        self.add(self.row("aten.clone.default"), (source,), {})
        return Ref(f"v{self.count - 1}")

    def row(self, name: str) -> Row:
        return next(r for r in self.table if r.name == name)

    def attempt(self, row: Row) -> bool:
        steps = len(self.graph.steps)
        try:
            args, named = arguments(self, row)
            self.add(row, args, named)
        except (Unfit, RuntimeError, TypeError, ValueError, NotImplementedError, AssertionError, IndexError, OverflowError, ZeroDivisionError, KeyError):
            return len(self.graph.steps) > steps
        return True

    def make(self, order: Sequence[Row] = ()) -> Graph:
        """3 to 12 steps; the operators of `order` first, where they can."""
        with torch.no_grad():
            for _ in range(self.int(1, 3)):
                self.new(self.one(*SHAPES))
            if self.chance(0.3):  # two stored tensors in one memory
                first = self.pick()
                t = self.tensor(first)
                self.store(t.transpose(0, -1) if t.dim() and self.chance(0.5) else t.flatten()[:1] if t.numel() else t)
            n = self.int(3, 12)
            for row in order:
                any(self.attempt(row) for _ in range(12))
            tries = 0
            while len(self.graph.steps) < n and tries < 200:
                tries += 1
                self.attempt(self.draw.choice(self.table))
        self.finish()
        return self.graph

    def finish(self) -> None:
        """What no step takes is returned, and some of the rest."""
        taken = {a.name for s in self.graph.steps for a in refs((s.args, s.named))}
        made = [n for s in self.graph.steps for n in s.out]
        self.graph.results = [n for n in made if n not in taken or self.chance(0.2)] or made[-1:]
        used = taken | set(self.graph.results)
        self.graph.stored = {n: t for n, t in self.graph.stored.items() if n in used}
