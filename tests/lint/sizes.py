#!/usr/bin/env python3
"""Limits on files, functions, lines, nesting, parameters, names and macros. Tables (.def) are exempt but for names."""
from __future__ import annotations

import re
from collections import defaultdict
from pathlib import Path
from typing import Iterator

from tree import files, finish, lines

FILE, HEADER, LINE, FUNCTION, KERNEL, NESTING, PARAMETERS, NAME, MACRO = 500, 450, 100, 60, 120, 4, 8, 40, 20
BRANCH = re.compile(r"( *)(?:\} )?(?:if|for|while|switch|do|else)\b")
FORBIDDEN = re.compile(r"\b(TODO|FIXME|XXX|alloca)\b|^\s*#\s*if\s+0\b")
COMMON = {"README.md", "CMakeLists.txt", ".clang-format"}  # every folder has them


def signature(text: list[str], brace: int) -> str:
    """The lines above an opening brace, back to the end of what stands before."""
    start = brace
    while start and text[start - 1] and text[start - 1][0] not in "#}/*" and not text[start - 1].endswith((";", "*/")):
        start -= 1
    return " ".join(text[start:brace])


def parameters(declaration: str) -> int:
    depth, commas = 0, 0
    for c in declaration[declaration.find("("):]:
        depth += (c == "(") - (c == ")")
        commas += c == "," and depth == 1
    return commas + 1


def function_findings(path: Path, text: list[str]) -> Iterator[str]:
    limit = KERNEL if path.parts[0] == "kernels" else FUNCTION
    for brace in (i for i, line in enumerate(text) if line == "{" and "(" in signature(text, i)):
        declaration = signature(text, brace)
        end = next((i for i in range(brace, len(text)) if text[i].startswith("}")), brace)
        name = (re.findall(r"(\w+)\s*\(", declaration) or ["?"])[0]
        where = f"{path}:{brace + 1}: {name}"
        if end - brace - 1 > limit:
            yield f"{where}: {end - brace - 1} lines, at most {limit}"
        if parameters(declaration) > PARAMETERS:
            yield f"{where}: {parameters(declaration)} parameters, at most {PARAMETERS}"
        depth = max((len(m[1]) // 4 for m in map(BRANCH.match, text[brace:end]) if m), default=0)
        if depth > NESTING:
            yield f"{where}: {depth} levels, at most {NESTING}"


def line_findings(path: Path, text: list[str]) -> Iterator[str]:
    macro = 0
    for number, line in enumerate(text, 1):
        macro = macro + 1 if line.endswith("\\") else 0
        if len(line) > LINE:
            yield f"{path}:{number}: {len(line)} columns, at most {LINE}"
        if macro == MACRO:
            yield f"{path}:{number}: a macro of more than {MACRO} lines"
        if FORBIDDEN.search(line):
            yield f"{path}:{number}: {line.strip()}"


def findings() -> Iterator[str]:
    named: dict[str, list[str]] = defaultdict(list)
    for path in files():
        named[path.name].append(path.as_posix())
        if path.suffix not in {".c", ".h", ".cc"}:
            continue
        text, limit = lines(path), HEADER if path.parts[0] == "include" else FILE
        if len(text) > limit:
            yield f"{path}: {len(text)} lines, at most {limit}"
        yield from line_findings(path, text)
        yield from function_findings(path, text)
    yield from (f"{' '.join(places)}: one name" for name, places in named.items() if len(places) > 1 and name not in COMMON)
    yield from (f"{places[0]}: name of {len(name)} characters" for name, places in named.items() if len(name) > NAME)


if __name__ == "__main__":
    raise SystemExit(finish(findings(), "sizes"))
