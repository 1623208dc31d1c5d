#!/usr/bin/env python3
"""Plays the `console` blocks of README.md and compares the `c` block with the program that tests/api compiles.

    run_readme.py --program build/default/qfold            compares
    run_readme.py --program build/default/qfold --update   writes down what happens"""
from __future__ import annotations

import argparse
import difflib
import re
import shutil
import sys
import tempfile
from pathlib import Path

from run_sessions import FIXTURES, HERE, MASKS, play

ROOT = HERE.parent.parent
README = ROOT / "README.md"
EXAMPLE = ROOT / "tests/api/consumer/use_qfold.c"


def masked(text: str) -> str:
    for pattern, mask in MASKS:
        text = re.sub(pattern, mask, text, flags=re.MULTILINE)
    return text


def replay(block: str, folder: Path, program: Path, raw: bool) -> str:
    lines: list[str] = []
    for command in re.findall(r"^\$ (.*)$", block, re.MULTILINE):
        lines += [f"$ {command}", *play(command, folder, program, [] if raw else MASKS)]
    return "\n".join(lines) + "\n"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", type=Path, required=True)
    parser.add_argument("--update", action="store_true")
    options = parser.parse_args()
    text, wrong = README.read_text(), False
    with tempfile.TemporaryDirectory(prefix="qfold-readme-") as scratch:
        shutil.copytree(FIXTURES, Path(scratch) / "tests/fixtures")
        for block in re.findall(r"^```console\n(.*?)^```$", text, re.MULTILINE | re.DOTALL):
            now = replay(block, Path(scratch), options.program.resolve(), options.update)
            if options.update:
                text = text.replace(block, now)
            elif masked(block) != now:
                wrong = True
                sys.stdout.writelines(difflib.unified_diff(masked(block).splitlines(True), now.splitlines(True), "README.md", "now"))
    example, = re.findall(r"^```c\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    if options.update:
        README.write_text(text.replace(f"```c\n{example}```", f"```c\n{EXAMPLE.read_text()}```"))
    elif example != EXAMPLE.read_text():
        wrong = True
        print(f"README.md: the C example is not {EXAMPLE.relative_to(ROOT)}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
