#!/usr/bin/env python3
"""Random graphs of constants (graph_maker.py) through the fold, against torch.

    differential.py --qfold PROGRAM [--graphs N] [--seed SEED] [--keep FOLDER] [--reasons]

Every operator row of driver/io/aten_ops.def that computes tensors is met, on all dtypes, with scalars, broadcasts, empty tensors
and any strides, in graphs of 3 to 12 steps. Many graphs share a program, which is exported as torch traces it or decomposed to
core, and folded. Checked: every step folds, or stays for one of few reasons; every result is that of torch, bit for bit but for the operators whose last bits torch
does not define (graph_bounds.py), and has its strides; other threads and instruction sets give the same bytes; so does folding again.
Where torch computes elements in one layout otherwise than in another, any of these is right. The last line is
`N passed, N failed, N skipped`; exit 1 on a failure."""
from __future__ import annotations

import argparse
import collections
import functools
import itertools
import json
import logging
import os
import random
import re
import subprocess
import sys
import tempfile
import typing
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from graph_maker import Maker, rows
from graphs import LAYOUTS, Graph
from schemas import Row

warnings.filterwarnings("ignore")
logging.disable(logging.CRITICAL)
hints_of = typing.get_type_hints
hints_of_class = functools.lru_cache(maxsize=None)(hints_of)
# Saving and loading a program ask this of the same few classes for every object in it.
typing.get_type_hints = lambda x, *a, **k: hints_of(x, *a, **k) if a or k or not isinstance(x, type) else hints_of_class(x)
torch.set_num_threads(1)
BATCH = 100
MOST_KEPT = 0.05
FORMS = ("raw", "raw", "core")
OPTIONS = ((), ("--max-growth", "none", "--fold-dequant"), ("--max-growth", "none", "--fold-dequant", "--memory", "1M"), ("--contiguous",))
SAME_BYTES = (({}, ("--threads", "1")), ({}, ("--threads", "2")), ({}, ("--threads", "7")), ({"QFOLD_CAPS": "scalar"}, ()))
# Reasons for which a step of constants may stay: its result has no defined value, an option says so, or it is not supported: then the detail.
# torch records a nansum over all dims with the shape of its operand, and ldexp of integers by a half number as f32. A list of arguments has 256 entries at most.
RIGHT_REASONS = {"undefined": "", "quantised": "", "growth": "", "assertion": "", "alias": "", "quant_shared": "", "quant_layout": "", "unsupported_rank": "rank 0",
                 "unsupported_dtype": "c64|complex: of f(16|64)|linspace of integers|several dtypes",
                 "unsupported_argument": "a product of|c64|argument split_sizes", "type_mismatch": r"^aten\.(nansum|ldexp)\."}


ORDERS = frozenset("argsort bucketize kthvalue median median_dim mode searchsorted sort topk".split())


class Part(torch.nn.Module):
    """Computes the results of one graph. What it computes on are its buffers."""

    def __init__(self, graph: Graph) -> None:
        super().__init__()
        self.graph = graph
        for name, value in graph.stored.items():
            self.register_buffer(name, value, persistent=graph.seed % 2 == 0)

    def forward(self) -> list[Tensor]:
        env = self.graph.run({name: getattr(self, name) for name in self.graph.stored})
        return [env[name] for name in self.graph.results]


class Program(torch.nn.Module):
    def __init__(self, graphs: Sequence[Graph]) -> None:
        super().__init__()
        self.parts = torch.nn.ModuleList(Part(graph) for graph in graphs)

    def forward(self, x: Tensor) -> list[Tensor]:
        return [x + 1, *(result for part in self.parts for result in part())]


class Failure(Exception):
    """The whole batch failed; smaller ones tell which graph it was."""


class Skip(Exception):
    """torch does not export or run the graph."""


@dataclass
class Tally:
    passed: int = 0
    failed: int = 0
    skipped: int = 0
    steps: int = 0
    torn: collections.Counter[str] = field(default_factory=collections.Counter)
    reasons: collections.Counter[str] = field(default_factory=collections.Counter)


def first_line(e: BaseException) -> str:
    return (str(e).strip().splitlines() or [type(e).__name__])[0][:200]


