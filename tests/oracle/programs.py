#!/usr/bin/env python3
"""Random programs (program_maker.py) through the fold, against torch.

    programs.py --qfold PROGRAM [--seeds N] [--first SEED] [--seconds S] [--keep FOLDER]

Every program is exported as torch traces it, functional, or decomposed to core, and folded by default and with a random choice of
options. Checked for each fold: the file loads; two steps give the outputs and the state of the unfolded program, bit for bit except
behind operators that torch does not define to the bit; other threads and instruction sets, and folding again, give the same bytes;
`verify` agrees; every node has its verdict, and none that depends on constants alone stays without a reason.
A program that fails is made smaller and printed as code. The last line is `N passed, N failed, N skipped`; exit 1 on a failure."""
from __future__ import annotations

import argparse
import collections
import functools
import itertools
import json
import logging
import os
import random
import subprocess
import sys
import tempfile
import time
import typing
import warnings
import zipfile
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from program_maker import Maker, Program, inputs

warnings.filterwarnings("ignore")
logging.disable(logging.CRITICAL)
torch.set_num_threads(1)
hints_of = typing.get_type_hints
hints_of_class = functools.lru_cache(maxsize=None)(hints_of)
# Loading a program asks this of the same few classes for every object in it: half of the time.
typing.get_type_hints = lambda x, *a, **k: hints_of(x, *a, **k) if a or k or not isinstance(x, type) else hints_of_class(x)
FORMS = ("raw", "functional", "core")
OPTIONS = ((), ("--max-growth", "none", "--fold-dequant"), ("--fold-dequant",), ("--contiguous",), ("--max-growth", "0"), ("--max-growth",
    "none"),
           ("--memory", "1M"), ("--exact",), ("--max-growth", "none", "--contiguous"), ("--keep-op", "aten.s*"))
SAME_BYTES = (({}, ("--threads", "1")), ({}, ("--threads", "2")), ({"QFOLD_CAPS": "scalar"}, ()))
SHRINK_SECONDS = 40


class Skip(Exception):
    """torch does not export, load or run the program itself."""


class Wrong(Exception):
    """What the fold did is not right, and with which options."""
    form = "raw"
    options: tuple[str, ...] = ()


def trace(program: Program) -> torch.export.ExportedProgram:
    if program.dynamic:
        sizes = {"x": {0: torch.export.Dim("n", min=2, max=64)}, "i": None}
        try:
            return torch.export.export(program.module(), inputs(0), strict=False, dynamic_shapes=sizes)
        except Exception:  # noqa: BLE001  some statement needs a known size
            program.dynamic = False
    return torch.export.export(program.module(), inputs(0), strict=False)


def export(program: Program, form: str, path: Path) -> None:
    try:
        with torch.no_grad():
            exported = trace(program)
            if form != "raw":
                exported = exported.run_decompositions({} if form == "functional" else None)
            torch.export.save(exported, str(path))
    except Exception as e:  # noqa: BLE001  torch raises what it likes
        raise Skip(f"export: {str(e).splitlines()[0][:100] if str(e) else type(e).__name__}") from e


def bits(t: Tensor) -> Tensor:
    """Elements as integers; NaNs are one value."""
    if not t.dtype.is_floating_point:
        return t.contiguous()
    size = {1: torch.int8, 2: torch.int16, 4: torch.int32, 8: torch.int64}[t.element_size()]
    return torch.where(t.isnan(), torch.full_like(t, float("nan")), t).contiguous().view(size)


def differs(want: Any, got: Any, inexact: bool) -> str | None:
    if not isinstance(want, Tensor):
        return None if want == got else f"{got!r}, unfolded {want!r}"
    if want.dtype != got.dtype or want.shape != got.shape:
        return f"{got.dtype} {tuple(got.shape)}, unfolded {want.dtype} {tuple(want.shape)}"
    if torch.equal(bits(want), bits(got)):
        return None
    if inexact and want.dtype.is_floating_point:
        near = {torch.bfloat16: 2e-2, torch.float16: 4e-3}.get(want.dtype, 1e-4)
        if torch.allclose(want.double(), got.double(), rtol=near, atol=near, equal_nan=True):
            return None
    return f"{got.flatten()[:8].tolist()}, unfolded {want.flatten()[:8].tolist()}"


