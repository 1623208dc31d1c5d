#!/usr/bin/env python3
"""The rows of driver/io/aten_ops.def against torch's own schemas.

    schemas.py [--table FILE]

Checked: order of the rows; arguments, keyword-only mark and defaults, word for word; that WRITE rows and no others mutate
their first argument, OUT rows their last; aliasing of results; that every overload which torch tags as drawing random numbers is kept as
random, and that every one of its core set has a row, or a reason for none. The last line is `N passed, N failed, N skipped`; exit 1 on a failure."""
from __future__ import annotations

import argparse
import functools
import inspect
import math
import re
import sys
from dataclasses import dataclass
from pathlib import Path

import operator

import torch
import torch.ao.quantization.fx._decomposed  # noqa: F401  registers quantized_decomposed
import torchao.quantization.quant_primitives  # noqa: F401  registers torchao

TABLE = Path(__file__).resolve().parents[2] / "driver/io/aten_ops.def"

# Results that share memory although the schema does not say so, and reasons why.
ALIASES = {
    "aten._unsafe_view.default": "a view by another name",
    "aten.lift.default": "returns its argument",
    "aten.type_as.default": "returns its argument if nothing changes",
    "aten.dropout.default": "returns its argument in inference",
    "aten.meshgrid.default": "views of its arguments",
    "aten.meshgrid.indexing": "views of its arguments",
    "aten.broadcast_tensors.default": "views of its arguments",
    "aten.unsafe_chunk.default": "views; unsafe is that only the schema denies it",
    "aten.unsafe_split.Tensor": "views; unsafe is that only the schema denies it",
    "aten.unsafe_split_with_sizes.default": "views; unsafe is that only the schema denies it",
}
# Writes nothing that anybody can see.
NOT_A_WRITE = {"aten.detach_.default"}
# Random by tag, identity in inference: the builder tells.
NOT_RANDOM = {"aten.dropout.default", "aten.native_dropout.default"}
# Overloads of torch's core set that have no row, and why: they stay as unknown.
NO_ROW = {
    "aten._cdist_forward.default": "distances of runtime values",
    "aten._embedding_bag.default": "its further results are undefined for constants",
    "aten._fft_c2r.default": "complex numbers only move",
    "aten._fft_r2c.default": "complex numbers only move",
    "aten._native_batch_norm_legit.no_stats": "statistics of a batch",
    "aten._pdist_forward.default": "distances of runtime values",
    "aten.col2im.default": "the adjoint of windows",
    "aten.grid_sampler_2d.default": "samples runtime values",
    "aten.sym_is_contiguous.default": "a layout is no number of the program",
}


@dataclass(frozen=True)
class Row:
    macro: str
    name: str
    schema: str | None
    rest: tuple[str, ...]


def read_rows(table: Path) -> list[Row]:
    text = re.sub(r"/\*.*?\*/", "", table.read_text(), flags=re.S)
    rows = []
    for macro, body in re.findall(r"^(QF_\w+)\((.*?)\)$", text, flags=re.S | re.M):
        body = re.sub(r'"\s*\n\s*"', "", body)
        strings = [t.replace('\\"', '"') for t in re.findall(r'"((?:[^"\\]|\\.)*)"', body)]
        rest = tuple(w.strip() for w in re.sub(r'"(?:[^"\\]|\\.)*"', "", body).split(",") if w.strip())
        rows.append(Row(macro, strings[0], strings[1] if len(strings) > 1 else None, rest))
    return rows


def arguments(signature: str) -> list[str]:
    """The arguments of `ns::op(T a, T[] b=[], *, T c) -> R`."""
    inner, out, depth = signature[signature.index("(") + 1:signature.rindex(") ->")], [""], 0
    for c in inner:
        depth += (c in "([") - (c in ")]")
        if c == "," and depth == 0:
            out.append("")
        else:
            out[-1] += c
    return [a.strip() for a in out if a.strip()]


def without_types(signature: str) -> str:
    return ", ".join(re.search(r"\*$|\w+(=.*)?$", a)[0] for a in arguments(signature))


