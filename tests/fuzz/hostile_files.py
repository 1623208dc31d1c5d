#!/usr/bin/env python3
"""The program on files that are wrong: cut, with flipped bits, and with fields of their JSON changed; and every file of the corpora.

    hostile_files.py --program build/asan/qfold [--count N] [--seed N] [--keep FOLDER] FOLDER…

FOLDERs hold .pt2 files; N of their mutants are tried, the same for every run with one seed. Each goes through fold, and by turns
through plan, explain, inspect and verify. Right is: success, and then fold again and verify agree; or exit code 3, 4 or 5 with one
message that names the file, and no file left behind. Wrong is anything else: a signal, a sanitizer's report, more than 2 s of CPU
time, more than 512 MiB of memory. The last line is `N passed, N failed, N skipped`; exit 1 on a failure."""
from __future__ import annotations

import argparse
import io
import json
import os
import random
import resource
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

CPU_SECONDS, MEMORY = 2.0, 512 << 20
OTHERS = ("plan", "explain", "inspect")
OPTIONS = ((), (), ("--fold-dequant",), ("--contiguous",), ("--max-growth", "0"), ("--memory", "64K"), ("--exact",), ("--strict",),
           ("--threads", "2"))
NUMBERS = (-1, 0, 1, 2, 3, 4, 7, 8, 12, 13, 35, 36, 64, 65, 255, 1 << 16, 1 << 31, (1 << 32) - 1, 1 << 32, 1 << 62, (1 << 63) - 1,
           -(1 << 63), 1 << 63, 1 << 64, 10 ** 30, 0.5, -0.0, 1e308)
THINGS = (None, True, False, "", "x", "Infinity", "NaN", "\u0000", "\ud800", "é" * 300, [], {}, [[]], [None], {"as_int": -1},
          {"as_int": 1 << 62}, {"as_name": "x"}, {"as_tensor": {"name": "add"}}, {"as_none": True},
          {"as_expr": {"expr_str": "s0", "hint": None}}, {"as_int": 1, "as_float": 2.0})
TEXTS = ("1e999999", "-", "01", "nul", '"\\ud800"', "18446744073709551616", "-9223372036854775809", "1" * 400, "tru", "{,}", "\"\t\"")


# ---- JSON with the faults that a dict cannot hold: objects are lists of pairs behind a marker

class Pairs(list):
    """An object as (key, value) pairs, so that keys may repeat."""


def write_json(value: Any) -> str:
    if isinstance(value, Pairs):
        return "{" + ", ".join(f"{json.dumps(k)}: {write_json(v)}" for k, v in value) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(write_json, value)) + "]"
    return value.text if isinstance(value, Raw) else json.dumps(value)


class Raw:
    """Text that stands for a value."""

    def __init__(self, text: str) -> None:
        self.text = text


def places(value: Any) -> list[tuple[Any, int]]:
    """Every (container, position) below a value."""
    found, todo = [], [value]
    while todo:
        at = todo.pop()
        if isinstance(at, list):
            found += [(at, i) for i in range(len(at))]
            todo += [v[1] if isinstance(at, Pairs) else v for v in at]
    return found


def get(place: tuple[Any, int]) -> Any:
    box, i = place
    return box[i][1] if isinstance(box, Pairs) else box[i]


def put(place: tuple[Any, int], value: Any) -> None:
    box, i = place
    box[i] = (box[i][0], value) if isinstance(box, Pairs) else value


def copy(value: Any) -> Any:
    return json.loads(write_json(value), object_pairs_hook=Pairs) if not isinstance(value, Raw) else value