def run(path: Path, program: Program) -> tuple[list[list[Any]], dict[str, Tensor], Any]:
    """Outputs of two steps, the state behind them, the exported program."""
    exported = torch.export.load(str(path))
    module = exported.module()
    steps = []
    with torch.no_grad():
        for step in range(2):
            torch.manual_seed(step)
            steps.append([v.clone() if isinstance(v, Tensor) else v for v in module(*inputs(step, program.dynamic))])
    return steps, {n: v.clone() for n, v in module.state_dict().items()}, exported


def compare(program: Program, want: tuple[Any, ...], got: tuple[Any, ...]) -> None:
    names = program.results
    for step in range(2):
        for k, (w, g) in enumerate(zip(want[0][step], got[0][step], strict=True)):
            if text := differs(w, g, names[k] in program.inexact):
                raise Wrong(f"result {k} ({names[k]}) in step {step}: {text}")
    for name, value in got[1].items():
        if name in want[1] and (text := differs(want[1][name], value, False)):
            raise Wrong(f"state {name}: {text}")


def qfold(program: Path, *words: Any, env: dict[str, str] | None = None, codes: tuple[int, ...] = (0,)) -> str:
    done = subprocess.run([str(program), *map(str, words)], capture_output=True, text=True, errors="replace",
        env={**os.environ, **(env or {})}, timeout=60)
    if done.returncode not in codes:
        raise Wrong(f"{' '.join(map(str, words[:1] + words[2:]))}: exit {done.returncode}: {(done.stderr or done.stdout).strip()[-300:]}")
    return done.stdout


def constant_nodes(exported: Any) -> set[str]:
    """Names of calls that no input and no state reaches."""
    signature = exported.graph_signature
    outside = set(signature.user_inputs) | {n for n, b in signature.inputs_to_buffers.items() if b in signature.buffers_to_mutate.values()}
    reached: set[str] = set()
    for node in exported.graph.nodes:
        writes = node.op == "call_function" and getattr(getattr(node.target, "_schema", None), "is_mutable", False)
        if node.name in outside or any(a.name in reached for a in node.all_input_nodes):
            reached.add(node.name)
            if writes:
                reached |= {a.name for a in node.all_input_nodes}
    return {n.name for n in exported.graph.nodes if n.op == "call_function" and n.name not in reached}


def check_report(report: dict[str, Any], source: Path, reasons: collections.Counter[str]) -> None:
    with zipfile.ZipFile(source) as archive:
        model = next(n for n in archive.namelist() if n.endswith("models/model.json"))
        nodes = json.loads(archive.read(model))["graph_module"]["graph"]["nodes"]
    entries = [e for e in report["nodes"] if not e["graph"]]
    if len(entries) != len(nodes):
        raise Wrong(f"{len(entries)} nodes in the report, {len(nodes)} in the file")
    for entry in report["nodes"]:
        if entry["verdict"] not in ("folded", "kept", "dead") or (entry["verdict"] == "kept") != bool(entry["reason"]):
            raise Wrong(f"verdict {entry['verdict']!r} with reason {entry['reason']!r} of {entry['name']}")
        if entry["verdict"] == "kept":
            reasons[f"{entry['reason']} {entry['op']}"] += 1


def check_fold(tool: Path, source: Path, options: tuple[str, ...], program: Program, want: tuple[Any, ...], folder: Path,
               reasons: collections.Counter[str]) -> None:
    target, again, report = folder / "out.pt2", folder / "again.pt2", folder / "report.json"
    qfold(tool, "fold", source, "-o", target, "--force", "--quiet", "--json", report, *options)
    check_report(json.loads(report.read_text()), source, reasons)
    folded = target.read_bytes()
    for env, more in SAME_BYTES:
        qfold(tool, "fold", source, "-o", again, "--force", "--quiet", *options, *more, env=env)
        if again.read_bytes() != folded:
            raise Wrong(f"other bytes with {more} {env}")
    qfold(tool, "fold", target, "-o", again, "--force", "--quiet", *options)
    if again.read_bytes() != folded:
        raise Wrong("folding again changed bytes")
    qfold(tool, "verify", source, target)
    try:
        got = run(target, program)
    except Exception as e:
        raise Wrong(f"torch does not run the result: {str(e).strip().splitlines()[-1][:300] if str(e) else type(e).__name__}") from e
    compare(program, want, got)


