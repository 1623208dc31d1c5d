"""Makes small random programs for programs.py: a module with stored tensors, and a forward of one statement a line.

A statement is tried on real tensors while the program is made and stays if torch takes it, so the grammar below needs no
shape rules of its own. Everything follows from the seed."""
from __future__ import annotations

import random
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import torch
import torch.ao.quantization.fx._decomposed  # noqa: F401  registers quantized_decomposed
from torch import Tensor, nn

warnings.filterwarnings("ignore")
DTYPES = (torch.float32, torch.float64, torch.float16, torch.bfloat16, torch.int8, torch.uint8, torch.int16, torch.int32, torch.int64,
    torch.bool)
COMMON = (torch.float32,) * 12 + DTYPES
SHAPES = ((), (1,), (4,), (4,), (2, 3), (3, 4), (4, 4), (4, 4), (1, 4), (4, 1), (2, 3, 4), (2, 2, 4), (1, 4, 4), (2, 0, 3), (2, 1, 3, 4),
    (5, 7), (17,), (2, 2, 2, 2, 2))
LIMIT = 100_000


def values(dtype: torch.dtype, shape: tuple[int, ...], seed: int) -> Tensor:
    """Small multiples of 1/4: sums and products of a few are exact in every float type."""
    draw = random.Random(seed)
    n = 1
    for d in shape:
        n *= d
    low = 0 if dtype in (torch.uint8, torch.bool) else -12
    flat = [draw.randint(low, 12) / (4 if dtype.is_floating_point else 1) for _ in range(n)]
    if dtype.is_floating_point and draw.random() < 0.08 and n:
        flat[draw.randrange(n)] = draw.choice((float("inf"), float("-inf"), float("nan"), -0.0))
    return torch.tensor([v > 6 for v in flat] if dtype == torch.bool else flat, dtype=torch.float64 if dtype != torch.bool else dtype).to(dtype).reshape(shape)


SCOPE = {"torch": torch, "nn": nn, "values": values, "A": torch.ops.aten, "Q": torch.ops.quantized_decomposed, "F": nn.functional}


@dataclass
class Program:
    """Text of a module, in parts that can be left out one by one."""
    stored: list[str] = field(default_factory=list)
    body: list[str] = field(default_factory=list)
    results: list[str] = field(default_factory=list)
    inexact: set[str] = field(default_factory=set)
    dynamic: bool = False

    def code(self) -> str:
        def lines(statements: list[str]) -> str:
            return "".join("        " + s.replace("\n", "\n        ") + "\n" for s in statements)
        return ("class M(nn.Module):\n    def __init__(m):\n        super().__init__()\n" + lines(self.stored)
                + "    def forward(m, x, i):\n" + lines(self.body) + f"        return ({''.join(r + ', ' for r in self.results)})\n")

    def module(self) -> nn.Module:
        scope = dict(SCOPE)
        exec(self.code(), scope)
        return scope["M"]().eval()

    def without(self, part: str, first: int, last: int) -> Program:
        kept = {p: list(getattr(self, p)) for p in ("stored", "body", "results")}
        del kept[part][first:last]
        return Program(**kept, inexact=self.inexact, dynamic=self.dynamic)


def inputs(step: int, dynamic: bool = False) -> tuple[Tensor, Tensor]:
    n = 4 + step if dynamic else 4
    return values(torch.float32, (n, 4), 90 + step), values(torch.int64, (4,), 95 + step).abs() % 4


# How often each kind of statement is made, in the order of Maker.statement: a bit of everything; memory that is shared and written; quantised weights.
PROFILES = ((24, 16, 5, 9, 10, 4, 2, 5, 1, 1, 6, 12), (24, 6, 2, 12, 4, 1, 0, 1, 0, 0, 3, 30), (20, 6, 2, 3, 6, 0, 0, 24, 0, 0, 8, 3))


