#!/usr/bin/env python3
"""The carry matrix: views and concatenations of quantised weights, by granularity and storage dtype.

    carry.py --qfold PROGRAM [--only GLOB] [--keep FOLDER]

Every cell is weight -> dequantize -> view -> a use that depends on an input. Where the operator can say the result, the integers must
stand in the folded file as torch's view of them and the dequantize behind them; where it cannot, the view stays for `quant_layout`, or
`quant_shared` if somebody else needs the weight as it was. What is split has a dequantize for each piece. With --fold-dequant everything folds, exact to torch. The last
line is `N passed, N failed, N skipped`; exit 1 on a failure."""
from __future__ import annotations

import argparse
import fnmatch
import json
import logging
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import torch
import torch.ao.quantization.fx._decomposed  # noqa: F401  registers quantized_decomposed
import torchao.quantization.quant_primitives  # noqa: F401  registers torchao
from torch import Tensor, nn

warnings.filterwarnings("ignore")
logging.disable(logging.CRITICAL)
torch.set_num_threads(1)
Q = torch.ops.quantized_decomposed
ROWS, COLUMNS, GROUP = 6, 16, 4
# storage: dtype, least and largest value. 4-bit values in containers of 8.
STORAGES = {"i8": (torch.int8, -128, 127), "u8": (torch.uint8, 0, 255), "i16": (torch.int16, -32768, 32767),
            "i4": (torch.int8, -8, 7), "u4": (torch.uint8, 0, 15), "f8e4m3": (torch.float8_e4m3fn, -448, 448),
            "f8e5m2": (torch.float8_e5m2, -57344, 57344)}
BLOCK_SIZES = {"blocks_tensor": [ROWS, COLUMNS], "blocks_axis": [1, COLUMNS], "blocks_group": [1, GROUP], "blocks_tile": [2, GROUP]}
KEPT = ("quant_layout", "quant_shared")


@dataclass(frozen=True)
class View:
    """run: a view of one weight, or of two, or several views. carried: granularities in which the operator can say the result."""
    name: str
    run: Callable[..., Tensor | tuple[Tensor, ...]]
    carried: frozenset[str]
    n: int = 1
    pieces: int = 1

    def views(self, *weights: Tensor) -> tuple[Tensor, ...]:
        found = self.run(*weights)
        return (found,) if isinstance(found, Tensor) else tuple(found)


def where(*granularities: str) -> frozenset[str]:
    return frozenset(granularities)