def export(graphs: Sequence[Graph], form: str, path: Path) -> torch.export.ExportedProgram:
    with torch.no_grad():
        program = torch.export.export(Program(graphs).eval(), (torch.ones(2),), strict=False)
        program = program if form == "raw" else program.run_decompositions()
        torch.export.save(program, str(path))
    return program


def run(program: torch.export.ExportedProgram) -> list[Tensor]:
    with torch.no_grad():
        return list(program.module()(torch.ones(2)))[1:]


def qfold(tool: Path, *words: Any, env: dict[str, str] | None = None) -> None:
    done = subprocess.run([str(tool), *map(str, words)], capture_output=True, text=True, errors="replace", env={**os.environ, **(env or {})},
                          timeout=300, check=False)
    if done.returncode:
        raise Failure(f"exit {done.returncode}: {(done.stderr or done.stdout).strip()[:300]}")


def fold(tool: Path, source: Path, target: Path, options: Sequence[str]) -> dict[str, Any]:
    """The report. Every other way to fold must give the same bytes."""
    report, again = target.with_suffix(".json"), target.with_name("again.pt2")
    usual = ("--force", "--quiet", *options)
    qfold(tool, "fold", source, "-o", target, "--json", report, *usual)
    folded = target.read_bytes()
    for env, more in SAME_BYTES:
        qfold(tool, "fold", source, "-o", again, *usual, *more, env=env)
        if again.read_bytes() != folded:
            raise Failure(f"other bytes with {' '.join(more)} {env or ''}")
    qfold(tool, "fold", target, "-o", again, *usual)
    if again.read_bytes() != folded:
        raise Failure("folding again changed bytes")
    return json.loads(report.read_text())


# ---- comparing ----

def bits(t: Tensor) -> Tensor:
    """Elements as integers; NaNs are one value. Complex ones as pairs, in a last dim."""
    if t.is_complex():
        return bits(torch.view_as_real(t.resolve_conj().contiguous()))
    if not t.dtype.is_floating_point:
        return t.contiguous()
    size = {1: torch.int8, 2: torch.int16, 4: torch.int32, 8: torch.int64}[t.element_size()]
    i = t.contiguous().view(size)
    return torch.where(t.to(torch.float64).isnan(), torch.full_like(i, torch.iinfo(size).max), i)


def wrong(want: Tensor, got: Tensor, allowed: Tensor | None) -> Tensor:
    """Which elements are not what they should be."""
    differ = (bits(want) != bits(got)).any(-1) if want.is_complex() else bits(want) != bits(got)
    if allowed is None or not (want.is_floating_point() or want.is_complex()) or not bool(differ.any()):
        return differ
    if want.is_complex():
        return differ & ~((want - got).abs() <= allowed)
    a, b = want.double(), got.double()
    # What rounds to infinity on one side is next to the largest number on the other.
    top = torch.finfo(want.dtype).max
    return differ & ~((a.clamp(-top, top) - b.clamp(-top, top)).abs() <= allowed)


def describe(want: Tensor, got: Tensor, at: Tensor) -> str:
    place = tuple(int(v) for v in at.nonzero()[0])
    return f"{int(at.sum())} of {at.numel()} elements, first at {place}: {got[place].item()!r}, torch has {want[place].item()!r}"


def differs(want: Tensor, got: Tensor, allowed: Tensor | None, strides: tuple[int, ...] | None) -> str | None:
    if want.dtype != got.dtype or want.shape != got.shape:
        return f"{got.dtype} {tuple(got.shape)}, torch has {want.dtype} {tuple(want.shape)}"
    if not want.numel():
        return None
    at = wrong(want, got, allowed)
    if bool(at.any()):
        return describe(want, got, at)
    return None if strides is None else differs_in_strides(strides, got)


def differs_in_strides(strides: tuple[int, ...], got: Tensor) -> str | None:
    """Recorded strides without gaps are kept, where there is more than one element."""
    dense = sum(s * (n - 1) for s, n in zip(strides, got.shape)) + 1 == got.numel()
    if not dense or [s for n, s in zip(got.shape, strides) if n > 1] == [s for n, s in zip(got.shape, got.stride()) if n > 1]:
        return None
    return f"strides {got.stride()}, the program has {strides}"


