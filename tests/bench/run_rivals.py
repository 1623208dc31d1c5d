#!/usr/bin/env python3
"""bench/rivals.py on small weights: every tool that this Python has folds them, qfold leaves nothing, and no file stays."""
from __future__ import annotations

import argparse
import importlib.util
import os
import subprocess
import sys
import tempfile
from pathlib import Path

RIVALS = Path(__file__).resolve().parents[2] / "bench" / "rivals.py"
TOOLS = ("torch", "onnxruntime", "onnxscript", "onnxsim")


def rows(text: str) -> dict[str, dict[str, list[str]]]:
    """Work -> tool -> what stands behind its name."""
    table: dict[str, dict[str, list[str]]] = {}
    for line in text.splitlines():
        if not line.startswith(" "):
            work = table.setdefault(line.split(":")[0], {})
        elif not line.startswith("   "):
            name, *rest = line.split()
            work[name] = rest
    return table


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--qfold", required=True)
    program = parser.parse_args().qfold
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run([sys.executable, str(RIVALS), "--program", program, "--size", "1M", "--rounds", "1"],
                              capture_output=True, text=True, env={**os.environ, "TMPDIR": folder})
        print(done.stdout, done.stderr)
        assert done.returncode == 0
        assert not list(Path(folder).glob("qfold-*")), "files are left"  # torch leaves a folder of its own
    table = rows(done.stdout)
    assert set(table) == {"qk", "lora", "int8"}, table
    for work, found in table.items():
        for tool in ("qfold", *filter(importlib.util.find_spec, TOOLS)):
            seconds, copies, peak = (float(v) for v in found[tool][:3])
            assert seconds > 0 and copies > 0 and peak > 1, (work, tool, found[tool])
        assert found["qfold"][3] == "0", (work, found)


if __name__ == "__main__":
    main()
