"""A suite of rows: its command line, and what it prints."""
from __future__ import annotations

import argparse
import fnmatch
import tempfile
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TypeVar

Row = TypeVar("Row")


def run_rows(description: str | None, rows: Iterable[tuple[str, Row]], findings: Callable[[Row, Path, Path], list[str]]) -> int:
    """Runs rows by name; findings(row, qfold, folder): what is wrong. Returns the exit code."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--qfold", type=Path, required=True)
    parser.add_argument("--only", default="*", help="glob over names")
    parser.add_argument("--keep", type=Path, help="folder for the files of the last row")
    args = parser.parse_args()
    passed = failed = 0
    with tempfile.TemporaryDirectory() as scratch:
        folder = args.keep or Path(scratch)
        folder.mkdir(parents=True, exist_ok=True)
        for name, row in rows:
            if not fnmatch.fnmatch(name, args.only):
                continue
            wrong = findings(row, args.qfold, folder)
            passed, failed = passed + (not wrong), failed + bool(wrong)
            for text in wrong:
                print(f"FAILED {name}: {text}", flush=True)
    print(f"{passed} passed, {failed} failed, 0 skipped")
    return int(failed != 0)
