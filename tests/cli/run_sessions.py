#!/usr/bin/env python3
"""Plays sessions: files of `$ command` lines, each followed by what it prints on either stream and `[N]` if its exit code is N, not 0.

    run_sessions.py --program build/default/qfold fold.session …          compares
    run_sessions.py --program build/default/qfold --update fold.session   writes down what happens, for review

A session runs in an empty folder with the fixtures beside it in ../fixtures. What differs between runs and machines is masked."""
from __future__ import annotations

import argparse
import difflib
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
FIXTURES = HERE.parent / "fixtures"

MASKS = [
    (r"took +\d+\.\d+ s, \S+ \w+/s with \d+ threads?; peak memory \S+ \w+", "took       TIME, RATE with N threads; peak memory SIZE"),
    (r'"caps": "\w+"', '"caps": "CAPS"'),
    (r"^( +\S+ \w+ +\S+ \w+) +\S+ \w+( +\d+  )", r"\1       MEMORY\2"),
    (r'"seconds": .*', '"seconds": ...}'),
]


def play(command: str, folder: Path, program: Path, masks: list[tuple[str, str]] = MASKS) -> list[str]:
    environment = {"PATH": f"{program.parent}:{os.environ['PATH']}", "HOME": str(folder), "LC_ALL": "C"}
    done = subprocess.run(["bash", "-c", command], cwd=folder, env=environment, stdin=subprocess.DEVNULL, timeout=60,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace")
    text = done.stdout
    for pattern, mask in masks:
        text = re.sub(pattern, mask, text, flags=re.MULTILINE)
    return text.splitlines() + ([f"[{done.returncode}]"] if done.returncode else [])


def replay(session: Path, program: Path) -> list[str]:
    """The session as it goes now: its comments and commands, with fresh output. Output lines never start with `$ ` or `# `."""
    result: list[str] = []
    with tempfile.TemporaryDirectory(prefix="qfold-session-") as scratch:
        shutil.copytree(FIXTURES, Path(scratch) / "fixtures")
        folder = Path(scratch) / "here"
        folder.mkdir()
        for line in session.read_text().splitlines():
            if line.startswith("# "):
                result += ["", line]
            elif line.startswith("$ "):
                result += ([] if result and result[-1].startswith("# ") else [""]) + [line, *play(line[2:], folder, program)]
    return result[1:]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", type=Path, required=True)
    parser.add_argument("--update", action="store_true")
    parser.add_argument("sessions", type=Path, nargs="+")
    options = parser.parse_args()
    failed = 0
    for session in options.sessions:
        now = replay(session, options.program.resolve())
        if options.update:
            session.write_text("\n".join(now) + "\n")
        differs = list(difflib.unified_diff(session.read_text().splitlines(), now, "written down", "now", lineterm=""))
        print(*differs, sep="\n", end="\n" if differs else "")
        failed += bool(differs)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
