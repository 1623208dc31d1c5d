#!/usr/bin/env python3
"""qfold-bench from outside: its list, its demands, its files. No figure is judged but those that are the same on every machine."""
from __future__ import annotations

import argparse
import json
import os
import re
import signal
import subprocess
import tempfile
import time
import unittest
import xml.etree.ElementTree as ElementTree
from fnmatch import fnmatchcase
from pathlib import Path

PROGRAM = ""
TARGETS = Path(__file__).resolve().parents[2] / "bench" / "targets.txt"
KERNEL = "kernels/copy_x8/13x77/scalar"
QUICK = ("--seconds=0",)

BAD_LINES = {
    "one": "a line is",
    "a b >= 1 avx2 more": "a line is",
    "a b > 1": "neither",
    "a b >= one": "not a number",
    "a b >= 1x": "not a number",
    "a b >= 1 sse9": "not an instruction set",
    "a" * 300 + " b >= 1": "too long",
    "a b >= 1" + " " * 600: "too long",
}


def run(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([PROGRAM, *arguments], capture_output=True, text=True, timeout=300, env={**os.environ, **environment})


def result(name: str, repetition: int = 0, seconds: float = 1e-3, **figures: float) -> dict[str, object]:
    return {"name": name, "repetition": repetition, "seconds": seconds, "figures": {"GB/s": 1.5, **figures}}


class Bench(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def file(self, name: str, text: str) -> str:
        path = self.folder / name
        path.write_text(text)
        return str(path)

    def results(self, name: str, *rows: dict[str, object]) -> str:
        return self.file(name, json.dumps({"schema": "qfold.bench.v1", "caps": "avx2", "cpu": "A & B", "results": rows}))

    def check(self, demands: str, *arguments: str) -> subprocess.CompletedProcess[str]:
        return run("--check", self.file("demands", demands), *arguments)

    # The list

    def test_names(self) -> None:
        names = run("--benchmark_list_tests", "--benchmark_filter=").stdout.splitlines()
        self.assertEqual(len(names), len(set(names)))
        self.assertEqual({n.split("/")[0] for n in names}, {"kernels", "ops", "chains", "fold"})
        self.assertTrue(all(re.fullmatch(r"[a-z]+(/[A-Za-z0-9_:.]+)+", n) for n in names))
        for line in TARGETS.read_text().splitlines():
            glob = line.split("#")[0].split()[:1]
            self.assertTrue(not glob or any(fnmatchcase(n, glob[0]) for n in names), line)

    def test_large_cases_are_only_for_who_asks(self) -> None:
        self.assertNotIn("1GiB", run("--benchmark_list_tests").stdout)
        self.assertIn("1GiB", run("--benchmark_list_tests", "--benchmark_filter=1GiB").stdout)

    # Demands

    def test_bad_lines(self) -> None:
        for line, what in BAD_LINES.items():
            done = self.check(f"# a comment\n\n{line}\n")
            self.assertEqual(done.returncode, 2, line)
            self.assertIn("demands:3: ", done.stderr)
            self.assertIn(what, done.stderr)

    def test_missing_file(self) -> None:
        done = run("--check", str(self.folder / "nowhere"))
        self.assertEqual(done.returncode, 2)
        self.assertIn("nowhere", done.stderr)

    def test_verdicts(self) -> None:
        done = self.check(f"{KERNEL} bytes >= 1 # always\nnothing/* x_copy >= 1\n{KERNEL} no_such <= 1\n", *QUICK)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertRegex(done.stdout, rf"(?m)^PASS +{KERNEL}  bytes 2002 >= 1$")
        self.assertIn("NOT RUN  nothing/*  x_copy >= 1: no such case", done.stdout)
        self.assertIn(f"NOT RUN  {KERNEL}  no_such <= 1: no such counter", done.stdout)
        self.assertIn("1 passed, 0 failed, 2 not run", done.stdout)

    def test_an_unmet_demand_fails(self) -> None:
        done = self.check(f"{KERNEL} bytes <= 1\n", *QUICK)
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stdout, rf"(?m)^FAIL +{KERNEL}  bytes 2002 <= 1$")

    def test_worst_case_best_repetition(self) -> None:
        rows = (result("ops/a", 0, x_copy=0.2), result("ops/a", 1, x_copy=0.7), result("ops/b", 0, x_copy=0.9))
        stored = self.results("stored", *rows)
        self.assertIn("PASS     ops/a  x_copy 0.7 >= 0.6", self.check("ops/* x_copy >= 0.6\n", "--from", stored).stdout)

    def test_instruction_sets(self) -> None:
        stored = self.results("stored", result("ops/a", x_copy=0.5))
        done = self.check("ops/a x_copy >= 0.9 avx512\nops/a x_copy >= 0.4 avx2\n", "--from", stored)
        self.assertEqual(done.returncode, 0, done.stdout)
        self.assertIn("NOT RUN  ops/a  x_copy >= 0.9 avx512: another instruction set", done.stdout)

    # Cases

    def test_an_operator_and_its_limits(self) -> None:
        written = self.folder / "out.json"
        done = run("--benchmark_filter=^ops/transpose/f32/1000x1003$", *QUICK, "--compare", "--json", str(written))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("x_copy memcpy", done.stdout)
        figures = json.loads(written.read_text())["results"][0]["figures"]
        self.assertEqual(figures["bytes"], 2 * 4 * 1000 * 1003)
        self.assertGreater(figures["x_copy"], 0)
        self.assertGreater(figures["x_c"], 0)
        self.assertGreater(figures["s:x_c plain C"], 0)

    def test_a_fold_leaves_no_file(self) -> None:
        written = self.folder / "out.json"
        temporary = self.folder / "temporary"
        temporary.mkdir()
        done = run("--benchmark_filter=^fold/qk/256x128x128$", *QUICK, "--json", str(written), TMPDIR=str(temporary))
        self.assertEqual(done.returncode, 0, done.stderr)
        row = json.loads(written.read_text())["results"][0]
        self.assertNotIn("skipped", row)
        self.assertEqual(row["figures"]["folded"], 3 * 256)
        self.assertGreater(row["figures"]["peak_rss_MiB"], 1)
        self.assertEqual(list(temporary.iterdir()), [])

    def test_a_signal_leaves_no_file(self) -> None:
        command = [PROGRAM, "--benchmark_filter=^fold/qk/16x2048x2048$"]
        with subprocess.Popen(command, stdout=subprocess.DEVNULL, env={**os.environ, "TMPDIR": str(self.folder)}) as process:
            while process.poll() is None and not list(self.folder.glob("*/model.pt2")):
                time.sleep(0.01)
            process.terminate()
        self.assertEqual(process.returncode, -signal.SIGTERM)
        self.assertEqual(list(self.folder.iterdir()), [])

    # Files

    def test_json_comes_back(self) -> None:
        rows = [result("ops/a", x_copy=0.5), {"name": "ops/b", "repetition": 0, "seconds": 0.0, "skipped": "why \"so\"", "figures": {}}]
        stored = self.results("stored", *rows)
        done = run("--from", stored, "--json", "-")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(json.loads(done.stdout), json.loads(Path(stored).read_text()))

    def test_bad_json(self) -> None:
        for text in ("", "{", "[]", '{"schema":"other","results":[]}', '{"schema":"qfold.bench.v1","results":[{}]}'):
            done = run("--from", self.file("bad", text))
            self.assertEqual(done.returncode, 2, text)
            self.assertIn("bad", done.stderr)

    def test_html(self) -> None:
        rows = [result("ops/a<&\">/f32", x_copy=0.5, x_c=2.0), result("ops/a<&\">/f32", 1, x_copy=0.6),
                result("chains/b", x_inplace=3.0, x_blas=1.5), result("fold/c", folded=1.0)]
        page = self.folder / "page.html"
        done = self.check("ops/* x_copy >= 0.55\nchains/b x_inplace >= 4\n", "--from", self.results("stored", *rows), "--html", str(page))
        self.assertEqual(done.returncode, 1)
        text = page.read_text()
        root = ElementTree.fromstring(text)
        bars = [e for e in root.iter() if e.tag.endswith("rect") and e.get("class") in ("pass", "fail", "free") and float(e.get("x")) > 320]
        self.assertEqual([b.get("class") for b in bars if b.get("height") == "14" and b.get("y") != "5"], ["pass", "fail"])
        self.assertIn("a<&\">/f32", "".join(root.itertext()))
        self.assertNotRegex(text.replace("http://www.w3.org/2000/svg", "").replace("http://www.w3.org/1999/xhtml", ""),
                            r"(?i)https?:|<script|<link|\bsrc=|url\(|@import|<iframe|<img")
        self.assertIn("prefers-color-scheme:dark", text)

    def test_comparison(self) -> None:
        before = self.results("before", *(result(f"ops/{n}", k, x_copy=v + 0.01 * k) for n, v in zip("abc", (0.5, 0.5, 0.5)) for k in range(3)))
        after = self.results("after", *(result(f"ops/{n}", k, x_copy=v + 0.01 * k) for n, v in zip("abd", (0.8, 0.505, 0.5)) for k in range(3)))
        lines = run("--compare-json", before, after).stdout.splitlines()
        self.assertEqual(len(lines), 3)
        self.assertRegex(lines[1], r"^ops/a +x_copy +0\.510 +0\.810 +1\.588 +3\.2%  better$")
        self.assertRegex(lines[2], r"^ops/b +x_copy .*within the noise$")

    # Usage

    def test_usage(self) -> None:
        self.assertIn("--check FILE", run("--help").stdout)
        for arguments in (["--nonsense"], ["--check"], ["--compare-json", "a"], ["--seconds=x"], ["--benchmark_filter=("]):
            done = run(*arguments)
            self.assertEqual(done.returncode, 2, arguments)
            self.assertIn("qfold-bench: ", done.stderr)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--program", required=True)
    known, rest = parser.parse_known_args()
    PROGRAM = known.program
    unittest.main(argv=["run_bench.py", *rest])