def recorded_results(program: torch.export.ExportedProgram) -> list[Tensor]:
    """Types and strides that the program has for its results."""
    output = next(n for n in program.graph.nodes if n.op == "output")
    return [n.meta["val"] for n in output.args[0][1:]]


def maker_of(graph: Graph, name: str) -> str:
    return next(s.row.name for s in graph.steps if name in s.out)


def check_batch(tool: Path, graphs: Sequence[Graph], form: str, options: Sequence[str], folder: Path, tally: Tally) -> list[list[str]]:
    source, target = folder / "in.pt2", folder / "out.pt2"
    try:
        before = export(graphs, form, source)
        want = run(before) if form == "core" else [graph.values[n] for graph in graphs for n in graph.results]
    except Exception as e:  # noqa: BLE001  torch raises what it likes
        raise (Failure if len(graphs) > 1 else Skip)(f"torch cannot export or run: {first_line(e)}") from e
    report = fold(tool, source, target, options)
    try:
        got = run(torch.export.load(str(target)))
    except Exception as e:  # noqa: BLE001
        raise Failure(f"torch cannot run the result: {first_line(e)}") from e
    findings: list[list[str]] = [[] for _ in graphs]
    check_verdicts(report, before, graphs, options, tally, findings)
    recorded = recorded_results(before)
    names = [(i, name) for i, graph in enumerate(graphs) for name in graph.results]
    unfolded: list[Tensor] = []
    for k, ((i, name), w, g, r) in enumerate(zip(names, want, got, recorded, strict=True)):
        allowed, strides = graphs[i].allowed.get(name), None if "--contiguous" in options else r.stride()
        text = differs(w, g, allowed, strides)
        if not text:
            continue
        unfolded = unfolded or run(before)
        if differs(unfolded[k], g, allowed, strides) is None or torn(graphs[i], name, w, g) \
                or (g.shape, g.dtype) == (r.shape, r.dtype) != (w.shape, w.dtype):
            tally.torn[f"{maker_of(graphs[i], name)} {text}"] += 1
        else:
            findings[i].append(f"{name}: {text}")
    return findings


def graph_of_nodes(program: torch.export.ExportedProgram) -> dict[str, int]:
    """Which graph each node belongs to: one is traced after the other, as a module."""
    found = {}
    for node in program.graph.nodes:
        for path, _ in node.meta.get("nn_module_stack", {}).values():
            if path.startswith("parts."):
                found[node.name] = int(path.split(".")[1])
    return found


def writes_what_stays(graph: Graph, options: Sequence[str]) -> bool:
    """Whether it may write to a view of a stored tensor, to what is dequantised at run time, or what a place in an order tells, which may be
    undefined: these stay, with all that shares the memory."""
    stays = [s.row.rest[-1] == "ALIAS_MAYBE" or s.row.macro == "QF_DEQUANTIZE" and "--fold-dequant" not in options or s.row.rest[0] in ORDERS for s in graph.steps]
    return any(stays) and any(s.row.macro == "QF_WRITE" for s in graph.steps)


def check_verdicts(report: dict[str, Any], program: torch.export.ExportedProgram, graphs: Sequence[Graph], options: Sequence[str], tally: Tally,
                   findings: list[list[str]]) -> None:
    where = graph_of_nodes(program)
    kept = [n for n in report["nodes"] if n["verdict"] == "kept" and n["reason"] != "runtime"]
    # What an operator that stays takes is memory of the running program, and so is what is written to it.
    started = {where.get(n["name"]) for n in kept if n["reason"] in RIGHT_REASONS}
    for node in kept:
        tally.reasons[f"{node['reason']} {node['op']} {node['detail']}"] += 1
        graph = where.get(node["name"], 0)
        right = RIGHT_REASONS.get(node["reason"], None)
        follows = node["reason"] in ("state", "operand") and (graph in started or writes_what_stays(graphs[graph], options))
        follows |= node["reason"] == "operand" and node["detail"].rsplit(" ", 1)[-1] in RIGHT_REASONS
        text = node["op"] if node["reason"] == "type_mismatch" else node["detail"]
        if not follows and (right is None or not re.search(right, text)):
            findings[graph].append(f"{node['name']} {node['op']} kept: {node['reason']} ({node['detail']})")


