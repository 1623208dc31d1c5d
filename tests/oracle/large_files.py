#!/usr/bin/env python3
"""Files of gigabytes, made of holes: sizes past 31 bits, planning that reads no payload, memory that does not grow with the file, and
archives of several programs.

    large_files.py --qfold PROGRAM

The last line is `N passed, N failed, N skipped`; exit 1 on a failure."""
from __future__ import annotations

import argparse
import json
import logging
import resource
import struct
import subprocess
import sys
import tempfile
import time
import warnings
import zipfile
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

warnings.filterwarnings("ignore")
logging.disable(logging.CRITICAL)
torch.set_num_threads(1)
MIB = 1 << 20
FIXTURES = Path(__file__).resolve().parents[1] / "fixtures"


class Weighted(nn.Module):
    def __init__(self, run: Callable[[Any, Tensor], Any], **state: Tensor) -> None:
        super().__init__()
        self.run = run
        for name, value in state.items():
            self.register_buffer(name, value)

    def forward(self, x: Tensor) -> Any:
        return self.run(self, x)


def export(module: nn.Module, path: Path) -> None:
    with torch.no_grad():
        torch.export.save(torch.export.export(module, (torch.ones(3),), strict=False), str(path))


def checksum(size: int, pieces: dict[int, bytes]) -> int:
    """Of zeros with `pieces` at their offsets."""
    zeros, crc, at = bytes(64 * MIB), 0, 0
    for offset, piece in (*sorted(pieces.items()), (size, b"")):
        while at < offset:
            n = min(len(zeros), offset - at)
            crc, at = zlib.crc32(zeros[:n], crc), at + n
        crc, at = zlib.crc32(piece, crc), at + len(piece)
    return crc


def rewrite(source: Path, target: Path, holes: dict[str, tuple[int, dict[int, bytes]]], texts: dict[str, Callable[[Any], Any]]) -> None:
    """The archive with members that end in a key of `holes` made sparse, and JSON members that end in a key of `texts` edited."""
    directory = b""
    with zipfile.ZipFile(source) as archive, target.open("wb") as out:
        members = archive.infolist()
        for info in members:
            data, name = archive.read(info), info.filename.encode()
            edit = next((f for end, f in texts.items() if info.filename.endswith(end)), None)
            data = json.dumps(edit(json.loads(data))).encode() if edit else data
            size, pieces = next((h for end, h in holes.items() if info.filename.endswith(end)), (len(data), {0: data}))
            at, crc = out.tell(), checksum(size, pieces)
            pad = -(at + 34 + len(name)) % 64
            common = struct.pack("<HHHHHIIIHH", 20, 0, 0, 0, 0, crc, size, size, len(name), 0)
            out.write(b"PK\3\4" + common[:-2] + struct.pack("<H", pad + 4) + name + struct.pack("<HH", 0x4246, pad) + bytes(pad))
            begin = out.tell()
            for offset, piece in pieces.items():
                out.seek(begin + offset)
                out.write(piece)
            out.seek(begin + size)
            directory += b"PK\1\2" + struct.pack("<H", 20) + common + struct.pack("<HHHII", 0, 0, 0, 0, at) + name
        at = out.tell()
        out.write(directory + b"PK\5\6" + struct.pack("<HHHHIIH", 0, 0, len(members), len(members), len(directory), at, 0))


def run(*command: str | Path, memory: int = 400 * MIB) -> tuple[subprocess.CompletedProcess[bytes], float]:
    """What a command gave that may map so many bytes, and its seconds."""
    begin = time.monotonic()
    done = subprocess.run([str(c) for c in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False,
                          preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (memory, memory)))
    return done, time.monotonic() - begin


def wide_meta(sizes: list[int], strides: list[int]) -> Callable[[Any], Any]:
    def edit(config: Any) -> Any:
        meta = next(iter(config["config"].values()))["tensor_meta"]
        meta["sizes"], meta["strides"] = ([{"as_int": n} for n in part] for part in (sizes, strides))
        return config
    return edit


def strides_past_31_bits(qfold: Path, folder: Path) -> Iterator[str]:
    """Rows of a view that stand 2^31 bytes apart."""
    small, big, out = folder / "small.pt2", folder / "big.pt2", folder / "out.pt2"
    export(Weighted(lambda m, x: x + (m.w + 1), w=torch.zeros(11, dtype=torch.int8).as_strided((2, 3), (8, 1))), small)
    far = 1 << 31

    def record(model: Any) -> Any:
        values = model["graph_module"]["graph"]["tensor_values"]
        for value in values.values():
            if [s.get("as_int") for s in value["strides"]] == [8, 1]:
                value["strides"][0]["as_int"] = far
        return model

    rewrite(small, big, {"weight_0": (far + 3, {0: bytes([1, 2, 3]), far: bytes([4, 5, 6])})},
            {"model_weights_config.json": wide_meta([2, 3], [far, 1]), "model.json": record})
    done, _ = run(qfold, "fold", big, "-o", out, "--force", "-q")
    if done.returncode:
        yield f"exit {done.returncode}: {done.stdout.decode().strip()}"
        return
    got = torch.export.load(str(out)).module()(torch.zeros(3)).tolist()
    if got != [[2, 3, 4], [5, 6, 7]]:
        yield f"the folded program gives {got}"


