#!/usr/bin/env python3
"""The limits of driver/io/README.md: what has exactly as much passes, one more is refused for that and nothing else.

    limits.py PROGRAM FIXTURE    PROGRAM: qfold; FIXTURE: views.pt2

Sizes that no test can fill (a directory, a program of gigabytes) are claimed by a sparse file. The last line is `N passed, N failed, N
skipped`; exit 1 on a failure."""
from __future__ import annotations

import io
import json
import struct
import subprocess
import sys
import tempfile
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

PROGRAM, FIXTURE = Path(sys.argv[1]).resolve(), Path(sys.argv[2]).resolve()
Write = Callable[[Path, int], None]


def with_members(file: Path, change: dict[str, Callable[[bytes], bytes]]) -> None:
    with zipfile.ZipFile(FIXTURE) as old, zipfile.ZipFile(file, "w") as new:
        for name in old.namelist():
            part = name.split("/", 1)[1]
            new.writestr(zipfile.ZipInfo(name), change.get(part, bytes)(old.read(name)))


def with_program(file: Path, change: Callable[[Any], str]) -> None:
    with_members(file, {"models/model.json": lambda text: change(json.loads(text)).encode()})


def nested(file: Path, n: int) -> None:
    """An unknown key of the program, which is the first level itself."""
    with_program(file, lambda root: json.dumps(root)[:-1] + ', "deep": ' + "[" * (n - 1) + "]" * (n - 1) + "}")


def ranked(file: Path, n: int) -> None:
    """A value of n dimensions."""
    def change(root: Any) -> str:
        values = root["graph_module"]["graph"]["tensor_values"]
        values["mul"]["sizes"] = values["mul"]["strides"] = [{"as_int": 1}] * n
        return json.dumps(root)

    with_program(file, change)


def marked(file: Path, n: int) -> None:
    with_members(file, {".data/version": lambda text: text.strip().ljust(n)})


def claim(file: Path, at: int, size: int, members: int) -> None:
    """A zip64 archive that says where its directory is and how large; nothing is there."""
    end64 = struct.pack("<IQHHIIQQQQ", 0x06064b50, 44, 45, 45, 0, 0, members, members, size, at)
    locator = struct.pack("<IIQI", 0x07064b50, 0, at + size, 1)
    end = struct.pack("<IHHHHIIH", 0x06054b50, 0, 0, 0xffff, 0xffff, 0xffffffff, 0xffffffff, 0)
    with open(file, "wb") as out:
        out.write(b"PK\3\4")
        out.seek(at + size)
        out.write(end64 + locator + end)


def directory_bytes(file: Path, n: int) -> None:
    claim(file, 64, n, 1)


def directory_members(file: Path, n: int) -> None:
    claim(file, 30 * n, 46 * n, n)


def member_of(name: str) -> Write:
    """The fixture with a deflated member that claims n bytes; what it inflates to does not matter."""
    def write(file: Path, n: int) -> None:
        packed = bytes(n // 1000)
        out = io.BytesIO()
        entries, offsets = [], []
        with zipfile.ZipFile(FIXTURE) as old:
            for path in old.namelist():
                is_it = path.split("/", 1)[1] == name
                data, method, size = (packed, 8, n) if is_it else (old.read(path), 0, old.getinfo(path).file_size)
                extra = struct.pack("<HHQQ", 1, 16, size, len(data))
                common = struct.pack("<HHHHHIIIH", 45, 0, method, 0, 0x21, 0 if is_it else zlib.crc32(data), 0xffffffff, 0xffffffff,
                                     len(path))
                offsets.append(out.tell())
                out.write(struct.pack("<I", 0x04034b50) + common + struct.pack("<H", len(extra)) + path.encode() + extra + data)
                entries.append(struct.pack("<IH", 0x02014b50, 45) + common + struct.pack("<HHHHII", len(extra), 0, 0, 0, 0, offsets[-1]) +
                               path.encode() + extra)
        at, directory = out.tell(), b"".join(entries)
        out.write(directory + struct.pack("<IHHHHIIH", 0x06054b50, 0, 0, len(entries), len(entries), len(directory), at, 0))
        file.write_bytes(out.getvalue())
    return write


LIMITS: tuple[tuple[str, Write, int, int, int, str], ...] = (
    # what, file with n of it, the limit, exit codes at it and one past, the message one past
    ("levels of JSON", nested, 512, 0, 3, "512 deep"),
    ("dimensions of a value", ranked, 64, 0, 3, "more than 64 dimensions"),
    ("bytes of a mark", marked, 4096, 0, 5, "'views/.data/version' has 4097 bytes, more than 4096"),
    ("bytes of a zip directory", directory_bytes, 256 << 20, 3, 5, "268435457 bytes"),
    ("members of an archive", directory_members, 1 << 20, 3, 5, "1048577 members"),
    ("bytes of a payload config", member_of("data/weights/model_weights_config.json"), 1 << 30, -1, 5,
     "model_weights_config.json' has 1073741825 bytes, more than 1073741824"),
    ("bytes of a program", member_of("models/model.json"), 1 << 32, -1, 5, "model.json' has 4294967297 bytes, more than 4294967296"),
)
"""Exit code -1: what is as large as the limit takes more memory than a test may."""


def verdict(file: Path) -> tuple[int, str]:
    done = subprocess.run([PROGRAM, "inspect", file], capture_output=True, text=True, timeout=60)
    return done.returncode, done.stderr


def main() -> int:
    passed = failed = 0
    with tempfile.TemporaryDirectory(prefix="qfold-limits-") as scratch:
        file = Path(scratch) / "file.pt2"
        for what, write, limit, at, past, message in LIMITS:
            for n, code in ((limit, at), (limit + 1, past)):
                if code < 0:
                    continue
                write(file, n)
                found, text = verdict(file)
                good = found == code and (message in text) == (n > limit)
                passed += good
                failed += not good
                if not good:
                    print(f"FAILED {n} {what}: exit {found}: {text}", end="")
    print(f"{passed} passed, {failed} failed, 0 skipped")
    return failed != 0


if __name__ == "__main__":
    sys.exit(main())