def change(draw: random.Random, root: Any) -> str:
    """One fault somewhere; says what it was."""
    all_places = places(root)
    if not all_places:
        return "nothing left"
    place = draw.choice(all_places)
    box, i = place
    old = get(place)
    kind = draw.randrange(10)
    if kind == 0:
        del box[i]
        return "removed"
    if kind == 1:
        box.insert(draw.randint(0, len(box)), copy_item(box, i))
        return "repeated"
    if kind == 2:
        put(place, copy(get(draw.choice(all_places))))
        return "replaced by another part"
    if kind == 3:
        j = draw.randrange(len(box))
        box[i], box[j] = box[j], box[i]
        return "swapped"
    if kind == 4 and isinstance(box, Pairs):
        box[i] = (draw.choice(["", "as_int", "as_tensor", "as_name", "name", "x" * 5000, box[i][0] + "_"]), old)
        return "renamed"
    if kind == 5:
        deep = draw.choice((10, 100, 20_000))
        put(place, Raw(draw.choice(("[" * deep + "]" * deep, '{"a":' * deep + "1" + "}" * deep, "[" * deep, *TEXTS))))
        return "text"
    numbers = [p for p in all_places if type(get(p)) in (int, float)]
    strings = [p for p in all_places if isinstance(get(p), str)]
    if kind in (6, 7) and numbers:
        put(draw.choice(numbers), draw.choice(NUMBERS))
        return "number"
    if kind == 8 and strings:
        put(draw.choice(strings), get(draw.choice(strings)))
        return "another name"
    put(place, draw.choice(THINGS))
    return "thing"


def copy_item(box: list[Any], i: int) -> Any:
    return (box[i][0], copy(box[i][1])) if isinstance(box, Pairs) else copy(box[i])


# ---- mutants of files

def without_noise(value: Any) -> Any:
    """Leaves out what the program does not read, so that faults meet what it does."""
    if isinstance(value, Pairs):
        return Pairs((k, without_noise(v)) for k, v in value if k not in ("stack_trace", "nn_module_stack", "torch_fn", "guards_code"))
    return [without_noise(v) for v in value] if isinstance(value, list) else value


def changed_json(draw: random.Random, data: bytes) -> tuple[bytes, str]:
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as old, zipfile.ZipFile(out, "w") as new:
        names = old.namelist()
        member = draw.choice([n for n in names if n.endswith(".json")] + [n for n in names if n.endswith("models/model.json")] * 6)
        for name in names:
            content = old.read(name)
            if name == member:
                root = without_noise(json.loads(content, object_pairs_hook=Pairs))
                said = [change(draw, root) for _ in range(draw.choice((1, 1, 1, 2, 3)))]
                content = write_json(root).encode("utf-8", "surrogatepass")
            new.writestr(zipfile.ZipInfo(name), content)
    return out.getvalue(), f"{member.split('/')[-1]}: {', '.join(said)}"


