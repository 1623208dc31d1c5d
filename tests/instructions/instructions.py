#!/usr/bin/env python3
"""Instructions per element of the hot kernel rows, counted by callgrind, against the committed table.

    instructions.py [--update] --build TEXT --valgrind PROGRAM TABLE COUNTER

Counts are exact, so a row that got more than 5 % dearer, or cheaper, than the table says is a finding. --update writes
the table instead. They hold for the compiler, flags and C library that the table names; elsewhere nothing is compared."""
from __future__ import annotations

import argparse
import math
import platform
import re
import subprocess
import tempfile
from pathlib import Path

SLACK = 0.05
HEADER = ("# Instructions per element, counted by callgrind; for gemm, per multiply-add. Written by instructions.py.",
          "# built with: ")
Counts = dict[tuple[str, str], float]
"""(row, shape) -> instructions per element"""


def count(valgrind: str, program: str) -> Counts:
    with tempfile.TemporaryDirectory() as folder:
        profile = Path(folder) / "profile"
        subprocess.run([valgrind, "--tool=callgrind", "--collect-atstart=no", "--combine-dumps=yes", "--quiet",
                        f"--callgrind-out-file={profile}", program], check=True)
        text = profile.read_text()
    parts = re.findall(r"^desc: Trigger: Client Request: ([^\n]*)$.*?^summary: (\d+)$", text, re.MULTILINE | re.DOTALL)
    around = next(int(total) for case, total in parts if case == "nothing")
    counts: Counts = {}
    for case, total in parts:
        if case != "nothing":
            row, shape = case.split()
            elements = math.prod(int(size) for size in shape.split("/")[0].split("x"))
            counts[row, shape] = (int(total) - around) / elements
    return counts


def read(table: Path) -> tuple[str, Counts]:
    """What the table was built with, and its counts."""
    text = table.read_text().splitlines()
    built_with = next(line for line in text if line.startswith(HEADER[1])).removeprefix(HEADER[1])
    cells = [line.split("\t") for line in text if not line.startswith("#")]
    return built_with, {(row, shape): float(value) for row, shape, value in cells}


def write(table: Path, built_with: str, counts: Counts) -> None:
    lines = [HEADER[0], HEADER[1] + built_with]
    lines += [f"{row}\t{shape}\t{value:#.4g}" for (row, shape), value in counts.items()]
    table.write_text("\n".join(lines) + "\n")


def compare(old: Counts, new: Counts) -> list[str]:
    """Findings, the dearest first; rows of instruction sets that this CPU lacks are none."""
    sets = {row.rsplit("_", 1)[1] for row, _ in new}
    ratios = sorted(((new[case] / old[case], case) for case in old.keys() & new.keys()), reverse=True)
    found = [f"{'dearer' if ratio > 1 else 'cheaper'}: {case[0]} {case[1]}, {old[case]:.4g} -> {new[case]:.4g} "
             f"({100 * (ratio - 1):+.1f} %)" for ratio, case in ratios if abs(ratio - 1) > SLACK]
    found += [f"not in the table: {row} {shape}" for row, shape in sorted(new.keys() - old.keys())]
    found += [f"not counted: {row} {shape}" for row, shape in sorted(old.keys() - new.keys())
              if row.rsplit("_", 1)[1] in sets]
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("table", type=Path)
    parser.add_argument("counter")
    parser.add_argument("--valgrind", required=True)
    parser.add_argument("--build", required=True, help="compiler, processor, build type and flags of the counter")
    parser.add_argument("--update", action="store_true")
    args = parser.parse_args()
    built_with = f"{args.build}, {' '.join(platform.libc_ver())}"
    if args.update:
        counts = count(args.valgrind, args.counter)
        write(args.table, built_with, counts)
        print(f"{args.table}: {len(counts)} counts")
        return 0
    table_built_with, old = read(args.table)
    if table_built_with != built_with:
        print(f"skipped: the table is for {table_built_with}; this build is {built_with}")
        return 0
    new = count(args.valgrind, args.counter)
    found = compare(old, new)
    print(*found, f"{len(new)} counts, {len(found)} findings", sep="\n")
    if found:
        print("If that is meant: cmake --build BUILD --target instructions_update, and commit the table.")
    return 1 if found else 0


if __name__ == "__main__":
    raise SystemExit(main())