@functools.lru_cache(maxsize=None)
def find_op(name: str):
    namespace, op, overload = name.split(".")
    return getattr(getattr(getattr(torch.ops, namespace), op), overload)


def check_python(row: Row) -> list[str]:
    """Rows of python's operator and math modules and of torch.sym_*: names of the parameters."""
    module, name = row.name.split(".")
    function = getattr({"_operator": operator, "math": math, "torch": torch}[module], name)
    want = ", ".join(inspect.signature(function).parameters)
    return [] if row.schema == want else [f"arguments: {row.schema!r}, python has {want!r}"]


def check_schema(row: Row) -> list[str]:
    schema, bad = find_op(row.name)._schema, []
    want = without_types(str(schema))
    if row.schema is not None and row.schema != want:
        bad.append(f"arguments: {row.schema!r}, torch has {want!r}")
    first = schema.arguments[0].alias_info if schema.arguments else None
    writes = bool(first and first.is_write) and row.name not in NOT_A_WRITE
    if row.macro != "QF_KEEP" and writes != (row.macro == "QF_WRITE"):
        bad.append(f"{row.macro}, torch {'writes' if writes else 'does not write'} its first argument")
    others = [a.name for a in schema.arguments[1:] if a.alias_info and a.alias_info.is_write]
    if row.macro != "QF_KEEP" and others != (["out"] if row.macro == "QF_OUT" else []):
        bad.append(f"{row.macro}, torch writes {others} besides its first argument")
    if row.macro == "QF_OUT" and schema.arguments[-1].name != "out":
        bad.append("out is not the last argument")
    aliased = any(r.alias_info is not None for r in schema.returns) or row.name in ALIASES
    if row.macro == "QF_ATEN" and aliased == (row.rest[1] == "FRESH"):
        bad.append(f"{row.rest[1]}, torch {'aliases' if aliased else 'does not alias'}")
    return bad


def check(row: Row) -> list[str]:
    if row.name.startswith(("_operator.", "math.", "torch.")):
        return check_python(row)
    if row.name.startswith("higher_order."):
        name = row.name.split(".")[1]
        return [] if row.schema is None and hasattr(torch.ops.higher_order, name) else ["not a higher-order operator"]
    return check_schema(row)


def tagged_overloads(tag: torch.Tag) -> list[str]:
    """Overloads of torch that make their results and have a tag."""
    found = []
    for qualified in sorted(torch._C._dispatch_get_all_op_names()):
        namespace, _, full = qualified.partition("::")
        name, _, overload = full.partition(".")
        if namespace == "aten":
            op = getattr(getattr(torch.ops.aten, name), overload or "default")
            if tag in op.tags and not any(a.is_out for a in op._schema.arguments):
                found.append(f"aten.{name}.{overload or 'default'}")
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--table", type=Path, default=TABLE)
    rows, passed, failed = read_rows(parser.parse_args().table), 0, 0
    names = [r.name for r in rows]
    results = [("order of the rows", [] if names == sorted(set(names), key=str.encode) else ["not sorted, or twice"])]
    results += [(r.name, check(r)) for r in rows]
    by_name = {r.name: r for r in rows}
    for name in tagged_overloads(torch.Tag.core):
        results.append((f"{name} has a row", [] if (name in by_name) != (name in NO_ROW) else ["no row, or a row and a reason for none"]))
    for name in tagged_overloads(torch.Tag.nondeterministic_seeded):
        row = by_name.get(name)
        kept = row is not None and row.macro == "QF_KEEP" and row.rest == ("random",)
        results.append((f"{name} is random", [] if kept or name in NOT_RANDOM else ["no QF_KEEP(…, random) row"]))
    for name, bad in results:
        passed, failed = passed + (not bad), failed + bool(bad)
        for text in bad:
            print(f"FAILED {name}: {text}")
    print(f"{passed} passed, {failed} failed, 0 skipped")
    return failed != 0


if __name__ == "__main__":
    sys.exit(main())
