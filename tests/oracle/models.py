#!/usr/bin/env python3
"""Real models (model_zoo.py) through the fold, each exported by torch as it is, functional, and decomposed to core. Nothing is
downloaded.

    models.py --qfold PROGRAM [--only GLOB] [--models FOLDER] [--large]

Checked for each: the folded file loads; every node that depends on no input is folded, but for reasons that the
model's row names; every stored constant has the bits
that torch computes (within 2 ulp behind sums and transcendentals, which torch does not define to the bit; where torch itself is
further off, those of the program in f64), and so have the outputs if no constant was inexact, else they are within the row's
tolerance; folding again changes no byte.
The last line is `N passed, N failed, N skipped`; exit 1 on a failure."""
from __future__ import annotations

import argparse
import fnmatch
import json
import logging
import subprocess
import sys
import tempfile
import warnings
from pathlib import Path
from typing import Any

import torch

from model_zoo import MODELS, Model, dynamic_shapes

warnings.filterwarnings("ignore")
logging.getLogger("torch._export").setLevel(logging.ERROR)
torch.set_num_threads(1)
FORMS = ("raw", "functional", "core")


def export(model: Model, form: str, path: Path) -> None:
    torch.manual_seed(0)
    module, inputs = model.make()
    with torch.no_grad():
        if model.free:  # torch takes a dimension of one to be fixed
            inputs = tuple(torch.cat([x] * 2) if 0 in dims else x for x, dims in zip(inputs, model.free, strict=True))
        program = torch.export.export(module.eval(), inputs, strict=False, dynamic_shapes=dynamic_shapes(model))
        if form != "raw":
            program = program.run_decompositions({} if form == "functional" else None)
        torch.export.save(program, str(path))


def outputs(path: Path) -> tuple[list[torch.Tensor], Any]:
    program = torch.export.load(str(path))
    args, kwargs = program.example_inputs
    with torch.no_grad():
        return torch.utils._pytree.tree_leaves(program.module()(*args, **kwargs)), program


def difference(want: list[torch.Tensor], got: list[torch.Tensor], wide: bool = False) -> float:
    """Largest distance relative to the largest magnitude. wide: `want` may be of another dtype."""
    worst = 0.0
    for w, g in zip(want, got, strict=True):
        if (w.dtype != g.dtype and not wide) or w.shape != g.shape:
            return float("inf")
        if not torch.equal(w, g.to(w.dtype)):
            worst = max(worst, float((w.double() - g.double()).abs().max() / w.double().abs().max()))
    return worst


def placeholders(program: Any) -> dict[str, torch.Tensor]:
    """Stored tensors by the name of their placeholder."""
    stored = {**program.state_dict, **program.constants}
    return {s.arg.name: stored[s.target] for s in program.graph_signature.input_specs if s.target in stored}


def node_values(program: Any, wide: bool = False) -> dict[str, Any]:
    """What every node of the program computes for its example inputs. wide: with all that is stored or given in f64."""
    values: dict[str, Any] = {}

    class Recorder(torch.fx.Interpreter):
        def run_node(self, n: torch.fx.Node) -> Any:
            values[n.name] = super().run_node(n)
            return values[n.name]

    given = placeholders(program)
    leaves = iter(torch.utils._pytree.tree_leaves(program.example_inputs))
    names = [n.name for n in program.graph.nodes if n.op == "placeholder"]
    arguments = [given[n] if n in given else next(leaves) for n in names]
    if wide:
        arguments = [a.double() if isinstance(a, torch.Tensor) and a.is_floating_point() else a for a in arguments]
    with torch.no_grad():
        Recorder(program.graph_module).run(*arguments)
    return values


def ulps_apart(want: torch.Tensor, got: torch.Tensor) -> float:
    """Largest distance in units of the last place of `want`; 0 for equal bits or NaN both, infinite for different types."""
    if want.dtype != got.dtype or want.shape != got.shape:
        return float("inf")
    if torch.equal(want, got) or not want.dtype.is_floating_point:
        return 0.0 if torch.equal(want, got) else float("inf")
    w, g = want.double(), got.double()
    unit = torch.exp2(torch.floor(torch.log2(w.abs().clamp_min(torch.finfo(want.dtype).tiny)))) * torch.finfo(want.dtype).eps
    same = (w == g) | (w.isnan() & g.isnan())
    return float(torch.where(same, 0.0, (w - g).abs() / unit).max())


