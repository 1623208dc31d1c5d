#!/usr/bin/env python3
"""Every call for memory, every opening, read, write, flush and renaming of the program fails once, is cut short, or fails for good.

    inject_faults.py --program build/default/tests/faults/qfold_faulty --fixtures tests/fixtures [--step N] [--only WORDS]

For every scene of scenes.py, with files that have no name while they are written and where there are none, and for every K: the K-th
call of a class fails. Right is: the exit code of that class with a message, the folder as it was, nothing hidden in it; or success
with the bytes that a run without faults writes. --step N tries each N-th K. The last line is `N passed, N failed, N skipped`; exit 1
on a failure."""
from __future__ import annotations

import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

from scenes import SCENES, Scene, Stage, Wrong, arguments

FAULTS = {
    "alloc": (("fail", {0, 5}), ("always", {0, 5})),
    "pool": (("fail", {0, 5}),),
    "open": (("fail", {0, 4}),),
    "read": (("fail", {0, 4}), ("always", {4}), ("interrupt", {0}), ("short", {0}), ("end", {0, 3})),
    "write": (("fail", {0, 4}), ("always", {0, 4}), ("interrupt", {0}), ("short", {0}), ("end", {0})),
    "sync": (("fail", {4}), ("always", {4})),
    "name": (("fail", {0, 4}), ("always", {0, 4})),
}
"""Class of calls -> what becomes of one, and the exit codes that are right then. 0: there is another way to the same end."""

MOST = 2000
"""About as many calls of one class are tried in one scene; of more, every second, third, ..."""


def faults(calls: dict[str, int], step: int) -> Iterator[tuple[str, frozenset[int]]]:
    for kind, actions in FAULTS.items():
        for action, allowed in actions:
            for k in range(1, calls[kind] + 1, max(step, calls[kind] // MOST)):
                yield f"{kind}:{action}:{k}", frozenset(allowed)


def play(scene: Scene, args, stream: list[str]) -> tuple[int, int]:
    """Numbers of faults that ended well and badly."""
    passed = failed = 0
    stage = Stage(scene, args.program.resolve(), args.fixtures.resolve())
    for prefix in ("", "unnamed:always:1,") if scene.output else ("",):
        if prefix:  # other calls are made for a file with a name
            stage.run(prefix)
            stage.calls = {name: int(n) for name, n in (line.split() for line in stage.counts.read_text().splitlines())}
        for spec, allowed in faults(stage.calls, args.step):
            try:
                result = stage.run(prefix + spec)
                # Counts of two threads differ from run to run: a K beyond the last call is a good run.
                stage.check_result(result, allowed | {0} if "--threads 2" in scene.words else allowed)
                stage.check_files(result.code)
                passed += 1
            except Wrong as e:
                failed += 1
                stream.append(f"FAILED {scene.fixture}: {scene.words}: {prefix}{spec}: {e}")
    stage.close()
    return passed, failed


def main() -> int:
    parser = arguments(__doc__)
    parser.add_argument("--only", default="", help="scenes whose fixture and words hold this")
    args = parser.parse_args()
    lines: list[str] = []
    scenes = [s for s in SCENES if args.only in f"{s.fixture} {s.words}"]
    with ThreadPoolExecutor(2) as pool:
        results = list(pool.map(lambda scene: play(scene, args, lines), scenes))
    print(*lines, sep="\n")
    failed = sum(f for _, f in results)
    print(f"{sum(p for p, _ in results)} passed, {failed} failed, 0 skipped")
    return failed != 0


if __name__ == "__main__":
    sys.exit(main())