def torn(graph: Graph, name: str, want: Tensor, got: Tensor) -> bool:
    """Whether torch computes each element that differs in this way too, if operands lie otherwise."""
    if (want.shape, want.dtype) != (got.shape, got.dtype):
        return False
    at, allowed = wrong(want, got, graph.allowed.get(name)), graph.allowed.get(name)
    for how in LAYOUTS:
        try:
            with torch.no_grad():
                other = graph.run(graph.stored_copies(), how)[name]
        except RuntimeError:  # an operator that needs the layout
            continue
        at &= wrong(other, got, allowed) if other.shape == got.shape and other.dtype == got.dtype else at
    return not bool(at.any())


def check(tool: Path, graphs: Sequence[Graph], form: str, options: Sequence[str], folder: Path, tally: Tally) -> list[list[str] | None]:
    """What is wrong with each graph; None for one that torch does not take. Halves a batch that fails as a whole, down to the graph."""
    try:
        return check_batch(tool, graphs, form, options, folder, tally)
    except Skip as e:
        print(f"SKIP {graphs[0].seed}: {e}", flush=True)
        return [None]
    except Failure as e:
        if len(graphs) == 1:
            return [[str(e)]]
        half = len(graphs) // 2
        return check(tool, graphs[:half], form, options, folder, tally) + check(tool, graphs[half:], form, options, folder, tally)


def make_graph(seed: int, number: int, table: Sequence[Row], order: Sequence[Row]) -> Graph:
    """Each in its turn meets a few operators, in the order that the seed gives."""
    return Maker(seed * 1_000_000 + number, table).make([order[(3 * number + k) % len(order)] for k in range(3)])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--qfold", type=Path, required=True)
    parser.add_argument("--graphs", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--first", type=int, default=0, help="number of the first graph")
    parser.add_argument("--keep", type=Path, help="folder for the files of the last batch")
    parser.add_argument("--reasons", action="store_true", help="also say what was kept, for which reason, how often")
    args = parser.parse_args()
    table, tally = rows(), Tally()
    order = random.Random(args.seed).sample(table, len(table))
    met: set[str] = set()
    with tempfile.TemporaryDirectory() as scratch:
        folder = args.keep or Path(scratch)
        folder.mkdir(parents=True, exist_ok=True)
        for at in range(args.first, args.first + args.graphs, BATCH):
            k = at // BATCH
            graphs = [make_graph(args.seed, i, table, order) for i in range(at, min(at + BATCH, args.first + args.graphs))]
            met |= {s.row.name for g in graphs for s in g.steps}
            tally.steps += sum(len(g.steps) for g in graphs)
            form, options = FORMS[k % len(FORMS)], OPTIONS[k % len(OPTIONS)]
            for graph, bad in zip(graphs, check(args.qfold, graphs, form, options, folder, tally), strict=True):
                tally.skipped, tally.passed, tally.failed = tally.skipped + (bad is None), tally.passed + (bad == []), tally.failed + bool(bad)
                if bad:
                    print(f"FAILED {graph.seed} {form} {' '.join(options)}\n  " + "\n  ".join(bad) + f"\n{graph.text()}", flush=True)
    unmet = sorted(r.name for r in table if r.name not in met)
    for name in unmet:
        print(f"NOT MET {name}")
    for text, n in tally.reasons.most_common() if args.reasons else ():
        print(f"{n:6} {text}")
    for text, n in tally.torn.most_common() if args.reasons else ():
        print(f"{n:6} torch computes this otherwise elsewhere: {text}")
    kept = tally.reasons.total()
    print(f"{tally.steps} steps of {len(met)} operators, {kept} of them kept; {tally.torn.total()} results that torch itself does not always give")
    if kept > MOST_KEPT * tally.steps:
        print(f"FAILED more than {MOST_KEPT:.0%} of the steps are kept")
        tally.failed += 1
    print(f"{tally.passed} passed, {tally.failed} failed, {tally.skipped} skipped")
    return tally.failed != 0


if __name__ == "__main__":
    sys.exit(main())
