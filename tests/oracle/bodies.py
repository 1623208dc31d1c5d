#!/usr/bin/env python3
"""Bodies of control flow through the fold: what they compute from captured constants alone goes, what a loop carries never does.

    bodies.py --qfold PROGRAM [--only GLOB] [--keep FOLDER]

Each row is a program with the operators that its bodies must have lost and those that must be left. The output must load, agree with
the original bit for bit on inputs that take every branch, lower further as the original does, and fold to itself. The last line is
`N passed, N failed, N skipped`; exit 1 on a failure."""
from __future__ import annotations

import fnmatch
import json
import logging
import subprocess
import sys
import warnings
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import torch
import torch.ao.quantization.fx._decomposed  # noqa: F401  registers quantized_decomposed
from torch import Tensor, nn
from torch._higher_order_ops import map as map_op
from torch._higher_order_ops import scan, while_loop

from row_suite import run_rows

warnings.filterwarnings("ignore")
logging.disable(logging.CRITICAL)
torch.set_num_threads(1)
Q = torch.ops.quantized_decomposed


class Weights(nn.Module):
    """What the bodies capture."""

    def __init__(self, run: Callable[..., object]) -> None:
        super().__init__()
        g = torch.Generator().manual_seed(7)
        self.run = run
        self.w, self.b = nn.Parameter(torch.randn(4, 4, generator=g)), nn.Parameter(torch.randn(4, generator=g))
        self.register_buffer("m", torch.randn(4, 4, generator=g))
        self.register_buffer("q", torch.randint(-128, 128, (4, 4), generator=g).to(torch.int8))
        self.register_buffer("scale", torch.rand(4, generator=g) + 0.1)

    def forward(self, x: Tensor) -> object:
        return self.run(self, x)


@dataclass(frozen=True)
class Row:
    """gone, left: operators in bodies that must have gone, resp. be there still."""
    name: str
    run: Callable[..., object]
    gone: tuple[str, ...] = ()
    left: tuple[str, ...] = ()
    options: tuple[str, ...] = ()
    raw_only: bool = False


def branches(m: Weights, x: Tensor) -> Tensor:
    return torch.cond(x.sum() > 0, lambda x: x @ (m.w.t() * 2) + torch.ones(4) * 3, lambda x: x @ (m.m + 1.0) + m.b, (x,))


def one_branch(m: Weights, x: Tensor) -> Tensor:
    return torch.cond(x.sum() > 0, lambda x: x @ (m.w * 2), lambda x: x + 1, (x,))


def nested(m: Weights, x: Tensor) -> Tensor:
    def inner(x: Tensor) -> Tensor:
        return torch.cond(x.sum() > 4, lambda x: x @ (m.w.t() * 2), lambda x: x @ (m.m + 1.0), (x,))
    return torch.cond(x.sum() > 0, inner, lambda x: x @ (m.m * 3) + m.b, (x,))


def same_in_both(m: Weights, x: Tensor) -> Tensor:
    return torch.cond(x.sum() > 0, lambda x: x @ (m.w + 1), lambda x: (x * 2) @ (m.w + 1), (x,))


def views_of_one(m: Weights, x: Tensor) -> Tensor:
    return torch.cond(x.sum() > 0, lambda x: x @ m.w.t(), lambda x: x @ m.w, (x,))


def yields_constant(m: Weights, x: Tensor) -> Tensor:
    return torch.cond(x.sum() > 0, lambda x: (m.m * 2) * 3 + 0.0, lambda x: x[:4] @ m.w, (x,))


def outer_and_inner(m: Weights, x: Tensor) -> Tensor:
    a = m.w.t() * 2
    return torch.cond(x.sum() > 0, lambda x: x @ (a + 1), lambda x: x @ a, (x,))


def loop(m: Weights, x: Tensor) -> Tensor:
    return while_loop(lambda i, x: i < 3, lambda i, x: (i + 1, x @ (m.w.t() * 0.5)), (torch.tensor(0), x))


def loop_condition(m: Weights, x: Tensor) -> Tensor:
    return while_loop(lambda i, x: x.sum() + i < (m.m.abs() * 2).amax() * 40, lambda i, x: (i + 1, x + (m.b * 2).abs()), (torch.tensor(0), x))


def carried_constant(m: Weights, x: Tensor) -> Tensor:
    return while_loop(lambda i, a: i < 3, lambda i, a: (i + 1, a * 2 + x.sum()), (torch.tensor(0), torch.ones(3)))


def mapped(m: Weights, x: Tensor) -> Tensor:
    return map_op(lambda row: row @ (m.w.t() * 0.5) + m.b, x)


def scanned(m: Weights, x: Tensor) -> Tensor:
    def step(carry: Tensor, row: Tensor) -> tuple[Tensor, Tensor]:
        y = carry + row @ (m.w.t() * 0.5)
        return y, y * (m.m * 2).amax()
    return scan(step, torch.zeros(4), x)


def no_grad_part(m: Weights, x: Tensor) -> tuple[Tensor, Tensor]:
    with torch.no_grad():
        a = m.w.t() * 2
        y, z = x @ a, m.m * 2
    return y + m.b, x @ z