class Maker:
    """The names that exist so far, by what they hold. `fixed` names depend on no input and on no state."""

    def __init__(self, seed: int) -> None:
        self.draw = random.Random(seed)
        self.program = Program(dynamic=self.draw.random() < 0.1)
        self.m = nn.Module()
        self.env: dict[str, Any] = {"m": self.m, **SCOPE, **dict(zip("xi", inputs(0)))}
        self.fixed: set[str] = set()
        self.count = 0
        self.weights = self.draw.choice(PROFILES)

    # ---- choosing ----

    def chance(self, p: float) -> bool:
        return self.draw.random() < p

    def pick(self, where: Callable[[Tensor], bool] = lambda t: True, fixed: bool | None = None) -> str:
        """A name whose tensor satisfies `where`; mostly a recent one, mostly constant."""
        want_fixed = self.chance(0.8) if fixed is None else fixed
        names = [n for n in self.tensors() if where(self.tensor(n))]
        names = [n for n in names if (n in self.fixed) == want_fixed] or names
        if not names:
            raise LookupError
        recent = [n for n in names if n.startswith("v")][-6:]
        return self.draw.choice(recent if recent and self.chance(0.6) else names)

    def tensors(self) -> list[str]:
        return [n for n in self.env if (n.startswith("v") or n in "xi") and isinstance(self.env[n], Tensor)] + [f"m.{n}" for n in self.stored_names()]

    def stored_names(self) -> list[str]:
        return [n for n in vars(self.m).get("_parameters",
            {})] + [n for n in self.m._buffers] + [n for n, v in vars(self.m).items() if isinstance(v, Tensor)]

    def tensor(self, name: str) -> Tensor:
        return getattr(self.m, name[2:]) if name.startswith("m.") else self.env[name]

    def int(self, low: int, high: int) -> int:
        return self.draw.randint(low, high)

    def one(self, *choices: Any) -> Any:
        return self.draw.choice(choices)

    def scalar(self, t: Tensor) -> str:
        return str(self.one(0.5, 2.0, -1.25, 3.0, 0.0) if t.dtype.is_floating_point and self.chance(0.7) else self.one(0, 1, 2, 3, -1, True, 2.5))

    # ---- stored tensors ----

    def store(self, text: str) -> None:
        try:
            exec(text, self.env)
        except (RuntimeError, LookupError, TypeError, ValueError):
            return
        self.program.stored.append(text)
        self.fixed |= {f"m.{n}" for n in self.stored_names()}

    def make_stored(self) -> None:
        for k in range(self.int(2, 6)):
            dtype, shape = self.one(*COMMON), self.one(*SHAPES)
            seed = self.int(0, 10 ** 6)
            value = f"values({dtype}, {shape}, {seed})"
            if self.chance(0.3):
                value += self.layout(len(shape))
            if dtype.is_floating_point and self.chance(0.5):
                self.store(f"m.p{k} = nn.Parameter({value})")
            elif self.chance(0.15):
                self.store(f"m.c{k} = {value}")
            else:
                self.store(f"m.register_buffer('b{k}', {value}, persistent={self.chance(0.5)})")
        for k in range(self.int(0, 3)):
            if not self.stored_names():
                break
            name = self.draw.choice(self.stored_names())
            view = f"m.{name}.detach()" + (self.view_suffix(self.tensor(f'm.{name}')) if self.chance(0.7) else "")
            if name.startswith("p") and self.chance(0.4):
                self.store(f"m.tied{k} = m.{name}")
            else:
                self.store(f"m.register_buffer('s{k}', {view}, persistent={self.chance(0.5)})")

    def layout(self, rank: int) -> str:
        """A suffix that keeps values and changes strides."""
        if rank == 0:
            return ""
        return self.one(f".transpose(0, {rank - 1})", ".repeat(2" + ", 1" * (rank - 1) + ")[::2]", ".flip(0)",
                        f".unsqueeze({self.int(0, rank)}).transpose(0, {rank})",
                        ".expand(3" + ", -1" * rank + ")", f".transpose(0, {rank - 1}).contiguous().transpose(0, {rank - 1})")

    # ---- statements ----

    def view_suffix(self, t: Tensor) -> str:
        """What selects or reorders elements of `t`, as the text behind its name."""
        r = t.dim()
        if r == 0:
            return self.one(".unsqueeze(0)", ".view(1, 1)", ".expand(3)", ".detach()", ".reshape(1)")
        d, e = self.int(0, r - 1), self.int(0, r - 1)
        n = t.shape[d]
        a = self.int(0, max(n - 1, 0))
        order = list(range(r))
        self.draw.shuffle(order)
        index = [":"] * r
        index[d] = self.one(f"{a}:", f":{a + 1}", f"::{self.int(1, 3)}", f"{a}:{self.int(a, n + 1)}", f"-{a + 1}:", f"{a}" if n else ":",
                            f"-{min(a, n - 1) + 1}" if n else ":")
        if r > 1 and self.chance(0.3):
            index[e] = self.one("None, :", ":", f"{self.int(0, 1)}:")
        shape = list(t.shape)
        return self.one(
            f".permute({order})", f".transpose({d}, {e})", ".T" if r == 2 else ".mT" if r > 1 else ".t()", f".movedim({d}, {e})",
            f".swapaxes({d}, {e})",
            f"[{', '.join(index)}]", f"[{', '.join(index)}]", f"[{', '.join(index)}]", f".narrow({d}, {a}, {self.int(0, n - a)})",
            f".select({d}, {a})",
            f".unsqueeze({self.int(-1, r)})", ".squeeze()", f".squeeze({d})", ".flatten()", ".view(-1)", ".reshape(-1)",
            f".flatten({min(d, e)}, {max(d, e)})",
            f".view({self.factor(t.numel())})", f".reshape({self.factor(t.numel())})", f".expand({[self.int(1, 3), *shape]})",
            f".expand({[3 if s == 1 else -1 for s in shape]})", ".detach()", ".contiguous()", f".to({t.dtype})",
            f".chunk(2, {d})[{self.int(0, 1)}]", f".split({self.int(1, 2)}, {d})[0]",
            f".unbind({d})[{a}]", f".diagonal({self.int(-1, 1)})" if r > 1 else ".alias_copy()",
            f".unfold({d}, {self.int(1, 2)}, {self.int(1, 2)})", f".view({t.dtype})",
            f".unflatten({d}, {self.factor(n) if n else (0,)})",
            f".view_as({'m.' + self.stored_names()[0] if self.stored_names() else 'x'})")

    def factor(self, n: int) -> tuple[int, ...]:
        if n == 0:
            return (0, self.int(1, 3))
        out = []
        for d in (2, 3, 2, 4, 5, 7):
            if n % d == 0 and self.chance(0.6):
                out.append(d)
                n //= d
        out.append(n if self.chance(0.7) else -1)
        if self.chance(0.3):
            out.insert(self.int(0, len(out)), 1)
        self.draw.shuffle(out)
        return tuple(out)

    def view(self) -> str:
        a = self.pick()
        text = a + self.view_suffix(self.tensor(a))
        while self.chance(0.3):
            text += self.view_suffix(eval(text, self.env))
        return text

    def other(self, a: str) -> str:
        """A tensor or number that `a` may meet."""
        t = self.tensor(a)
        if self.chance(0.3):
            return self.scalar(t)

        def fits(o: Tensor) -> bool:
            try:
                return len(torch.broadcast_shapes(o.shape, t.shape)) <= 6
            except RuntimeError:
                return False
        return self.pick(fits)

    def point(self) -> str:
        a = self.pick()
        t, b = self.tensor(a), self.other(a)
        return self.one(f"{a} + {b}", f"{a} * {b}", f"{a} - {b}", f"{b} - {a}", f"torch.add({a}, {b}, alpha=2)", f"{a} / 4", f"-{a}",
                        f"{a}.abs()", f"{a} == {b}", f"{a} < {b}",
                        f"torch.where({a} > 0, {a}, {b})", f"{a}.masked_fill({a} < 1, {self.scalar(t)})",
                        f"{a}.clamp(-1, {self.int(0, 2)})", f"{a}.clamp(min=0)", f"~{a}", f"{a} & {b}", f"{a} | {b}",
                        f"{a}.logical_not()", f"{a}.floor()", f"{a}.round()", f"{a}.sign()", f"{a}.square()", f"{a}.relu()", f"{a} // 2",
                        f"{a} % 3", f"{a}.isnan()", f"{a} ^ {b}", f"{a} >> 1",
                        f"{a}.type_as({self.pick()})", f"{a}.abs().sqrt()", f"{a}.trunc()", f"{a}.ceil()", f"{a} ** 2",
                        f"torch.maximum({a}, {a})")

    def cast(self) -> str:
        a = self.pick()
        d = self.one(*DTYPES)
        return self.one(f"{a}.to({d})", f"{a}.to({d}, copy=True)", f"{a}.float()", f"{a}.half()", f"{a}.bool()", f"{a}.long()",
                        f"{a}.to('cpu')", f"{a}.double()", f"{a}.bfloat16()")

    def create(self) -> str:
        shape, d = self.one(*SHAPES), self.one(*COMMON)
        a = self.pick()
        return self.one(f"torch.zeros({shape}, dtype={d})", f"torch.ones({shape}, dtype={d})", f"torch.full({shape}, {self.int(-3, 3)})",
                        f"torch.full({shape}, 1.5, dtype={d})", f"torch.full({shape}, True)",
                        f"torch.arange({self.int(0, 9)})", f"torch.arange({self.int(-3, 3)}, 12, {self.int(1, 3)}, dtype={d})",
                        f"torch.arange(5, -3, -2)", "torch.arange(0, 1, 0.25)",
                        f"torch.eye({self.int(0, 4)}, dtype={d})", f"torch.zeros_like({a})", f"torch.full_like({a}, 2)",
                        f"{a}.new_zeros({shape})", f"torch.ones_like({a}, dtype={d})",
                        "torch.tensor([1.0, -2.0, 3.5, 0.25])", "torch.tensor([[1, 2], [3, 4]])", "torch.tensor(3)", "torch.tensor(True)",
                        "torch.tensor(1.5, dtype=torch.float64)", "torch.scalar_tensor(2.5)",
                        f"{a}.clone()", f"torch.empty({shape}, dtype={d}).fill_(1)", f"torch.zeros({shape}, dtype={d})",
                        f"torch.zeros(4, 4, dtype={d})", f"torch.arange(16, dtype={d}).view(4, 4)", f"{a}.new_full({shape}, 3)",
                        f"torch.tril(torch.ones(4, 4, dtype={d}))", f"torch.zeros(700, 700, dtype={d})[3]",
                        f"(torch.arange(300000) * 2)[{self.int(0, 9)}:20:3]", "torch.arange(90000).view(300, 300).t()[7, 3:8]",
                        f"torch.full((500, 500), 0.5)[{self.int(0, 9)}:{self.int(10, 12)}, 2:6]")

    def piece(self) -> str:
        a = self.pick(lambda t: t.dim() > 0)
        t = self.tensor(a)
        b = self.pick(lambda o: o.shape == t.shape)
        d = self.int(0, t.dim() - 1)
        n = max(t.shape[d], 1)
        rows = [self.int(-n, n - 1) for _ in range(self.int(1, 3))]
        ids = self.pick(lambda o: o.dtype == torch.int64 and o.dim() <= 2)
        return self.one(f"torch.cat([{a}, {b}], {d})", f"torch.cat([{a}, {a}, {b}], -1)",
                        f"torch.stack([{a}, {b}], {self.int(0, t.dim())})", f"F.pad({a}, ({self.int(-1, 2)}, {self.int(0, 2)}), value=1)",
                        f"{a}.roll({self.int(-2, 2)}, {d})",
                        f"{a}.triu({self.int(-1, 1)})", f"{a}.tril()", f"{a}.repeat({[2] + [1] * t.dim()})",
                        f"{a}.repeat_interleave(2, {d})", f"{a}.flip({d})", f"{a}[{rows}]",
                        f"{a}.index_select({d}, torch.tensor({[r % n for r in rows]}))",
                        f"{a}[torch.tensor({rows}), ...]", f"{a}.tile(2)", f"{a}[{ids} % {t.shape[0] or 1}]",
                        f"{a}.cumsum({d}, dtype=torch.int64)", f"F.embedding({ids} % {t.shape[0] or 1}, {a})",
                        f"{a}.gather({d}, torch.zeros_like({a}, dtype=torch.int64))",
                        f"{a}.diff()", f"{a}.rot90()", f"torch.hstack([{a}, {b}])",
                        f"{a}.scatter({d}, torch.zeros_like({a}, dtype=torch.int64), {self.int(0, 3)})",
                        f"{a}.index_fill({d}, torch.tensor([0]), 2)",
                        f"{a}.slice_scatter({b}, {d})", f"{a}.select_scatter({b}.select({d}, 0), {d}, 0)",
                        f"torch.meshgrid({a}, {a}, indexing='ij')[1]", f"{a}.unsafe_split(1, {d})[0]", f"{a}.diag()",
                        f"{a}.narrow_copy({d}, 0, 1)")

    def reduce(self) -> str:
        a = self.pick(lambda t: t.dim() > 0)
        d = self.int(0, self.tensor(a).dim() - 1)
        return self.one(f"{a}.long().sum({d})", f"{a}.to(torch.int32).sum()", f"{a}.amax({d})", f"{a}.amin()", f"{a}.any({d})",
                        f"{a}.all()", f"{a}.argmax({d})", f"{a}.max({d})[0]", f"{a}.max({d})[1]", f"{a}.min({d}, keepdim=True).values",
                        f"{a}.sort({d})[0]", f"{a}.topk(1, {d}).indices", f"{a}.bool().sum({d}, keepdim=True)", f"{a}.numel()",
                        f"{a}.long().prod({d})", f"{a}.count_nonzero()")

    def inexact(self) -> str:
        a = self.pick(lambda t: t.dtype == torch.float32)
        t = self.tensor(a)
        return self.one(f"{a}.exp()", f"{a}.sin()", f"{a}.sum()", f"{a}.mean()", f"{a}.softmax(-1)", f"{a}.sigmoid()", f"{a}.tanh()",
                        f"{a}.sum(0)", f"{a}.rsqrt()", f"{a} @ {self.pick(lambda o: o.dtype == t.dtype and o.dim() > 0)}",
                        f"F.linear({a}, {self.pick(lambda o: o.dtype == t.dtype and o.dim() == 2)})",
                        f"torch.einsum('ij,kj->ik', {a}, {a})", f"F.layer_norm({a}, (4,))", f"{a}.norm(dim=0)", f"F.gelu({a})",
                        f"{a}.var(0)", f"torch.arange(0, 1, 0.1) * {a}.cos()[..., :1]")

    def quantise(self) -> str:
        a = self.pick(lambda t: t.dtype == torch.float32)
        q = self.pick(lambda t: t.dtype == torch.int8 and t.dim() > 0)
        axis = self.int(0, self.tensor(q).dim() - 1)
        n = self.tensor(q).shape[axis]
        one = f"Q.dequantize_per_tensor({q}, {self.one(0.5, 0.02)}, {self.int(-3, 3)}, -128, 127, torch.int8)"
        many = f"Q.dequantize_per_channel({q}, torch.arange(1, {n + 1}) / 4, torch.zeros({n}, dtype=torch.int64), {axis}, -128, 127, torch.int8)"
        return self.one(f"Q.quantize_per_tensor({a}, {self.one(0.5, 0.02, 0.3)}, {self.int(-3, 3)}, -128, 127, torch.int8)", one,
                        many, many, many + self.view_suffix(self.tensor(q)), one + self.view_suffix(self.tensor(q)),
                        f"Q.quantize_per_tensor({one}, 0.25, 3, -128, 127, torch.int8)", many)

    def chancy(self) -> str:
        a = self.pick(lambda t: t.dtype == torch.float32)
        return self.one(f"torch.rand_like({a})", "torch.rand(4)", f"F.dropout({a}, 0.5, training=True)",
                        f"torch.bernoulli({a}.clamp(0, 1).nan_to_num())", "torch.randint(0, 5, (4,))",
                        f"F.dropout({a}, 0.5, training=False)", "torch.randn(2, 3)", "torch.randperm(4)",
                        f"torch.empty_like({a}).copy_({a})")

    def number(self) -> str:
        a = self.pick(lambda t: t.dim() == 0 and t.dtype in (torch.int64, torch.int32), fixed=True)
        return self.one(f"{a}.item()", f"int({a}) + 1", f"{self.pick()}.shape[-1]", f"x.shape[0] * 2", f"float({a})")

    def meets_input(self) -> str:
        a = self.pick(fixed=True)
        x = self.pick(fixed=False)
        return self.one(f"{x} + {a}", f"{x} * {a}", f"{a} - {x}", f"torch.where({x} > 0, {x}, {a})", f"F.linear({x}, {a})", f"{x} @ {a}",
                        f"torch.cat([{x}, {a}])", f"{a}[i % {max(len(self.tensor(a)), 1) if self.tensor(a).dim() else 1}]",
                        f"F.embedding(i % 2, {a})", f"{x}.masked_fill({a}.bool(), 0)", f"{x}.view({a}.shape)",
                        f"{x} + {a}.reshape(-1)[:4]")

    def write(self) -> str:
        """An in-place statement, often through a chain of views. Text without a result."""
        a = self.pick(lambda t: not t.requires_grad or not t.is_leaf, fixed=self.chance(0.85))
        if a in ("x", "i"):
            raise LookupError
        if a.startswith("m.") and self.chance(0.7):
            a = self.pick(lambda t: t.dim() > 0, fixed=True)
        text = a
        while self.chance(0.6):
            text += self.view_suffix(eval(text, self.env))
        t = eval(text, self.env)
        b = self.pick(lambda o: o.dim() <= t.dim() and not (o.is_floating_point() and not t.is_floating_point()))
        s = self.scalar(t)
        r = max(t.dim(), 1)
        return self.one(f"{text}.fill_({s})", f"{text}.add_({s})", f"{text}.mul_(2)", f"{text}.copy_({b})", f"{text}.add_({b})",
                        f"{text}.mul_({b})", f"{text}.zero_()", f"{text}.masked_fill_({text} > 0, {s})",
                        f"{text}.clamp_(-1, 1)", f"{text}.neg_()", f"{text}.relu_()", f"{text}[...] = {b}", f"{text}[0] = {s}",
                        f"{text} += {b}" if text == a and not a.startswith("m.") else f"{text}.sub_({s})",
                        f"{text}.index_fill_(0, torch.tensor([0]), {s})",
                        f"{text}[{text} > 0] = {s}", f"{text}.tril_()",
                        f"{text}.index_copy_({self.int(0, r - 1)}, torch.tensor([0]), {text}[:1] * 2)", f"{text}.bernoulli_(0.5)",
                        f"{text}.index_put_((torch.tensor([0]),), torch.tensor({s}).to({t.dtype}))",
                        f"{text}.scatter_(0, torch.zeros_like({text}, dtype=torch.int64), {s})", f"{text}.transpose_(0, -1)",
                        f"{text}.unsqueeze_(0)", f"{text}.set_({b})" if self.chance(0.05) else f"{text}.abs_()",
                        f"{text}.fill_({b}.sum() > 2)", f"{text}.logical_not_()",
                        f"{text}.uniform_(0, 1)" if self.chance(0.2) else f"{text}.floor_()",
                        f"{text}.copy_(x[0, 0])" if self.chance(0.5) else f"{text}.sub_(1)", f"{text}.addcmul_({text}, {text}, value=2)")

    def block(self, text: str, name: str) -> str:
        """The statement inside something that exporters make a sub-graph of."""
        a = self.pick(lambda t: t.dtype == torch.float32 and t.dim() > 0)
        c = self.one(f"x.sum() > {self.int(-2, 2)}", f"{self.pick()}.numel() > 4 and i.sum() > 3",
            f"{self.pick(fixed=True)}.to(torch.int64).sum() > 1")
        return self.one(f"with torch.no_grad():\n    {name} = {text}", f"with torch.enable_grad():\n    {name} = {text}",
                        f"with torch.autocast('cpu', enabled=False):\n    {name} = {text}",
                        f"{name} = torch.cond({c}, lambda a: a + 1, lambda a: a * 2, ({a},))",
                        f"{name} = torch.cond({c}, lambda a: a + torch.arange(3).sum(), lambda a: a - 2, ({a},))")

    def statement(self) -> None:
        kind = self.draw.choices((self.view, self.point, self.cast, self.create, self.piece, self.reduce, self.inexact, self.quantise,
            self.chancy, self.number, self.meets_input, self.write),
                                 self.weights)[0]
        text = kind()
        name = f"v{self.count}"
        if kind == self.write:
            self.attempt(text, None, kind)
        elif self.chance(0.04):
            self.attempt(self.block(text, name), name, kind)
        else:
            self.attempt(f"{name} = {text}", name, kind)

    def attempt(self, text: str, name: str | None, kind: Callable[[], str]) -> None:
        used = {n for n in self.names_in(text) if n.startswith(("v", "m.")) or n in "xi"} - {name}
        if used & self.program.inexact and kind not in (self.view, self.meets_input):
            return  # a discrete operation would turn the last bit into a difference
        try:
            with torch.no_grad():
                exec(text, self.env)
            if name is not None and (not isinstance(self.env.get(name),
                (Tensor, int)) or isinstance(self.env[name], Tensor) and (self.env[name].numel() > LIMIT or self.env[name].dim() > 7)):
                raise LookupError
        except Exception:  # noqa: BLE001  torch raises what it likes
            if name:
                self.env.pop(name, None)
            return
        self.program.body.append(text)
        self.count += 1
        self.settle(text, name, kind, used)

    def names_in(self, text: str) -> set[str]:
        code = compile(text, "", "exec")
        found = set(code.co_names)
        for const in code.co_consts:
            if hasattr(const, "co_names"):
                found |= set(const.co_names)
        return found | {f"m.{n}" for n in found if n in self.stored_names()}

    def settle(self, text: str, name: str | None, kind: Callable[[], str], used: set[str]) -> None:
        """Which names are still constant, and which are exact, after a statement."""
        runtime = bool(used - self.fixed - {"m"}) or kind == self.chancy or "bernoulli_" in text or "uniform_" in text
        touched = {name} if name else self.sharing(text)
        if not name:
            runtime = runtime or any(n.startswith("m.") for n in touched)
        for n in touched:
            if runtime:
                self.fixed.discard(n)
            elif name:
                self.fixed.add(n)
            if kind == self.inexact or "autocast" in text or used & self.program.inexact:
                self.program.inexact.add(n)

    def sharing(self, text: str) -> set[str]:
        """Names whose memory an in-place statement may have written."""
        parts = text.replace("[", ".").replace(" ", ".").split(".")
        target = ".".join(parts[:2]) if parts[0] == "m" else parts[0]
        at = self.tensor(target).untyped_storage().data_ptr()
        return {n for n in self.tensors() if self.tensor(n).untyped_storage().data_ptr() == at}

    def make(self, statements: int) -> Program:
        with torch.no_grad():
            self.make_stored()
        tries = 0
        while len(self.program.body) < statements and tries < 20 * statements:
            tries += 1
            try:
                self.statement()
            except (LookupError, RuntimeError, TypeError, ValueError, AttributeError, SyntaxError):
                continue
        live = [n for n in self.tensors() if n.startswith("v") and self.env[n].numel() <= LIMIT]
        results = [n for n in live if self.chance(0.6)] or live[-1:]
        self.program.results = ["x + 1", *results, *(n for n in self.tensors() if n.startswith("m.") and self.chance(0.15))]
        if self.chance(0.2) and results:
            self.program.results.append(results[0])
        return self.program
