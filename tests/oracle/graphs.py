"""Graphs of constants as differential.py runs them: stored tensors, steps, results. Each step is one call of a torch operator."""
from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor

from schemas import Row, find_op


class Unfit(Exception):
    """These operands cannot have the arguments that the operator needs."""


@dataclass(frozen=True)
class Ref:
    """A value of the graph among the arguments of a step."""
    name: str


@dataclass(frozen=True)
class Step:
    row: Row
    args: tuple[Any, ...]
    named: dict[str, Any]
    out: tuple[str, ...]
    is_list: bool

    def text(self) -> str:
        words = [show(a) for a in self.args] + [f"{k}={show(v)}" for k, v in self.named.items()]
        return f"{', '.join(self.out) or '_'} = {self.row.name}({', '.join(words)})"


@dataclass
class Graph:
    """allowed: how far each result may be off; none for bit for bit."""
    seed: int
    stored: dict[str, Tensor] = field(default_factory=dict)
    steps: list[Step] = field(default_factory=list)
    results: list[str] = field(default_factory=list)
    allowed: dict[str, Tensor] = field(default_factory=dict)
    values: dict[str, Tensor] = field(default_factory=dict)

    def run(self, stored: dict[str, Tensor], how: Callable[[Step, dict[str, Any]], Any] | None = None) -> dict[str, Tensor]:
        env = dict(stored)
        for step in self.steps:
            keep(env, step, (how or call)(step, env))
        return env

    def stored_copies(self) -> dict[str, Tensor]:
        return {n: t.clone(memory_format=torch.preserve_format) for n, t in self.stored.items()}

    def text(self) -> str:
        def of(t: Tensor) -> str:
            layout = "" if t.is_contiguous() else f", strides {t.stride()} at {t.storage_offset()}"
            return f"{str(t.dtype)[6:]} {tuple(t.shape)}{layout}" + (f" {t.tolist()}" if t.numel() <= 16 else "")
        used = {a.name for s in self.steps for a in refs((s.args, s.named))} | set(self.results)
        lines = [f"{n}: {of(t)}" for n, t in self.stored.items() if n in used] + [s.text() for s in self.steps]
        return "".join(f"    {line}\n" for line in [*lines, "return " + ", ".join(self.results)])


def show(a: Any) -> str:
    if isinstance(a, Ref):
        return a.name
    return f"[{', '.join(map(show, a))}]" if isinstance(a, (list, tuple)) else repr(a)


def refs(a: Any) -> list[Ref]:
    if isinstance(a, Ref):
        return [a]
    parts = a.values() if isinstance(a, dict) else a if isinstance(a, (list, tuple)) else ()
    return [r for part in parts for r in refs(part)]


def resolve(a: Any, env: dict[str, Any]) -> Any:
    if isinstance(a, Ref):
        return env[a.name]
    if isinstance(a, dict):
        return {k: resolve(v, env) for k, v in a.items()}
    return [resolve(v, env) for v in a] if isinstance(a, (list, tuple)) else a


def call(step: Step, env: dict[str, Any]) -> Any:
    return find_op(step.row.name)(*resolve(step.args, env), **resolve(step.named, env))


def change(a: Any, f: Callable[[Tensor], Tensor]) -> Any:
    """Arguments with every tensor replaced."""
    if isinstance(a, Tensor):
        return f(a)
    if isinstance(a, dict):
        return {k: change(v, f) for k, v in a.items()}
    return [change(v, f) for v in a] if isinstance(a, (list, tuple)) else a


def is_fresh(step: Step) -> bool:
    return step.row.macro == "QF_DEQUANTIZE" or step.row.macro == "QF_ATEN" and step.row.rest[1] == "FRESH"


def in_layout(f: Callable[[Tensor], Tensor]) -> Callable[[Step, dict[str, Any]], Any]:
    """A call whose operands are laid out in another way first, if no result is a view of them."""
    def run(step: Step, env: dict[str, Any]) -> Any:
        if not is_fresh(step):
            return call(step, env)
        return find_op(step.row.name)(*change(resolve(step.args, env), f), **change(resolve(step.named, env), f))
    return run


def apart(t: Tensor) -> Tensor:
    return torch.stack([t, t], -1)[..., 0]


def many(step: Step, env: dict[str, Any]) -> Any:
    """The call on many copies side by side, where that gives as many copies of the result: what vector loops make of it."""
    writes = step.row.macro == "QF_WRITE"
    args, named = resolve(step.args, env), resolve(step.named, env)

    def copies(t: Tensor) -> Tensor:
        return t if t.dim() == 0 else t[..., None].expand(*t.shape, 64).contiguous()
    try:
        result = find_op(step.row.name)(*change(args, copies), **change(named, copies)) if writes or is_fresh(step) else None
    except Exception:  # noqa: BLE001  torch raises what it likes
        result = None
    if writes and isinstance(result, Tensor) and result.shape == (*args[0].shape, 64):
        return args[0].copy_(result[..., 0])
    usual = call(step, env)
    alike = isinstance(result, Tensor) and isinstance(usual, Tensor) and result.shape == (*usual.shape, 64)
    return result[..., 0] if alike else usual


# torch's loops over one layout may compute otherwise than those over another.
LAYOUTS = (in_layout(Tensor.contiguous), in_layout(apart), many)


def keep(env: dict[str, Any], step: Step, result: Any) -> None:
    env.update(zip(step.out, result if step.is_list else [result], strict=False))