def changed_payload(draw: random.Random, data: bytes) -> tuple[bytes, str]:
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as old, zipfile.ZipFile(out, "w") as new:
        names = old.namelist()
        member = draw.choice(names)
        for name in names:
            content = old.read(name)
            if name == member:
                noise = bytes(draw.randrange(256) for _ in content[:4096])
                content = draw.choice((b"", content[:-1], content + b"\0", content[:len(content) // 2], noise, content * 2, b"x"))
            new.writestr(zipfile.ZipInfo(name), content)
    return out.getvalue(), f"content of {member}"


def cut(draw: random.Random, data: bytes) -> tuple[bytes, str]:
    n = draw.choice((draw.randrange(len(data)), len(data) - draw.randint(1, 200), draw.randint(0, 200)))
    return data[:max(n, 0)], f"cut at {n}"


def flipped(draw: random.Random, data: bytes) -> tuple[bytes, str]:
    out = bytearray(data)
    tail = data.rfind(b"PK\x01\x02", 0, len(data) - 1)
    n = draw.choice((1, 1, 2, 8))
    at = [draw.choice((draw.randrange(len(out)), draw.randrange(max(tail - 500, 0), len(out)))) for _ in range(n)]
    for i in at:
        out[i] = draw.choice((out[i] ^ (1 << draw.randrange(8)), 0, 255, draw.randrange(256)))
    return bytes(out), f"bytes at {at}"


MUTATORS: tuple[Callable[[random.Random, bytes], tuple[bytes, str]], ...] = (changed_json,) * 6 + (changed_payload, cut, flipped, flipped)


# ---- running

class Wrong(Exception):
    pass


def limits() -> None:
    resource.setrlimit(resource.RLIMIT_FSIZE, (256 << 20, 256 << 20))
    resource.setrlimit(resource.RLIMIT_CPU, (20, 20))


def run(program: Path, *words: Any) -> tuple[int, str]:
    """Exit code and messages; checks what holds for every run."""
    with tempfile.TemporaryFile() as messages:
        child = subprocess.Popen([str(program), *map(str, words)], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=messages,
                                 preexec_fn=limits)
        _, status, used = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        messages.seek(0)
        text = messages.read().decode(errors="replace")
    said = " ".join(str(w) for w in words)
    if child.returncode < 0 or child.returncode > 5 or "Sanitizer" in text or "runtime error" in text:
        raise Wrong(f"{said}: exit {child.returncode}\n{text[-4000:]}")
    if used.ru_utime + used.ru_stime > CPU_SECONDS:
        raise Wrong(f"{said}: {used.ru_utime + used.ru_stime:.1f} s")
    if used.ru_maxrss << 10 > MEMORY:
        raise Wrong(f"{said}: {used.ru_maxrss >> 10} MiB")
    if child.returncode == 2:
        raise Wrong(f"{said}: taken for wrong usage: {text}")
    if child.returncode >= 3 and not (text.startswith("qfold: ") and Path(words[1]).stem in text and text.count("\n") == 1):
        raise Wrong(f"{said}: exit {child.returncode}, but the message is {text!r}")
    return child.returncode, text


def check(program: Path, file: Path, out: Path, options: tuple[str, ...], other: str) -> None:
    """One file: what fold says about it, and what the others say."""
    target, again = out / "out.pt2", out / "again.pt2"
    code, _ = run(program, "fold", file, "-o", target, "--quiet", *options)
    left = sorted(p.name for p in out.iterdir())
    if left != ([] if code else ["out.pt2"]):
        raise Wrong(f"exit {code}, and the folder holds {left}")
    more, text = run(program, other, file, *(options if other != "inspect" else ()))
    if code == 3 and more == 0 and other == "plan":
        raise Wrong(f"plan takes what fold refuses: {text}")
    if code:
        return
    if run(program, "verify", file, target)[0] == 1:  # it may refuse what these options made fold not look at
        raise Wrong("verify does not agree")
    if run(program, "fold", target, "-o", again, "--quiet", *options)[0] or again.read_bytes() != target.read_bytes():
        raise Wrong("folding again changes bytes")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", type=Path, required=True)
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--keep", type=Path, help="folder for files that fail")
    parser.add_argument("folders", type=Path, nargs="+")
    args = parser.parse_args()
    sources = sorted(f for folder in args.folders for f in folder.rglob("*.pt2"))
    good = [f for f in sources if f.parent.name == "fixtures"]
    passed = failed = 0
    with tempfile.TemporaryDirectory() as scratch:
        file, out = Path(scratch) / "mutant.pt2", Path(scratch) / "out"
        for k in range(len(sources) + args.count):
            draw = random.Random(args.seed * 1_000_003 + k)
            source = sources[k] if k < len(sources) else draw.choice(good)
            data, what = source.read_bytes(), "as it is"
            if k >= len(sources):
                data, what = draw.choice(MUTATORS)(draw, data)
            file.write_bytes(data)
            shutil.rmtree(out, ignore_errors=True)
            out.mkdir()
            try:
                check(args.program.resolve(), file, out, draw.choice(OPTIONS), draw.choice(OTHERS))
                passed += 1
            except Wrong as e:
                failed += 1
                print(f"FAILED {k} {source.name}, {what}: {e}", flush=True)
                if args.keep:
                    args.keep.mkdir(parents=True, exist_ok=True)
                    (args.keep / f"{k}_{source.name}").write_bytes(data)
    print(f"{passed} passed, {failed} failed, 0 skipped")
    return failed != 0


if __name__ == "__main__":
    sys.exit(main())
