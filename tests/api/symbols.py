#!/usr/bin/env python3
"""The shared libraries export what the public headers declare with QF_API, all of it and nothing else."""
from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

INCLUDE = Path(__file__).resolve().parents[2] / "include" / "qfold"
DECLARED = re.compile(r"^QF_API\b[^;(]*?\b(\w+)\s*\(", re.MULTILINE)


def declared() -> set[str]:
    return {name for header in INCLUDE.glob("*.h")
            for name in DECLARED.findall(re.sub(r"\bQF_(NODISCARD|PRINTF\(.*?\))\s*", "", header.read_text()))}


def exported(library: str) -> set[str]:
    lines = subprocess.run(["nm", "-D", "--defined-only", library], check=True, capture_output=True, text=True).stdout.splitlines()
    return {line.split()[-1].split("@")[0] for line in lines}


def main() -> int:
    wanted = declared()
    found = set().union(*map(exported, sys.argv[1:]))
    assert len(wanted) > 20, "the headers declare next to nothing: the pattern is wrong"
    print("not exported:", *sorted(wanted - found))
    print("exported besides:", *sorted(found - wanted))
    return 0 if wanted == found else 1


if __name__ == "__main__":
    raise SystemExit(main())