ALL = where("tensor", "axis", "group")
# torchao's operator states its blocks, so it can say nearly everything; "tile" has blocks of two rows.
RUNS = where("blocks_tensor", "blocks_axis", "blocks_group")
BLOCKS = RUNS | where("blocks_tile")
VIEWS = [
    View("permute", lambda w: w.permute(1, 0), where("tensor", "axis") | BLOCKS),
    View("transpose", lambda w: w.transpose(0, 1), where("tensor", "axis") | BLOCKS),
    View("view", lambda w: w.view(ROWS, COLUMNS // 2, 2), where("tensor", "axis") | BLOCKS),
    View("view_of_groups", lambda w: w.view(ROWS * 2, COLUMNS // 2), where("tensor", "group") | RUNS),
    View("reshape", lambda w: w.reshape(ROWS * COLUMNS), where("tensor") | RUNS),
    View("unsqueeze", lambda w: w.unsqueeze(0), where("tensor", "axis") | BLOCKS),
    View("squeeze", lambda w: w.unsqueeze(1).squeeze(1), where("tensor", "axis") | BLOCKS),
    View("slice_rows", lambda w: w[1:5], ALL | RUNS),
    View("slice_columns", lambda w: w[:, GROUP:3 * GROUP], ALL | BLOCKS),
    View("slice_across_groups", lambda w: w[:, 1:7], where("tensor", "axis") | where("blocks_tensor", "blocks_axis")),
    View("slice_steps", lambda w: w[::2], ALL | RUNS),
    View("select_row", lambda w: w[2], where("tensor") | BLOCKS),
    View("select_column", lambda w: w[:, 3], where("tensor", "axis") | BLOCKS),
    View("split", lambda w: w.split(ROWS // 2), ALL | RUNS, pieces=2),
    View("split_sizes", lambda w: torch.split(w, [GROUP, 2 * GROUP, GROUP], 1), ALL | BLOCKS, pieces=3),
    View("split_tiles", lambda w: torch.split(w, [2, 4]), ALL | BLOCKS, pieces=2),
    View("split_turned", lambda w: tuple(p.t() for p in w.split(2)), where("tensor", "axis") | BLOCKS, pieces=3),
    View("split_of_view", lambda w: w.t().split(COLUMNS // 2), where("tensor", "axis") | BLOCKS, pieces=2),
    View("split_unused", lambda w: w.split(2)[::2], ALL | BLOCKS, pieces=2),
    View("split_twice", lambda w: w.split(2)[0].split(1), ALL | BLOCKS, pieces=2),
    View("split_joined", lambda w: torch.cat(w.split(2)[::-1]), where()),
    View("chunk", lambda w: w.chunk(2, 1), ALL | BLOCKS, pieces=2),
    View("split_across_groups", lambda w: torch.split(w, [2, COLUMNS - 2], 1), where("tensor", "axis", "blocks_tensor", "blocks_axis"),
         pieces=2),
    View("unbind", lambda w: w.unbind(), where("tensor") | BLOCKS, pieces=ROWS),
    View("cat_rows", lambda a, b: torch.cat([a, b]), where("tensor", "axis", "group") | BLOCKS, 2),
    View("cat_columns", lambda a, b: torch.cat([a, b], 1), where("tensor", "axis", "group") | BLOCKS, 2),
    View("cat_turned", lambda a, b: torch.cat([a.t(), b.t()], 1).t(), where("tensor", "axis") | BLOCKS, 2),
]


class Weights(nn.Module):
    """All views of one granularity and storage; the weights of a view are its own, its scales too."""

    def __init__(self, granularity: str, storage: str) -> None:
        super().__init__()
        self.granularity, (self.dtype, self.low, self.high) = granularity, STORAGES[storage]
        g = torch.Generator().manual_seed(11)
        scales = {"tensor": (1,), "axis": (ROWS,), "group": (ROWS, COLUMNS // GROUP)}.get(granularity)
        if scales is None:
            scales = tuple(n // b for n, b in zip((ROWS, COLUMNS), BLOCK_SIZES[granularity], strict=True))
        for view in VIEWS:
            for k in range(view.n):
                data = torch.randint(max(self.low, -400), min(self.high, 400) + 1, (ROWS, COLUMNS), generator=g)
                self.register_buffer(f"{view.name}_q{k}", data.to(self.dtype))
                # What is joined off the axis must have the same scales.
                if k == 0 or (view.name == "cat_rows" and granularity != "tensor") or granularity not in ("tensor", "axis"):
                    self.register_buffer(f"{view.name}_s{k}", torch.rand(scales, generator=g) / 16 + 0.01)

    def weight(self, view: View, k: int) -> Tensor:
        q = getattr(self, f"{view.name}_q{k}")
        scale = getattr(self, f"{view.name}_s{k}", None)
        scale = getattr(self, f"{view.name}_s0") if scale is None else scale
        if self.granularity == "tensor":
            return Q.dequantize_per_tensor(q, 0.0625, 0 if self.dtype.is_floating_point else 3, self.low, self.high, self.dtype)
        if self.granularity == "axis":
            return Q.dequantize_per_channel(q, scale, None, 0, self.low, self.high, self.dtype)
        if self.granularity in BLOCK_SIZES:
            return torch.ops.torchao.dequantize_affine(q, BLOCK_SIZES[self.granularity], scale, None, self.dtype, self.low, self.high)
        return Q.dequantize_per_channel_group(q, scale, None, self.low, self.high, self.dtype, GROUP, torch.float32)

    def forward(self, x: Tensor) -> list[Tensor]:
        return [x * part for view in VIEWS for part in view.views(*(self.weight(view, k) for k in range(view.n)))]


class Pair(nn.Module):
    """integers -> dequantize -> quantize -> dequantize: what is stored in the end are the integers of the beginning."""

    def __init__(self, granularity: str, storage: str) -> None:
        super().__init__()
        self.granularity, (self.dtype, self.low, self.high) = granularity, STORAGES[storage]
        g = torch.Generator().manual_seed(3)
        self.register_buffer("q", torch.randint(self.low, self.high + 1, (ROWS, COLUMNS), generator=g).to(self.dtype))
        self.register_buffer("scale", torch.rand(ROWS, generator=g) / 16 + 0.01)
        self.register_buffer("zero", torch.randint(-3, 4, (ROWS,), generator=g))

    def forward(self, x: Tensor) -> list[Tensor]:
        bounds = self.low, self.high, self.dtype
        if self.granularity == "tensor":
            w = Q.dequantize_per_tensor(self.q, 0.0371, 2, *bounds)
            return [x * Q.dequantize_per_tensor(Q.quantize_per_tensor(w, 0.0371, 2, *bounds), 0.0371, 2, *bounds)]
        w = Q.dequantize_per_channel(self.q, self.scale, self.zero, 0, *bounds)
        again = Q.quantize_per_channel(w, self.scale, self.zero, 0, *bounds)
        return [x * Q.dequantize_per_channel(again, self.scale, self.zero, 0, *bounds)]


def integers(weights: Weights, view: View) -> tuple[Tensor, ...]:
    """The views of the stored elements, by their bits: not every operator takes every dtype."""
    bits = [getattr(weights, f"{view.name}_q{k}") for k in range(view.n)]
    wide = torch.int16 if weights.dtype == torch.int16 else torch.uint8
    return view.views(*(b.view(wide) for b in bits))


def constant(program: torch.export.ExportedProgram, name: str) -> Tensor:
    signature = program.graph_signature
    fqn = signature.inputs_to_buffers.get(name) or signature.inputs_to_lifted_tensor_constants[name]
    return program.state_dict[fqn] if fqn in program.state_dict else program.constants[fqn]


def is_dequantize(node: torch.fx.Node) -> bool:
    return node.op == "call_function" and "dequantize" in str(node.target)


def check_cell(weights: Weights, view: View, piece: int, program: torch.export.ExportedProgram, product: torch.fx.Node,
               reasons: dict[str, str]) -> str | None:
    used = product.args[1]
    carried = is_dequantize(used)
    if carried != (weights.granularity in view.carried):
        return f"is {'carried' if carried else f'not carried: {used.name} {reasons.get(used.name)}'}"
    if carried:
        want, have = integers(weights, view)[piece], constant(program, used.args[0].name)
        have = have.view(want.dtype)
        return None if torch.equal(want, have) else f"holds {have}, not {want}"
    chain, found = [used], []
    while chain:
        node = chain.pop()
        found.append(reasons.get(node.name))
        chain += [] if is_dequantize(node) else [n for n in node.all_input_nodes if n.op == "call_function"]
    return None if any(r in KEPT for r in found) else f"stays for {found}"


def fold(tool: Path, source: Path, target: Path, *options: str) -> dict[str, str]:
    report = target.with_suffix(".json")
    subprocess.run([tool, "fold", source, "-o", target, "--force", "-q", "--json", report, *options], check=True)
    return {n["name"]: n["reason"] for n in json.loads(report.read_text())["nodes"]}


def outputs(program: torch.export.ExportedProgram, x: Tensor) -> list[Tensor]:
    return program.module()(x)


def findings(granularity: str, storage: str, tool: Path, folder: Path) -> Iterator[tuple[str, str | None]]:
    source, target, wide = (folder / n for n in ("in.pt2", "out.pt2", "wide.pt2"))
    weights, x = Weights(granularity, storage).eval(), torch.tensor(1.7)
    torch.export.save(torch.export.export(weights, (x,), strict=False), str(source))
    reasons = fold(tool, source, target)
    program, before = torch.export.load(str(target)), outputs(torch.export.load(str(source)), x)
    products = next(n for n in program.graph.nodes if n.op == "output").args[0]
    fold(tool, source, wide, "--fold-dequant", "--max-growth", "none")
    widened = torch.export.load(str(wide))
    after, exact = outputs(program, x), outputs(widened, x)
    left = [n.name for n in widened.graph.nodes if is_dequantize(n)]
    cells = [(view, piece) for view in VIEWS for piece in range(view.pieces)]
    for k, (view, piece) in enumerate(cells):
        wrong = check_cell(weights, view, piece, program, products[k], reasons)
        if not torch.equal(before[k], after[k]):
            wrong = "another result"
        if not torch.equal(before[k], exact[k]):
            wrong = "another result with --fold-dequant"
        yield f"{granularity}/{storage}/{view.name}{piece or ''}", wrong
    yield f"{granularity}/{storage}/all_folded", f"with --fold-dequant, {left} are left" if left else None
    again = folder / "again.pt2"
    fold(tool, target, again)
    yield f"{granularity}/{storage}/again", None if again.read_bytes() == target.read_bytes() else "folding again changes bytes"


def pair_findings(granularity: str, storage: str, tool: Path, folder: Path) -> Iterator[tuple[str, str | None]]:
    source, target = folder / "in.pt2", folder / "out.pt2"
    pair, x = Pair(granularity, storage).eval(), torch.tensor(1.7)
    torch.export.save(torch.export.export(pair, (x,), strict=False), str(source))
    fold(tool, source, target)
    program = torch.export.load(str(target))
    used = next(n for n in program.graph.nodes if n.op == "output").args[0][0].args[1]
    wrong = None if is_dequantize(used) else f"{used.name} stands in front of the use"
    if not wrong and not torch.equal(constant(program, used.args[0].name), pair.q):
        wrong = "other integers"
    if not torch.equal(outputs(program, x)[0], outputs(torch.export.load(str(source)), x)[0]):
        wrong = "another result"
    yield f"{granularity}/{storage}/pair", wrong


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--qfold", type=Path, required=True)
    parser.add_argument("--only", default="*/*", help="glob over GRANULARITY/STORAGE")
    parser.add_argument("--keep", type=Path, help="folder for the files of the last row")
    args = parser.parse_args()
    passed = failed = skipped = 0
    with tempfile.TemporaryDirectory() as scratch:
        folder = args.keep or Path(scratch)
        folder.mkdir(parents=True, exist_ok=True)
        for granularity, storage in ((g, s) for g in ("tensor", "axis", "group", *BLOCK_SIZES) for s in STORAGES):
            if not fnmatch.fnmatch(f"{granularity}/{storage}", args.only):
                continue
            if granularity != "tensor" and STORAGES[storage][0].is_floating_point:
                print(f"SKIP {granularity}/{storage}: torch itself refuses f8 times f32")
                skipped += sum(v.pieces for v in VIEWS)
                continue
            found = list(findings(granularity, storage, args.qfold, folder))
            if granularity in ("tensor", "axis") and not STORAGES[storage][0].is_floating_point:
                found += pair_findings(granularity, storage, args.qfold, folder)
            for name, wrong in found:
                passed, failed = passed + (wrong is None), failed + (wrong is not None)
                if wrong is not None:
                    print(f"FAILED {name}: {wrong}", flush=True)
    print(f"{passed} passed, {failed} failed, {skipped} skipped")
    return failed != 0


if __name__ == "__main__":
    sys.exit(main())
