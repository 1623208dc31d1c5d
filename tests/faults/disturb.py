#!/usr/bin/env python3
"""The program is killed, told to end, or finds its files changed, at every read, write, flush and renaming, and at random moments.

    disturb.py --program build/default/tests/faults/qfold_faulty --fixtures tests/fixtures [--step N] [--kills N] [--seed N]

At its K-th call of a class the program stops, something happens, and it goes on. Right is: the input as it was (or as it was made),
the output not there, or whole; no crash. A hidden file may stay only where a killed run had to have one: on file systems without
files that have no name, and for the moment in which such a file replaces another. The last line is `N passed, N failed, N skipped`;
exit 1 on a failure."""
from __future__ import annotations

import os
import random
import signal
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

from scenes import SCENES, Result, Scene, Stage, Wrong, arguments

THEIRS = b"a file that somebody else put here"


def kill(stage: Stage, pid: int) -> bool:
    os.kill(pid, signal.SIGKILL)
    return True


def end(stage: Stage, pid: int) -> bool:
    os.kill(pid, signal.SIGTERM)
    return True


def still_input(stage: Stage) -> bool:
    """Whether the input has not been replaced by the output yet."""
    return (stage.folder / "in.pt2").read_bytes() == stage.before["in.pt2"]


def cut(stage: Stage, pid: int) -> bool:
    if not still_input(stage):
        return False
    os.truncate(stage.folder / "in.pt2", len(stage.before["in.pt2"]) // 2)
    return True


def scribble(stage: Stage, pid: int) -> bool:
    if not still_input(stage):
        return False
    with open(stage.folder / "in.pt2", "r+b") as file:
        file.write(b"\xff" * len(stage.before["in.pt2"]))
    return True


def replace(stage: Stage, pid: int) -> bool:
    if not still_input(stage):
        return False
    (stage.folder / "other").write_bytes(THEIRS)
    os.replace(stage.folder / "other", stage.folder / "in.pt2")
    return True


def take(stage: Stage, pid: int) -> bool:
    """False where the name is taken already."""
    try:
        with open(stage.folder / stage.scene.output, "xb") as file:
            file.write(THEIRS)
    except FileExistsError:
        return False
    return True


def check_killed(stage: Stage, result: Result, spec: str) -> None:
    if result.code != -signal.SIGKILL:
        raise Wrong(f"exit {result.code}")
    found = stage.files()
    hidden = [name for name in found if name.startswith(".qfold-") and name.endswith(".tmp")]
    needed = spec.startswith("unnamed") or (spec.startswith("name") and (stage.scene.replaces or stage.scene.output == "in.pt2"))
    if len(hidden) > needed:
        raise Wrong(f"left behind: {hidden}")
    for name in hidden:
        del found[name]
    found.pop(stage.scene.report, None)
    if found not in (stage.before, {k: v for k, v in stage.after.items() if k != stage.scene.report}):
        raise Wrong(f"the folder holds {sorted(found)}")


def check_ended(stage: Stage, result: Result, spec: str) -> None:
    if result.code == -signal.SIGTERM:  # before the program listens, or after
        result = Result(1, b"", "qfold: ended\n")
    stage.check_result(result, frozenset({0, 1}))
    stage.check_files(result.code)


def check_cut(stage: Stage, result: Result, spec: str) -> None:
    stage.check_result(result, frozenset({0, 3}))
    stage.check_files(result.code, inputs_change=stage.scene.output != "in.pt2" or result.code != 0)


def check_scribbled(stage: Stage, result: Result, spec: str) -> None:
    """What was copied before or after cannot be told; a file was written or not."""
    stage.check_result(result, frozenset({0, 3}))
    names = set(stage.files())
    if names != set(stage.before if result.code else stage.after):
        raise Wrong(f"exit {result.code}, and the folder holds {sorted(names)}")


def check_replaced(stage: Stage, result: Result, spec: str) -> None:
    stage.check_result(result, frozenset({0}))
    stage.check_files(0, inputs_change=stage.scene.output != "in.pt2")


def check_taken(stage: Stage, result: Result, spec: str) -> None:
    stage.check_result(result, frozenset({4}))
    if stage.files() != stage.before | {stage.scene.output: THEIRS}:
        raise Wrong(f"the folder holds {sorted(stage.files())}")


EVENTS: dict[str, tuple[Callable, Callable, str]] = {
    "kill": (kill, check_killed, "read write sync name"),
    "end": (end, check_ended, "read write"),
    "cut": (cut, check_cut, "read write"),
    "scribble": (scribble, check_scribbled, "read write"),
    "replace": (replace, check_replaced, "read write"),
    "take": (take, check_taken, "read write sync name"),
}
"""Event -> how it comes about, what is right then, and before which calls it happens."""


def happen(stage: Stage, spec: str, event: str) -> bool:
    """One run; False where nothing could happen."""
    cause, check, _ = EVENTS[event]
    stage.lay()
    child = stage.start(spec)
    _, status = os.waitpid(child.pid, os.WUNTRACED)
    if not os.WIFSTOPPED(status):
        child.returncode = os.waitstatus_to_exitcode(status)
        stage.finish(child)
        return False
    happened = cause(stage, child.pid)
    if event != "kill":
        os.kill(child.pid, signal.SIGCONT)
    result = stage.finish(child)
    if happened:
        check(stage, result, spec)
    return happened


def kill_at_random(stage: Stage, draw: random.Random, seconds: float) -> None:
    stage.lay()
    child = stage.start("")
    time.sleep(draw.random() * seconds)
    child.kill()
    result = stage.finish(child)
    if result.code == 0:
        stage.check_files(0)
    else:
        check_killed(stage, result, "name")


def play(scene: Scene, args, lines: list[str]) -> tuple[int, int]:
    passed = failed = 0
    stage = Stage(scene, args.program.resolve(), args.fixtures.resolve())
    draw = random.Random(args.seed)

    def attempt(what: str, run: Callable[[], object]) -> None:
        nonlocal passed, failed
        try:
            passed += run() is not False
        except Wrong as e:
            failed += 1
            lines.append(f"FAILED {scene.fixture}: {scene.words}: {what}: {e}")

    for prefix in ("", "unnamed:always:1,"):
        for event, (_, _, kinds) in EVENTS.items():
            if event == "take" and (scene.replaces or scene.output == "in.pt2"):
                continue
            for kind in kinds.split():
                for k in range(1, stage.calls[kind] + 1, args.step):
                    spec = f"{prefix}{kind}:stop:{k}"
                    attempt(f"{spec}, {event}", lambda: happen(stage, spec, event))
    begin = time.monotonic()
    stage.run("")
    seconds = time.monotonic() - begin
    for i in range(args.kills):
        attempt(f"killed at random, {i}", lambda: kill_at_random(stage, draw, seconds))
    stage.close()
    return passed, failed


def main() -> int:
    parser = arguments(__doc__)
    parser.add_argument("--kills", type=int, default=40, help="at random moments, for every scene")
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    lines: list[str] = []
    with ThreadPoolExecutor(2) as pool:
        results = list(pool.map(lambda scene: play(scene, args, lines), [s for s in SCENES if s.output]))
    print(*lines, sep="\n")
    failed = sum(f for _, f in results)
    print(f"{sum(p for p, _ in results)} passed, {failed} failed, 0 skipped")
    return failed != 0


if __name__ == "__main__":
    sys.exit(main())
