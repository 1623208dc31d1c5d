#!/usr/bin/env python3
"""Rows and kernels agree: each row has one definition, each kernel one row; exactness, scalar rows, names in the README."""
from __future__ import annotations

import re
from collections import Counter, defaultdict
from typing import Iterator

from tree import ROOT, files, finish, lines

ROW = re.compile(r"QF_ROW\((\w+), (\w+), (\w+), (\w+), (\w+)\)")
GEMM = re.compile(r"QF_GEMM\((\w+), (\w+), (\w+), \d+, \d+, (\w+)\)")
OPERATOR = re.compile(r"QFK_OP\((\w+), (\w+), \d+,")
KERNEL = re.compile(r"(?:void |[A-Z][A-Z0-9_]*\()qfk_(\w+_(?:scalar|avx2|avx512|neon))\b")
"""A definition stands at the start of a line, as a function or as the first argument of a macro."""


def rows() -> Iterator[tuple[str, str, str, str, str, str]]:
    """(place, family, operator, key, instruction set, exactness)"""
    for path in files(".def", under=["kernels"]):
        for number, line in enumerate(lines(path), 1):
            if path.name == "rows.def" or not (match := ROW.match(line) or GEMM.match(line)):
                continue
            found = match.groups() if line.startswith("QF_ROW") else ("gemm", *match.groups())
            yield (f"{path}:{number}", *found)


def kernels() -> Iterator[tuple[str, str]]:
    """(place, name without qfk_)"""
    for path in files(".c", under=["kernels"]):
        for number, line in enumerate(lines(path), 1):
            if match := KERNEL.match(line):
                yield f"{path}:{number}", match[1]


def operator_findings() -> Iterator[str]:
    readme = {cells[1].strip(" `"): cells[2].split() for cells in
              (line.split("|") for line in lines(ROOT / "kernels" / "README.md")) if len(cells) > 3}
    for path in files(".def", under=["kernels"]):
        listed = [match[2] for line in lines(path) if (match := OPERATOR.match(line))]
        if path.name != "rows.def" and listed != readme.get(path.stem):
            yield f"{path}: kernels/README.md does not list its operators in this order"


def findings() -> Iterator[str]:
    row_names: Counter[str] = Counter()
    exactness: dict[tuple[str, str], set[str]] = defaultdict(set)
    scalar: set[tuple[str, str]] = set()
    defined = {name: place for place, name in kernels()}
    for place, family, op, key, isa, exact in rows():
        name = f"{op}_{key}_{isa}"
        row_names[name] += 1
        exactness[op, key].add(exact.removesuffix("_PAST"))
        scalar |= {(op, key)} if isa == "scalar" else set()
        if name not in defined:
            yield f"{place}: qfk_{name} is not defined"
        elif not re.match(rf"kernels/{family}/\w+_{isa}\.c:", defined[name]):
            yield f"{defined[name]}: qfk_{name} belongs into kernels/{family}/, a file of {isa}"
        if row_names[name] > 1:
            yield f"{place}: a second row of qfk_{name}"
    yield from (f"{place}: qfk_{name} has no row" for name, place in defined.items() if name not in row_names)
    yield from (f"{op} {key}: rows of different exactness" for (op, key), e in exactness.items() if len(e) > 1)
    yield from (f"{op} {key}: no scalar row" for op, key in exactness if (op, key) not in scalar)
    yield from operator_findings()


if __name__ == "__main__":
    raise SystemExit(finish(findings(), "rows"))
