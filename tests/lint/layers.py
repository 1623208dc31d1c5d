#!/usr/bin/env python3
"""The include rule: what each folder may include, as data.

include <- kernels <- dispatch <-(public headers only)- driver/graph <- driver/{fold | io} <- driver/run <-(public headers only)- driver/cli"""
from __future__ import annotations

import re
from pathlib import Path
from typing import Iterator

from tree import ROOT, files, finish, lines

GRAPH = ("include/qfold", "driver/graph")
LAYERS: dict[str, tuple[str, ...]] = {
    "include/qfold": ("include/qfold",),
    "kernels": ("include/qfold", "kernels"),
    "dispatch": ("include/qfold", "kernels", "dispatch"),
    "driver/graph": GRAPH,
    "driver/fold": (*GRAPH, "driver/fold"),
    "driver/io": (*GRAPH, "driver/io"),
    "driver/run": (*GRAPH, "driver/fold", "driver/io", "driver/run"),
    "driver/cli": ("include/qfold", "driver/cli"),
}
"""Folder -> folders whose headers it may include. Tests and bench may look anywhere."""

FOREIGN: dict[str, tuple[str, ...]] = {
    "cblas.h": ("dispatch/providers/blas.c", "bench"),
    "xnnpack.h": ("dispatch/providers/xnn.c", "bench"),
    "pthreadpool.h": ("dispatch/threads.c", "tests/faults"),
    "libdeflate.h": ("driver/io", "bench", "tests"),
    "sys/mman.h": ("dispatch", "driver/graph/pool.c", "tests", "bench"),
    "fcntl.h": ("driver/io/file.c", "driver/io/temp.c", "tests", "bench"),
}
"""Header of another project or of the system -> the only places that include it."""

PUBLIC = {"stdbool.h", "stddef.h", "stdint.h"}
"""System headers that public headers may include."""

SEARCH = ("include", ".", "driver")
"""Include paths of the build, in order."""

INCLUDE = re.compile(r'\s*#\s*include\s+(["<])([^">]+)[">]')


def resolve(path: Path, quote: str, name: str) -> str | None:
    """The tree's file that is meant, None for a header from outside."""
    places = [path.parent, *map(Path, SEARCH)] if quote == '"' else [Path(p) for p in SEARCH]
    for place in places:
        target = (ROOT / place / name).resolve()
        if target.is_file() and target.is_relative_to(ROOT):
            return target.relative_to(ROOT).as_posix()
    return None


def check(path: Path, quote: str, name: str) -> str | None:
    here = path.as_posix()
    layer = next((f for f in LAYERS if here.startswith(f + "/")), None)
    target = resolve(path, quote, name)
    if target is None:
        if layer == "include/qfold" and name not in PUBLIC:
            return f"a public header includes {name}"
        places = FOREIGN.get(name)
        return f"{name} belongs to {', '.join(places)}" if places and not here.startswith(places) else None
    if layer and not any(target.startswith(f + "/") for f in LAYERS[layer]):
        return f"{layer} includes {target}"
    return None


def findings() -> Iterator[str]:
    for path in files(".c", ".h", ".cc", ".def"):
        for number, text in enumerate(lines(path), 1):
            include = INCLUDE.match(text)
            wrong = check(path, *include.groups()) if include else None
            if wrong:
                yield f"{path}:{number}: {wrong}"


if __name__ == "__main__":
    raise SystemExit(finish(findings(), "layers"))
