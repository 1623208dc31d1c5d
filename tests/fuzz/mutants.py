#!/usr/bin/env python3
"""Every kind of field of a program and of its payload config, wrong in every way that there is, through every command.

    mutants.py --program build/default/qfold [--step N] [--keep FOLDER] FIXTURE…

A kind of field is its path without positions, such as nodes[].inputs[].arg.as_tensor.name. The first and the last field of a kind are
left out, repeated, emptied, of another type, a number out of range, a name that is unknown, taken, or that of what is made later. Right
is: the commands fold, plan, explain, inspect and verify run, or exit with code 3 and one message that names the file and the byte, node,
tensor or name; a fold that is made agrees with its source. The last line is `N passed, N failed, N skipped`; exit 1 on a failure."""
from __future__ import annotations

import argparse
import io
import json
import re
import sys
import tempfile
import zipfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from hostile_files import Pairs, Raw, Wrong, copy_item, get, put, run, without_noise, write_json

TEXTS = ("models/model.json", "data/weights/model_weights_config.json", "data/constants/model_constants_config.json")
PLACE = re.compile(r"byte \d+|'[^']*'|\bnode \S|\btensor \S|\d+ bytes")
"""What a message must hold besides the name of the file."""


def fields(value: Any, path: str = "") -> Iterator[tuple[str, tuple[Any, int]]]:
    """Every field below a value: its kind, and (container, position)."""
    for i in range(len(value) if isinstance(value, list) else 0):
        kind = f"{path}.{value[i][0]}" if isinstance(value, Pairs) else f"{path}[]"
        yield kind, (value, i)
        yield from fields(get((value, i)), kind)


def names(root: Any) -> tuple[str, str]:
    """A name that the program defines first, and one that it defines last."""
    found = [get(place) for kind, place in fields(root) if kind.endswith(".as_tensor.name")]
    return (found[0], found[-1]) if found else ("x", "y")


def replacements(old: Any, first: str, last: str) -> list[Any]:
    """What stands there instead: other types, then wrong values of its own."""
    others: list[Any] = [None, True, 1.5, "", [], Pairs(), Raw("1e999"), Pairs([("as_int", 1)])]
    if isinstance(old, bool):
        return [*others, not old]
    if isinstance(old, int):
        return [*others, -1, 0, old + 1, old - 1, 1 << 31, 1 << 32, (1 << 62), (1 << 63) - 1, -(1 << 63), 1 << 63, 10 ** 40]
    if isinstance(old, str):
        return [*others, 7, first, last, old + "_", old[:-1], "no such name", "\x00", "é" * 300, Raw('"\\ud800"')]
    if isinstance(old, Pairs):
        return [*others, 7, Pairs([*old, *old]), Pairs(reversed(old)), Pairs(old[:1])]
    if isinstance(old, list):
        return [*others, 7, old + old, old[::-1], old[:-1], [*old, None]]
    return [*others, 7]


def mutants(text: str) -> Iterator[tuple[str, str]]:
    """What was done, and the text after it."""
    root = without_noise(json.loads(text, object_pairs_hook=Pairs))
    places: dict[str, list[tuple[Any, int]]] = {}
    for kind, place in fields(root):
        places.setdefault(kind, []).append(place)
    first, last = names(root)
    for kind, found in places.items():
        for place in found[:1] + found[1:][-1:]:
            box, i = place
            old, kept = get(place), list(box)
            for new in replacements(old, first, last):
                put(place, new)
                yield f"{kind} = {str(getattr(new, 'text', new))[:40]}", write_json(root)
                put(place, old)
            del box[i]
            yield f"{kind} left out", write_json(root)
            box[:] = kept
            box.insert(i, copy_item(box, i))
            yield f"{kind} repeated", write_json(root)
            box[:] = kept


def archive(members: dict[str, bytes], name: str, text: str) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as new:
        for member, content in members.items():
            new.writestr(zipfile.ZipInfo(member), text.encode("utf-8", "surrogatepass") if member == name else content)
    return out.getvalue()


def check(program: Path, file: Path, good: Path, folder: Path) -> None:
    """One mutant through every command."""
    target = folder / "out.pt2"
    codes = {}
    for words in (("fold", file, "-o", target, "--quiet"), ("plan", file), ("explain", file, "--exact"), ("inspect", file),
                  ("verify", file, good)):
        codes[words[0]], text = run(program, *words)
        if codes[words[0]] == 3 and not PLACE.search(text.replace(file.name, "")):
            raise Wrong(f"{words[0]}: a message without a place: {text}")
        if codes[words[0]] not in (0, 3) and words[0] != "verify":
            raise Wrong(f"{words[0]}: exit {codes[words[0]]}: {text}")
    if codes["fold"] == 0 and run(program, "verify", file, target)[0] == 1:
        raise Wrong("verify does not agree")
    if codes["fold"] != codes["plan"]:
        raise Wrong(f"fold and plan do not agree: {codes}")
    target.unlink(missing_ok=True)
    if left := [p.name for p in folder.iterdir() if p != file]:
        raise Wrong(f"left behind: {left}")


def play(program: Path, fixture: Path, step: int, keep: Path | None) -> tuple[int, int]:
    passed = failed = 0
    with zipfile.ZipFile(fixture) as source:
        members = {name: source.read(name) for name in source.namelist()}
    with tempfile.TemporaryDirectory(prefix="qfold-mutants-") as scratch:
        file = Path(scratch) / "mutant.pt2"
        for name in (n for n in members if n.endswith(TEXTS)):
            for k, (what, text) in enumerate(mutants(members[name].decode())):
                if k % step:
                    continue
                file.write_bytes(archive(members, name, text))
                try:
                    check(program, file, fixture, Path(scratch))
                    passed += 1
                except Wrong as e:
                    failed += 1
                    print(f"FAILED {fixture.name}: {name}: {what}: {e}", flush=True)
                    if keep:
                        keep.mkdir(parents=True, exist_ok=True)
                        (keep / f"{fixture.stem}_{k}.pt2").write_bytes(file.read_bytes())
    return passed, failed


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", type=Path, required=True)
    parser.add_argument("--step", type=int, default=1, help="try every N-th mutant")
    parser.add_argument("--keep", type=Path, help="folder for files that fail")
    parser.add_argument("fixtures", type=Path, nargs="+")
    args = parser.parse_args()
    with ThreadPoolExecutor(2) as pool:
        results = list(pool.map(lambda f: play(args.program.resolve(), f.resolve(), args.step, args.keep), args.fixtures))
    failed = sum(f for _, f in results)
    print(f"{sum(p for p, _ in results)} passed, {failed} failed, 0 skipped")
    return failed != 0


if __name__ == "__main__":
    sys.exit(main())
