"""The source tree as the lint sees it: files with their text, findings as `path:line: what`."""
from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Iterable, Iterator

ROOT = Path(__file__).resolve().parents[2]
SKIPPED = {".git", "build", "__pycache__", "shared"}
"""Folders that are not sources."""


def files(*suffixes: str, under: Iterable[str] = (".",)) -> Iterator[Path]:
    """Paths relative to the root, in order."""
    for start in under:
        for folder, folders, names in os.walk(ROOT / start):
            folders[:] = sorted(f for f in folders if f not in SKIPPED)
            for name in sorted(names):
                if not suffixes or name.endswith(suffixes):
                    yield (Path(folder) / name).relative_to(ROOT)


def lines(path: Path) -> list[str]:
    return (ROOT / path).read_text().splitlines()


def finish(findings: Iterable[str], what: str) -> int:
    """Prints the findings; the exit code."""
    found = list(findings)
    print(*found, sep="\n", file=sys.stderr)
    print(f"{what}: {len(found)} finding{'' if len(found) == 1 else 's'}")
    return 1 if found else 0