def quantised(m: Weights, x: Tensor) -> Tensor:
    def true(x: Tensor) -> Tensor:
        w = Q.dequantize_per_channel(m.q, m.scale, torch.zeros(4, dtype=torch.int64), 0, -128, 127, torch.int8)
        return x @ w.permute(1, 0)
    return torch.cond(x.sum() > 0, true, lambda x: x @ m.w, (x,))


ROWS = [
    Row("cond", branches, gone=("aten.t.*", "aten.mul.*", "aten.ones.*")),
    Row("cond_one_branch", one_branch, gone=("aten.mul.*",), left=("aten.add.*",)),
    Row("cond_nested", nested, gone=("aten.t.*", "aten.mul.*")),
    Row("cond_same_in_both", same_in_both, gone=("aten.add.*",)),
    Row("cond_views_of_one", views_of_one),
    Row("cond_yields_constant", yields_constant, left=("aten.add.*",)),
    Row("cond_outer_and_inner", outer_and_inner, gone=("aten.add.*",)),
    Row("cond_quantised", quantised, gone=("aten.permute.*",), left=("quantized_decomposed.*",), raw_only=True),
    Row("cond_keep_in_body", branches, options=("--keep-op", "aten.t.default"), left=("aten.t.*",), raw_only=True),
    Row("cond_keep_by_path", one_branch, options=("--keep", "cond/true_graph_0/mul"), left=("aten.mul.*",), raw_only=True),
    Row("while_body", loop, gone=("aten.t.*", "aten.mul.*"), left=("aten.add.*",)),
    Row("while_condition", loop_condition, gone=("aten.mul.*",)),
    Row("while_carried_constant", carried_constant, left=("aten.mul.*", "aten.add.*")),
    Row("map", mapped, gone=("aten.t.*", "aten.mul.*")),
    Row("scan", scanned, gone=("aten.t.*",)),
    Row("no_grad_part", no_grad_part, gone=("aten.t.*",)),
]
INPUTS = [torch.linspace(-1, 1, 20).reshape(5, 4) + d for d in (-0.7, 0.01, 0.9)]


def nodes_of_bodies(graph: dict, inside: bool = False) -> Iterator[str]:
    for node in graph["nodes"]:
        if inside:
            yield node["target"].removeprefix("torch.ops.")
        for argument in node["inputs"]:
            if "as_graph" in argument["arg"]:
                yield from nodes_of_bodies(argument["arg"]["as_graph"]["graph"], True)


def bodies_of(path: Path) -> list[str]:
    with zipfile.ZipFile(path) as archive:
        name = next(n for n in archive.namelist() if n.endswith("/models/model.json"))
        return list(nodes_of_bodies(json.loads(archive.read(name))["graph_module"]["graph"]))


def outputs(path: Path) -> list[Tensor]:
    module = torch.export.load(str(path)).module()
    found: list[Tensor] = []
    for x in INPUTS:
        got = module(x)
        found += got if isinstance(got, (tuple, list)) else [got]
    return found


def lowers(path: Path) -> bool:
    try:
        torch.export.load(str(path)).run_decompositions({})
    except Exception:  # torch raises many kinds
        return False
    return True


def findings(named: tuple[Row, bool], tool: Path, folder: Path) -> list[str]:
    row, functional = named
    source, target, again, report = (folder / n for n in ("in.pt2", "out.pt2", "again.pt2", "report.json"))
    with torch.no_grad():
        program = torch.export.export(Weights(row.run).eval(), (INPUTS[0],), strict=False)
    torch.export.save(program.run_decompositions({}) if functional else program, str(source))
    done = subprocess.run([tool, "fold", source, "-o", target, "--force", "-q", "--json", report, *row.options], capture_output=True,
        text=True)
    if done.returncode:
        return [f"exit {done.returncode}: {done.stderr.strip()}"]
    wrong = []
    for k, (a, b) in enumerate(zip(outputs(source), outputs(target), strict=True)):
        if a.dtype != b.dtype or not torch.equal(a, b):
            wrong.append(f"result {k} is {b}, not {a}")
    left = bodies_of(target)
    wrong += [f"{op} is left" for op in left if any(fnmatch.fnmatch(op, p) for p in row.gone)]
    wrong += [f"{p} is gone" for p in row.left if not fnmatch.filter(left, p)]
    names = [(n["graph"], n["name"]) for n in json.loads(report.read_text())["nodes"]]
    if len(set(names)) != len(names):
        wrong.append("two nodes have one path")
    if lowers(source) and not lowers(target):
        wrong.append("torch lowers the original, and not the output")
    done = subprocess.run([tool, "verify", source, target], capture_output=True, text=True)
    if done.returncode:
        wrong.append(f"verify: {done.stderr.strip()}")
    subprocess.run([tool, "fold", target, "-o", again, "--force", "-q", *row.options], capture_output=True, check=True)
    if again.read_bytes() != target.read_bytes():
        wrong.append("folding again changes bytes")
    return wrong


def named_rows() -> Iterator[tuple[str, tuple[Row, bool]]]:
    for row in ROWS:
        yield row.name, (row, False)
        if not row.raw_only:
            yield f"{row.name}/functional", (row, True)


if __name__ == "__main__":
    sys.exit(run_rows(__doc__, named_rows(), findings))