def repeatable(source: Path, program: Program, want: tuple[Any, ...]) -> bool:
    try:
        compare(program, want, run(source, program))
    except Wrong:
        return False
    return True


def check(tool: Path, program: Program, form: str, options: list[tuple[str, ...]],
    folder: Path, reasons: collections.Counter[str]) -> None:
    source = folder / "in.pt2"
    export(program, form, source)
    try:
        want = run(source, program)
    except Exception as e:  # noqa: BLE001
        raise Skip(f"run: {str(e).splitlines()[0][:100] if str(e) else type(e).__name__}") from e
    for some in options:
        try:
            check_fold(tool, source, some, program, want, folder, reasons)
        except Wrong as e:
            e.form, e.options = form, some
            if not repeatable(source, program, want):
                raise Skip("run: not the same twice") from e
            raise


def check_any(tool: Path, program: Program, form: str, options: list[tuple[str, ...]],
    folder: Path, reasons: collections.Counter[str]) -> None:
    """In this form, or raw where torch cannot decompose what it exports."""
    try:
        check(tool, program, form, options, folder, reasons)
    except Skip:
        if form == "raw":
            raise
        check(tool, program, "raw", options, folder, reasons)


def fails(tool: Path, program: Program, form: str, options: list[tuple[str, ...]], folder: Path) -> str:
    try:
        check(tool, program, form, options, folder, collections.Counter())
    except Wrong as e:
        return str(e)
    except Exception:  # noqa: BLE001  a part that others need was left out
        pass
    return ""


def smaller(tool: Path, program: Program, form: str, options: tuple[str, ...], folder: Path, text: str) -> tuple[Program, str]:
    """Leaves out results, statements and stored tensors, many at once and then one by one, while it still fails."""
    end = time.monotonic() + SHRINK_SECONDS
    for part, n in itertools.product(("results", "body", "stored"), (16, 8, 4, 2, 1, 1)):
        at = len(getattr(program, part)) - n
        while at > -n and time.monotonic() < end:
            less = program.without(part, max(at, 0), at + n)
            if less.results and (now := fails(tool, less, form, [options], folder)):
                program, text = less, now
            at -= n
    return program, text


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--qfold", type=Path, required=True)
    parser.add_argument("--seeds", type=int, default=12)
    parser.add_argument("--first", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=1e9, help="stop after this time")
    parser.add_argument("--keep", type=Path, help="folder for the files of the last program")
    parser.add_argument("--reasons", action="store_true", help="also say what was kept, for which reason, how often")
    args = parser.parse_args()
    passed = failed = skipped = 0
    reasons: collections.Counter[str] = collections.Counter()
    end = time.monotonic() + args.seconds
    with tempfile.TemporaryDirectory() as scratch:
        folder = args.keep or Path(scratch)
        folder.mkdir(parents=True, exist_ok=True)
        for seed in range(args.first, args.first + args.seeds):
            if time.monotonic() > end:
                break
            draw = random.Random(seed)
            form = FORMS[seed % len(FORMS)]
            program = Maker(seed).make(draw.randint(10, 60))
            options = [(), draw.choice(OPTIONS[1:])]
            try:
                check_any(args.qfold, program, form, options, folder, reasons)
                passed += 1
            except Skip as e:
                print(f"SKIP {seed}: {e}", flush=True)
                skipped += 1
            except Wrong as e:
                failed += 1
                program, text = smaller(args.qfold, program, e.form, e.options, folder, str(e))
                print(f"FAILED {seed} {e.form} {' '.join(e.options)}: {text}\n{program.code()}", flush=True)
    for text, n in reasons.most_common() if args.reasons else ():
        print(f"{n:6} {text}")
    print(f"{passed} passed, {failed} failed, {skipped} skipped")
    return failed != 0


if __name__ == "__main__":
    sys.exit(main())
