#!/usr/bin/env python3
"""Every operator row of driver/io/aten_ops.def through the fold, against torch.

    ops.py --qfold PROGRAM [--only GLOB] [--keep FOLDER] [--list]

Cases (op_cases.py, math_cases.py, order_cases.py, affine_cases.py, complex_cases.py, edge_cases.py) compute on constants only. Many share a program, which is exported as torch traces it and decomposed to
core, folded, and run: each result must be that of the unfolded program, bit for bit or within what the case allows, and each
case must vanish from the graph, or stay for the reason that it expects. Every row that can fold must be met by some case.
The last line is `N passed, N failed, N skipped`; exit 1 on a failure."""
from __future__ import annotations

import argparse
import fnmatch
import functools
import json
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import torch

from cases import Case
from affine_cases import affine_cases
from complex_cases import complex_cases
from edge_cases import edge_cases
from math_cases import math_cases
from op_cases import all_cases
from order_cases import order_cases
from out_cases import out_cases
from schemas import TABLE, read_rows
from special_cases import special_cases
from window_cases import window_cases

warnings.filterwarnings("ignore")
torch.set_num_threads(1)
GROUP = 150
FORMS = ("raw", "core")


class Program(torch.nn.Module):
    """Runs cases one after the other. What they compute on are non-persistent buffers."""

    def __init__(self, cases: Sequence[Case]) -> None:
        super().__init__()
        self.cases = cases
        for i, case in enumerate(cases):
            for k, value in enumerate(case.inputs):
                self.register_buffer(f"c{i}_{k}", value.clone(memory_format=torch.preserve_format), persistent=False)

    def forward(self, x: torch.Tensor) -> list[torch.Tensor]:
        out = [x + 1]
        for i, case in enumerate(self.cases):
            out += case.run(*[getattr(self, f"c{i}_{k}") for k in range(len(case.inputs))])
        return out


@functools.lru_cache(maxsize=1)
def raw_export(cases: tuple[Case, ...]) -> torch.export.ExportedProgram:
    return torch.export.export(Program(cases).eval(), (torch.ones(2),), strict=False)


def export(cases: list[Case], form: str, path: Path) -> None:
    with torch.no_grad():
        program = raw_export(tuple(cases))
        torch.export.save(program if form == "raw" else program.run_decompositions(), str(path))


def run(program: torch.export.ExportedProgram) -> list[torch.Tensor]:
    with torch.no_grad():
        return list(program.module()(torch.ones(2)))[1:]


def bits(t: torch.Tensor) -> torch.Tensor:
    """Elements as integers, in an order in which neighbours are one ulp apart; NaNs are one value."""
    if not t.dtype.is_floating_point:
        return t.to(torch.int64)
    size = {1: torch.int8, 2: torch.int16, 4: torch.int32, 8: torch.int64}[t.element_size()]
    i = t.contiguous().view(size).to(torch.int64)
    i = torch.where(i < 0, torch.iinfo(size).min - i - 1, i)
    return torch.where(t.to(torch.float64).isnan(), torch.full_like(i, torch.iinfo(torch.int64).max), i)


def differs(case: Case, want: torch.Tensor, got: torch.Tensor) -> str | None:
    if want.dtype != got.dtype or want.shape != got.shape:
        return f"{got.dtype} {tuple(got.shape)}, torch has {want.dtype} {tuple(want.shape)}"
    if not want.numel():
        return None
    a, b = bits(want), bits(got)
    wrong = (a != b) if case.ulp == 0 else ((a - b).abs() > case.ulp) | ((a - b).abs() < 0)
    if case.near:
        largest = torch.nan_to_num(want.double(), 0.0, 0.0, 0.0).abs().max().clamp_min(1e-300)
        close = (want.double() - got.double()).abs() <= case.near * largest
        wrong = wrong & ~close
    if not wrong.any():
        return None
    at = tuple(int(v) for v in wrong.nonzero()[0])
    return f"{int(wrong.sum())} of {wrong.numel()} elements, first at {at}: {got[at].item()!r}, torch has {want[at].item()!r}"


POLICY = ("--max-growth", "none", "--fold-dequant")


def explained_apart(qfold: Path, source: Path, report: dict[str, Any]) -> str:
    """Whether `explain` says of every node what the fold did."""
    done = subprocess.run([str(qfold), "explain", str(source), *POLICY, "--json", "-"], capture_output=True, text=True, check=False)
    if done.returncode:
        return f"explain: exit {done.returncode}: {done.stderr.strip()[:300]}"
    said, did = ({(n["graph"], n["name"]): (n["verdict"], n["reason"]) for n in r["nodes"]} for r in (json.loads(done.stdout), report))
    apart = [f"{name[1]}: explained {said.get(name)}, was {what}" for name, what in did.items() if said.get(name) != what]
    return "; ".join(apart[:3])


def fold(qfold: Path, source: Path, out: Path) -> tuple[dict[str, Any] | None, str]:
    report = out.with_suffix(".json")
    done = subprocess.run([str(qfold), "fold", str(source), "-o", str(out), "--force", "--quiet", *POLICY,
                           "--json", str(report)], capture_output=True, text=True, check=False)
    if done.returncode:
        return None, f"exit {done.returncode}: {(done.stderr or done.stdout).strip()[:300]}"
    return json.loads(report.read_text()), ""


