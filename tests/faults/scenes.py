"""Runs of the program in which something fails, and what must hold after each of them: shared by the scripts of this folder."""
from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Scene:
    """A command on a copy of a fixture, in an empty folder. OUT in the words is the file it writes; replaces: OUT is there before."""

    fixture: str
    words: str
    replaces: bool = False

    @property
    def output(self) -> str | None:
        words = self.words.split()
        return words[words.index("-o") + 1] if "-o" in words else None

    @property
    def report(self) -> str | None:
        words = self.words.split()
        return words[words.index("--json") + 1] if "--json" in words and "-" not in words else None


SCENES = (
    Scene("views", "fold in.pt2 -o out.pt2 --threads 1"),
    Scene("rotary", "fold in.pt2 -o out.pt2 --threads 2 --sync --memory 64K"),
    Scene("int8_channel", "fold in.pt2 -o out.pt2 --fold-dequant --contiguous --force --sync", replaces=True),
    Scene("deflated", "fold in.pt2 -o in.pt2 --force --quiet"),
    Scene("tied", "fold in.pt2 -o out.pt2 --json report.json --keep mul --only *"),
    Scene("llama", "fold in.pt2 -o out.pt2 --threads 2 --exact --quiet"),
    Scene("cond", "fold in.pt2 -o out.pt2 --threads 1"),
    Scene("empty", "fold in.pt2 -o out.pt2"),
    Scene("rotary", "plan in.pt2 --threads 2"),
    Scene("views", "explain in.pt2 --json -"),
    Scene("scalars", "inspect in.pt2"),
    Scene("lifted", "inspect in.pt2 --json report.json"),
    Scene("views", "verify in.pt2 folded.pt2"),
)


class Wrong(Exception):
    """What must hold does not."""


@dataclass(frozen=True)
class Result:
    code: int
    stdout: bytes
    stderr: str


class Stage:
    """A scene with a folder of its own, and what it leaves there when nothing fails."""

    def __init__(self, scene: Scene, program: Path, fixtures: Path) -> None:
        self.scene, self.program = scene, program
        self.root = Path(tempfile.mkdtemp(prefix="qfold-faults-"))
        self.folder, self.counts = self.root / "here", self.root / "counts"
        self.before = {"in.pt2": (fixtures / f"{scene.fixture}.pt2").read_bytes()}
        if scene.replaces:
            self.before["out.pt2"] = b"what was there before"
        if "folded.pt2" in scene.words:
            subprocess.run([program, "fold", fixtures / f"{scene.fixture}.pt2", "-o", self.root / "folded.pt2", "--quiet"], check=True)
            self.before["folded.pt2"] = (self.root / "folded.pt2").read_bytes()
        self.clean = self.run("")
        if self.clean.code or self.clean.stderr:
            raise Wrong(f"exit {self.clean.code} without a fault: {self.clean.stderr}")
        self.after = self.files()
        self.calls = {name: int(n) for name, n in (line.split() for line in self.counts.read_text().splitlines())}

    def close(self) -> None:
        shutil.rmtree(self.root)

    def files(self) -> dict[str, bytes]:
        """Names and contents; of a report all but what may differ between runs."""
        return {p.name: re.sub(rb'"run": .*', b"", p.read_bytes()) if p.name == self.scene.report else p.read_bytes()
                for p in self.folder.iterdir()}

    def lay(self) -> None:
        """The folder as it was."""
        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.mkdir()
        for name, content in self.before.items():
            (self.folder / name).write_bytes(content)

    def start(self, faults: str) -> subprocess.Popen[bytes]:
        environment = dict(os.environ, QFOLD_FAULTS=faults, QFOLD_FAULT_COUNTS=str(self.counts), ASAN_OPTIONS="exitcode=99",
                           LSAN_OPTIONS="exitcode=98")
        return subprocess.Popen([self.program, *self.scene.words.split()], cwd=self.folder, env=environment, stdin=subprocess.DEVNULL,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def finish(self, child: subprocess.Popen[bytes]) -> Result:
        try:
            stdout, stderr = child.communicate(timeout=60)
        except subprocess.TimeoutExpired:
            child.kill()
            child.communicate()
            raise Wrong("it does not end") from None
        return Result(child.returncode, stdout, stderr.decode(errors="replace"))

    def run(self, faults: str) -> Result:
        self.lay()
        return self.finish(self.start(faults))

    def check_result(self, result: Result, allowed: frozenset[int]) -> None:
        """The exit code, and what was said."""
        if result.code not in allowed:
            raise Wrong(f"exit {result.code}, not one of {sorted(allowed)}: {result.stderr[-2000:]}")
        lines = result.stderr.splitlines()
        if result.code and not (lines and lines[0].startswith("qfold: ") and all(x.startswith(("qfold: ", "hint: ")) for x in lines)):
            raise Wrong(f"exit {result.code}, and the message is {result.stderr[-2000:]!r}")
        if not result.code and lines:
            raise Wrong(f"exit 0, and it says {result.stderr[-2000:]!r}")

    def check_files(self, code: int, inputs_change: bool = False) -> None:
        """The folder is as it was, or as it is after a good run. Only a report may be missing or cut, and a failure that comes after
        the output has its name leaves it."""
        found, report = self.files(), self.scene.report
        if report:
            found.pop(report, None) if code else None
        wanted = [self.after] if not code else [self.before, {k: v for k, v in self.after.items() if k != report}]
        if inputs_change:
            wanted = [{k: v for k, v in files.items() if k != "in.pt2"} for files in wanted]
            found.pop("in.pt2", None)
        if found not in wanted:
            names = sorted(k for k, v in found.items() if any(files.get(k) != v for files in wanted))
            raise Wrong(f"exit {code}, and the folder holds {sorted(found)}, of which changed: {names}")


def arguments(description: str) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", type=Path, required=True, help="qfold_faulty")
    parser.add_argument("--fixtures", type=Path, required=True)
    parser.add_argument("--step", type=int, default=1, help="try every N-th place")
    return parser