def new_constants(before: Any, after: Any) -> dict[str, torch.Tensor]:
    """Constants of the folded program that stand for nodes of the original one."""
    old, nodes = placeholders(before), {n.name for n in before.graph.nodes}
    return {n: v for n, v in placeholders(after).items() if n not in old and n in nodes}


def constants_apart(before: Any, after: Any) -> float:
    """Largest distance, in ulps, of a constant of the folded program from what torch computes for it in the original one."""
    values = node_values(before)
    return max((ulps_apart(values[n], v) for n, v in new_constants(before, after).items()), default=0.0)


def apart_from_exact(before: Any, after: Any) -> float:
    """Largest relative distance of a constant of the folded program from the original one run in f64."""
    values = node_values(before, wide=True)
    return max((difference([values[n]], [v], wide=True) for n, v in new_constants(before, after).items()), default=0.0)


def constant_nodes(program: Any) -> set[str]:
    """Names of calls that no input reaches and that draw nothing."""
    signature, reached = program.graph_signature, set()
    for node in program.graph.nodes:
        runtime = node.op == "placeholder" and node.name in signature.user_inputs
        if runtime or any(a.name in reached for a in node.all_input_nodes):
            reached.add(node.name)
    return {n.name for n in program.graph.nodes if n.op == "call_function" and n.name not in reached}


def findings(model: Model, form: str, qfold: Path, source: Path, folder: Path) -> list[str]:
    target, report = folder / "folded.pt2", folder / "report.json"
    for old in (target, report):
        old.unlink(missing_ok=True)
    run = subprocess.run([qfold, "fold", source, "-o", target, "--json", report], capture_output=True, text=True)
    if run.returncode:
        return [f"exit {run.returncode}: {run.stderr.strip()[-200:]}"]
    wrong = []
    want, before = outputs(source)
    got, after = outputs(target)
    error = difference(want, got)
    if model.exact:
        exact = apart_from_exact(before, after)
        if exact > model.exact or error > model.tolerance:
            wrong.append(f"a constant is {exact:.3g} from the program in f64, allowed {model.exact:.3g}; "
                         f"outputs {error:.3g} from torch's f32, allowed {model.tolerance:.3g}")
    else:
        apart = constants_apart(before, after)
        allowed = model.tolerance if apart else 0.0
        if apart > model.ulps:
            wrong.append(f"a constant is {apart:.3g} ulp off, allowed {model.ulps}")
        if error > allowed:
            wrong.append(f"outputs differ by {error:.3g}, allowed {allowed:.3g}")
    entries = {e["name"]: e for e in json.loads(report.read_text())["nodes"]}
    stays = {n: entries.get(n, {}).get("reason", "none") for n in constant_nodes(before) & constant_nodes(after) if "getitem" not in n}
    wrong.extend(f"{n} depends on no input and stays: {reason}" for n, reason in sorted(stays.items()) if reason not in model.stays)
    left = [n.name for n in after.graph.nodes if any(fnmatch.fnmatch(str(n.target), p) for p in model.gone)]
    if left:
        wrong.append(f"left: {left}")
    again = folder / "again.pt2"
    again.unlink(missing_ok=True)
    subprocess.run([qfold, "fold", target, "-o", again], capture_output=True, check=True)
    if again.read_bytes() != target.read_bytes():
        wrong.append("folding again changed bytes")
    return wrong


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--qfold", type=Path, required=True)
    parser.add_argument("--only", default="*", help="glob over MODEL-FORM")
    parser.add_argument("--models", type=Path, help="keep exported models here and reuse them")
    parser.add_argument("--large", action="store_true", help="also the models that take minutes to export")
    options = parser.parse_args()
    passed = failed = skipped = 0
    with tempfile.TemporaryDirectory() as scratch:
        folder = options.models or Path(scratch)
        folder.mkdir(parents=True, exist_ok=True)
        for model, form in ((m, f) for m in MODELS for f in FORMS if fnmatch.fnmatch(f"{m.name}-{f}", options.only)):
            name = f"{model.name}-{form}"
            if model.large and not options.large:
                print(f"SKIP {name}: large, run with --large")
                skipped += 1
                continue
            source = folder / f"{name}.pt2"
            if not source.exists():
                export(model, form, source)
            wrong = findings(model, form, options.qfold, source, Path(scratch))
            print(f"{'FAIL' if wrong else 'PASS'} {name}{': ' + '; '.join(wrong) if wrong else ''}", flush=True)
            passed, failed = passed + (not wrong), failed + bool(wrong)
    print(f"{passed} passed, {failed} failed, {skipped} skipped")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