def case_of_nodes(cases: list[Case], program: torch.export.ExportedProgram) -> dict[str, int]:
    """Which case each node computes for: walked back from the outputs, so shared nodes go to the first."""
    output = next(n for n in program.graph.nodes if n.op == "output")
    found: dict[str, int] = {}
    at = len(program.graph_signature.buffers_to_mutate) + 1
    for i, case in enumerate(cases):
        todo = [n for n in output.args[0][at:at + case.n_out] if n is not None]
        at += case.n_out
        while todo:
            node = todo.pop()
            if not hasattr(node, "name") or node.name in found:
                continue
            found[node.name] = i
            todo += node.all_input_nodes
    for node in program.graph.nodes:  # assertions lead to no output: they belong to what they look at
        owners = [found[n.name] for n in node.all_input_nodes if n.name in found]
        if node.name not in found and owners:
            found[node.name] = owners[0]
    return found


class Failure(Exception):
    """The whole group failed; smaller groups tell which case it was."""


def check_group(qfold: Path, cases: list[Case], form: str, folder: Path, seen: set[str]) -> list[list[str]]:
    source, out = folder / "in.pt2", folder / "out.pt2"
    try:
        export(cases, form, source)
        before = torch.export.load(str(source))
    except Exception as e:  # noqa: BLE001  torch raises what it likes
        raise Failure(f"torch cannot export: {str(e).splitlines()[0][:200]}") from e
    seen |= {op_name(n) for n in before.graph.nodes if n.op == "call_function"}
    report, error = fold(qfold, source, out)
    error = error or explained_apart(qfold, source, report or {})
    if report is None or error:
        raise Failure(error)
    try:
        want, got = run(before), run(torch.export.load(str(out)))
    except Exception as e:  # noqa: BLE001
        raise Failure(f"torch cannot run the result: {str(e).splitlines()[0][:200]}") from e
    findings: list[list[str]] = [[] for _ in cases]
    at = 0
    for i, case in enumerate(cases):
        for k in range(case.n_out):
            text = differs(case, want[at + k], got[at + k])
            findings[i] += [f"result {k}: {text}"] if text else []
        at += case.n_out
    if form == "raw":
        check_verdicts(cases, before, report, findings)
    return findings


def check_verdicts(cases: list[Case], program: Any, report: dict[str, Any], findings: list[list[str]]) -> None:
    where = case_of_nodes(cases, program)
    kept: dict[int, set[str]] = {}
    for node in report["nodes"]:
        if node["verdict"] != "kept" or node["graph"] or node["reason"] == "runtime":
            continue
        i = where.get(node["name"])
        if i is None:
            continue
        kept.setdefault(i, set()).add(node["reason"])
        if cases[i].keep is None:
            findings[i].append(f"{node['op']} kept: {node['reason']} ({node['detail']})")
    for i, case in enumerate(cases):
        if case.keep and case.keep not in kept.get(i, set()):
            findings[i].append(f"expected to be kept for {case.keep}, was kept for {kept.get(i, 'nothing')}")


def op_name(node: torch.fx.Node) -> str:
    target = node.target
    if isinstance(target, torch._ops.OpOverload):
        return f"{target.namespace}.{target._schema.name.split('::')[1]}.{target._overloadname}"
    if isinstance(target, torch._ops.HigherOrderOperator):
        return f"higher_order.{target.name()}"
    module = getattr(target, "__module__", "")
    return f"{'torch' if module.startswith('torch') else '_operator'}.{target.__name__}"


def check(qfold: Path, cases: list[Case], form: str, folder: Path, seen: set[str]) -> list[list[str]]:
    """Halves a group that fails as a whole, down to the case."""
    try:
        return check_group(qfold, cases, form, folder, seen)
    except Failure as e:
        if len(cases) == 1:
            return [[str(e)]]
        half = len(cases) // 2
        return check(qfold, cases[:half], form, folder, seen) + check(qfold, cases[half:], form, folder, seen)


def groups(cases: list[Case]) -> Iterator[tuple[str, list[Case]]]:
    """Forms and cases to check together; both forms of a group follow each other, so that it is exported once."""
    for core, keeps in ((False, False), (True, False), (False, True)):
        part = [c for c in cases if c.core == core and bool(c.keep) == keeps]
        for at in range(0, len(part), GROUP):
            yield from ((form, part[at:at + GROUP]) for form in (FORMS if core else FORMS[:1]))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--qfold", type=Path)
    parser.add_argument("--only", default="*")
    parser.add_argument("--keep", type=Path, help="folder for the last files")
    parser.add_argument("--list", action="store_true")
    args = parser.parse_args()
    cases = [c for c in (*all_cases(), *math_cases(), *order_cases(), *affine_cases(), *complex_cases(), *special_cases(), *window_cases(), *out_cases(), *edge_cases()) if fnmatch.fnmatch(c.name, args.only)]
    if args.list or not args.qfold:
        print("\n".join(c.name for c in cases))
        return 0 if args.list else 2
    passed = failed = 0
    seen: set[str] = set()
    with tempfile.TemporaryDirectory() as scratch:
        folder = args.keep or Path(scratch)
        for form, group in groups(cases):
            for case, bad in zip(group, check(args.qfold, group, form, folder, seen), strict=True):
                passed, failed = passed + (not bad), failed + bool(bad)
                for text in bad:
                    print(f"FAILED {case.name} {form}: {text}", flush=True)
    rows = {r.name for r in read_rows(TABLE) if r.macro != "QF_KEEP"}
    unseen = sorted(rows - seen) if args.only == "*" else []
    for name in unseen:
        print(f"NOT MET {name}: no export has it; tests/io/test_aten.c covers its meaning")
    print(f"{passed} passed, {failed} failed, {len(unseen)} skipped")
    return failed != 0


if __name__ == "__main__":
    sys.exit(main())