def no_elements_past_63_bits(qfold: Path, folder: Path) -> Iterator[str]:
    """A zero among sizes whose product does not fit: an empty tensor, which stays and is equal to itself."""
    wide, out = folder / "wide.pt2", folder / "out.pt2"
    rewrite(FIXTURES / "views.pt2", wide, {}, {"model_weights_config.json": wide_meta([0, 1 << 62, 8], [1, 1, 1])})
    for command in (("fold", wide, "-o", out, "-q"), ("verify", wide, out)):
        done, _ = run(qfold, *command)
        if done.returncode:
            yield f"{command[0]}: exit {done.returncode}: {done.stdout.decode().strip()}"


def layers(n: int) -> Callable[[Any, Tensor], Any]:
    """Every weight doubled and laid out anew, as a result of its own."""
    return lambda m, x: (x, *((getattr(m, f"w{i}") * 2).t().contiguous() for i in range(n)))


def many_layers(qfold: Path, folder: Path) -> Iterator[str]:
    """Four times the layers: four times the bytes read, not more memory than the working space and the code, a fraction of the file."""
    side, report, reads = 1024, folder / "report.json", {}
    for n in (10, 40):
        big, out = folder / "big.pt2", folder / "out.pt2"
        export(Weighted(layers(n), **{f"w{i}": torch.full((side, side), float(i)) for i in range(n)}), big)
        done, _ = run(qfold, "fold", big, "-o", out, "--force", "-q", "--memory", "16M", "--threads", "2", "--json", report, memory=120 * MIB)
        if done.returncode:
            yield f"{n} layers: exit {done.returncode}: {done.stdout.decode().strip()}"
            return
        reads[n] = json.loads(report.read_text())["run"]["read_bytes"]
        if big.stat().st_size < n * side * side * 4 or out.stat().st_size < n * side * side * 4:
            yield f"{n} layers: files of {big.stat().st_size} and {out.stat().st_size} bytes"
    if reads[40] > 4.1 * reads[10] or reads[10] < 10 * side * side * 4:
        yield f"10 layers read {reads[10]} bytes, 40 read {reads[40]}"


def plan_reads_no_payload(qfold: Path, folder: Path) -> Iterator[str]:
    """3 GiB: planned and listed within a second, in little memory."""
    small, big = folder / "small.pt2", folder / "big.pt2"
    export(Weighted(lambda m, x: (x + m.k * 2, m.w), w=torch.zeros(64, dtype=torch.uint8), k=torch.ones(3)), small)
    size = 3 << 30

    def record(model: Any) -> Any:
        for value in model["graph_module"]["graph"]["tensor_values"].values():
            if [s.get("as_int") for s in value["sizes"]] == [64]:
                value["sizes"][0]["as_int"] = size
        return model

    def widen(config: Any) -> Any:
        for entry in config["config"].values():
            if [s["as_int"] for s in entry["tensor_meta"]["sizes"]] == [64]:
                entry["tensor_meta"]["sizes"][0]["as_int"] = size
        return config

    with zipfile.ZipFile(small) as archive:
        name = next(i.filename for i in archive.infolist() if i.file_size == 64 and "weight_" in i.filename)
    rewrite(small, big, {name: (size, {})}, {"model_weights_config.json": widen, "model.json": record})
    for command in (("plan", big), ("inspect", big), ("explain", big)):
        done, seconds = run(qfold, *command, memory=100 * MIB)
        if done.returncode:
            yield f"{command[0]}: exit {done.returncode}: {done.stdout.decode().strip()}"
        if seconds > 1:
            yield f"{command[0]} took {seconds:.2f} s"
    if "12 B" not in run(qfold, "plan", big)[0].stdout.decode():
        yield "plan does not show the bytes of the constant"


def state_of_another_program(qfold: Path, folder: Path) -> Iterator[str]:
    """A buffer that another program of the archive writes is state; parameters fold."""
    report = folder / "report.json"
    done, _ = run(qfold, "fold", FIXTURES / "two_models.pt2", "-o", folder / "out.pt2", "--force", "-q", "--json", report)
    if done.returncode:
        yield f"exit {done.returncode}: {done.stdout.decode().strip()}"
        return
    verdicts = {(n["name"], n["verdict"], n["reason"]) for n in json.loads(report.read_text())["nodes"]}
    if not any(v == "kept" and r == "state" for _, v, r in verdicts):
        yield f"nothing is kept as state: {sorted(verdicts)}"
    if not any(v == "folded" for _, v, _ in verdicts):
        yield f"nothing is folded: {sorted(verdicts)}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--qfold", type=Path, required=True)
    qfold, passed, failed = parser.parse_args().qfold, 0, 0
    for check in (strides_past_31_bits, no_elements_past_63_bits, many_layers, plan_reads_no_payload, state_of_another_program):
        with tempfile.TemporaryDirectory() as scratch:
            wrong = list(check(qfold, Path(scratch)))
        passed, failed = passed + (not wrong), failed + bool(wrong)
        for text in wrong:
            print(f"FAILED {check.__name__}: {text}", flush=True)
    print(f"{passed} passed, {failed} failed, 0 skipped")
    return failed != 0


if __name__ == "__main__":
    sys.exit(main())
