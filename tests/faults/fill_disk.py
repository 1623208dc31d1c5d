#!/usr/bin/env python3
"""A file system that is too small, has no room for one more file, or cannot be written.

    fill_disk.py --program build/default/tests/faults/qfold_faulty --fixtures tests/fixtures

A tmpfs is mounted, which needs root or a user namespace; without either the test is skipped. Its size grows page by page: the fold
fails with exit code 4, names the output, and leaves nothing, until the output fits, and then it is that of a run on a large one.
The last line is `N passed, N failed, N skipped`; exit 1 on a failure, 77 if all was skipped."""
from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

from scenes import Wrong, arguments

INSIDE = "QFOLD_FILL_DISK_INSIDE"
PAGE = 4096
FIXTURES = ("views", "rotary", "llama", "empty")


def enter() -> int:
    """This script again where it may mount; 77 if there is no such place."""
    for namespace in (["unshare", "--mount"], ["unshare", "--user", "--map-root-user", "--mount"]):
        if subprocess.run([*namespace, "mount", "-t", "tmpfs", "tmpfs", "/mnt"], capture_output=True).returncode == 0:
            return subprocess.run([*namespace, sys.executable, "-B", *sys.argv], env=dict(os.environ, **{INSIDE: "1"})).returncode
    print("skipped: mounting a tmpfs needs root or a user namespace\n0 passed, 0 failed, 1 skipped")
    return 77


def mount(folder: Path, options: str) -> None:
    if folder.is_mount():
        subprocess.run(["umount", folder], check=True)
    subprocess.run(["mount", "-t", "tmpfs", "-o", options, "tmpfs", folder], check=True)


def fold(program: Path, fixture: Path, folder: Path, faults: str, options: tuple[str, ...] = ()) -> tuple[int, str]:
    done = subprocess.run([program, "fold", fixture, "-o", folder / "out.pt2", "--quiet", *options], capture_output=True, text=True,
                          env=dict(os.environ, QFOLD_FAULTS=faults), timeout=60)
    return done.returncode, done.stderr


def check_failed(code: int, text: str, folder: Path, why: str) -> None:
    if code != 4 or text != f"qfold: {folder}/out.pt2: {why}\n":
        raise Wrong(f"exit {code}: {text}")
    if left := list(folder.iterdir()):
        raise Wrong(f"left behind: {left}")


def fill(program: Path, fixture: Path, folder: Path, faults: str, step: int) -> int:
    """From one page to as many as the output needs; how many sizes were tried."""
    mount(folder, "size=64m")
    if fold(program, fixture, folder, faults) != (0, ""):
        raise Wrong("it does not fold where there is room")
    wanted = (folder / "out.pt2").read_bytes()
    pages = -(-len(wanted) // PAGE)
    sizes = [*range(1, pages, step), pages, pages + 1]
    for n in sizes:
        mount(folder, f"size={n * PAGE}")
        code, text = fold(program, fixture, folder, faults, ("--sync",) if n % 2 else ())
        if n < pages:
            check_failed(code, text, folder, "No space left on device")
        elif (code, text) != (0, "") or (folder / "out.pt2").read_bytes() != wanted:
            raise Wrong(f"{n} pages are enough, but exit {code}: {text}")
    return len(sizes)


def refuse(program: Path, fixture: Path, folder: Path, faults: str, _: int) -> int:
    mount(folder, "size=64m,nr_inodes=1")
    check_failed(*fold(program, fixture, folder, faults), folder, "No space left on device")
    mount(folder, "size=64m,ro")
    check_failed(*fold(program, fixture, folder, faults), folder, "Read-only file system")
    return 2


def main() -> int:
    args = arguments(__doc__).parse_args()
    if INSIDE not in os.environ:
        return enter()
    passed = failed = 0
    program = args.program.resolve()
    with tempfile.TemporaryDirectory(prefix="qfold-disk-") as scratch:
        folder = Path(scratch)
        for name in FIXTURES:
            for faults in ("", "unnamed:always:1"):
                for trial in (fill, refuse):
                    try:
                        passed += trial(program, args.fixtures.resolve() / f"{name}.pt2", folder, faults, args.step)
                    except Wrong as e:
                        failed += 1
                        print(f"FAILED {name}, {faults or 'no name'}: {e}", flush=True)
        subprocess.run(["umount", folder], check=True)
    print(f"{passed} passed, {failed} failed, 0 skipped")
    return failed != 0


if __name__ == "__main__":
    sys.exit(main())
