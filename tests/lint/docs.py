#!/usr/bin/env python3
"""Every folder has a README, every source opens with what it is, every public declaration is documented."""
from __future__ import annotations

import re
from pathlib import Path
from typing import Iterator

from tree import ROOT, files, finish, lines

BARE = {".", ".ci", "include"}
"""The root, whose README is for users, and folders of one file or one folder."""
OPENING = {".c": "/*", ".h": "/*", ".cc": "//", ".def": "/*", ".py": ('"""', "#!"), ".sh": "#!", ".cmake": "#"}
DECLARATION = re.compile(r"(QF_API|typedef|#define QF_)\b")


def folder_findings() -> Iterator[str]:
    folders = {p.parent for p in files() if p.suffix != ".pyc"}
    for folder in sorted(folders):
        if folder.as_posix() not in BARE and not (ROOT / folder / "README.md").exists():
            yield f"{folder}: no README.md"


def opening_findings() -> Iterator[str]:
    for path in files(*OPENING):
        text = lines(path)
        if not text or not text[0].startswith(OPENING[path.suffix]):
            yield f"{path}:1: does not open with what it is"


def declaration_findings(path: Path) -> Iterator[str]:
    """A comment covers the declarations below it up to the next empty line."""
    covered = inside = False
    for number, line in enumerate(lines(path), 1):
        if not line:
            covered = False
        if line.startswith("/*"):
            covered = inside = True
        if inside:
            inside = "*/" not in line
            continue
        guard = line.startswith("#define QFOLD_") or (line.startswith("#define") and len(line.split()) == 2)
        if DECLARATION.match(line) and not covered and not guard:
            yield f"{path}:{number}: not documented: {line.split('(')[0]}"


def findings() -> Iterator[str]:
    yield from folder_findings()
    yield from opening_findings()
    for path in files(".h", under=["include"]):
        yield from declaration_findings(path)


if __name__ == "__main__":
    raise SystemExit(finish(findings(), "docs"))
