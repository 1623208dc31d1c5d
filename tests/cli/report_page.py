#!/usr/bin/env python3
"""The page of --report: what stands in it, that no name escapes from its JSON, its size, and what a browser makes of it.

    report_page.py --program build/default/qfold [--keep FOLDER]

Programs are fixtures, some with nodes of other names or many more nodes. Checks in the browser are skipped where there is no Chromium.
The last line is `N passed, N failed, N skipped`; exit 1 on a failure."""
from __future__ import annotations

import argparse
import html
import json
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path
from typing import Any

FIXTURES = Path(__file__).resolve().parent.parent / "fixtures"
EVIL = "</script><script>document.title='taken'</script><img src=x onerror=alert(1)><!--"
MANY = 20_000
BYTES_A_NODE = 400
BROWSER = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
passed = failed = skipped = 0


def check(what: str, holds: bool, more: Any = "") -> None:
    global passed, failed
    passed, failed = passed + bool(holds), failed + (not holds)
    if not holds:
        print(f"FAILED {what} {str(more)[:300]}", flush=True)


def changed(source: Path, target: Path, edit: Any) -> Path:
    """A fixture with another program; zip members as they were, stored."""
    with zipfile.ZipFile(source) as old, zipfile.ZipFile(target, "w") as new:
        for entry in old.infolist():
            data = old.read(entry)
            if entry.filename.endswith("models/model.json"):
                model = json.loads(data)
                edit(model["graph_module"]["graph"])
                data = json.dumps(model).encode()
            new.writestr(entry.filename, data)
    return target


def with_evil_names(graph: dict[str, Any]) -> None:
    text = json.dumps(graph).replace('"name": "permute"', f'"name": {json.dumps(EVIL)}').replace('"permute": {', f'{json.dumps(EVIL)}: {{')
    graph.clear()
    graph.update(json.loads(text))


def with_many_nodes(graph: dict[str, Any]) -> None:
    """permute -> 20,000 x neg -> add"""
    nodes, values = graph["nodes"], graph["tensor_values"]
    at = next(i for i, n in enumerate(nodes) if n["name"] == "add")
    before, chain = "permute", []
    for i in range(MANY):
        name = f"neg_{i}"
        values[name] = values["permute"]
        chain.append({**nodes[0], "target": "torch.ops.aten.neg.default", "name": name, "outputs": [{"as_tensor": {"name": name}}],
                      "inputs": [{"name": "self", "arg": {"as_tensor": {"name": before}}, "kind": 1}]})
        before = name
    nodes[at]["inputs"][1]["arg"]["as_tensor"]["name"] = before
    nodes[at:at] = chain


def run(program: Path, *words: Any) -> subprocess.CompletedProcess[str]:
    return subprocess.run([str(program), *map(str, words)], capture_output=True, text=True, errors="replace", check=False, timeout=120)


def report_in(page: Path) -> dict[str, Any]:
    text = page.read_text(errors="strict")
    inside = re.findall(r'<script type="application/json" id="report">\n(.*?)</script>', text, re.DOTALL)
    return json.loads(inside[0])


def browser(page: Path, choice: str, *words: str) -> str:
    done = subprocess.run([str(BROWSER), "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--virtual-time-budget=4000",
                           "--window-size=1280,1700", f"--user-data-dir={page.parent / 'profile'}", *words, f"file://{page}{choice}"],
                          capture_output=True, text=True, errors="replace", check=False, timeout=120)
    return done.stdout


def document(page: Path, choice: str = "") -> str:
    """The document as it was drawn, without the scripts in it."""
    return re.sub(r"<script.*?</script>", "", browser(page, choice, "--dump-dom"), flags=re.DOTALL)


def names_in_table(drawn: str) -> list[str]:
    return [html.unescape(n) for n in re.findall(r'<span class="name">(.*?)</span>', drawn, re.DOTALL)]


def check_files(program: Path, folder: Path) -> None:
    page, plain = folder / "llama.html", folder / "llama.json"
    page.write_text("old")
    done = run(program, "fold", FIXTURES / "llama.pt2", "-o", folder / "out.pt2", "--force", "--quiet", "--report", page, "--json", plain)
    check("fold --report", done.returncode == 0 and not done.stderr, done.stderr)
    text, inside, want = page.read_text(), report_in(page), json.loads(plain.read_text())
    check("the report in the page is that of --json", inside == want)
    check("the page asks for nothing else", not re.search(r"""(?:src|href)=|url\(|@import|https?://(?!www\.w3\.org/2000/svg)""", text.replace(EVIL, "")))
    check("the page is safe from the network", "default-src 'none'" in text)
    check("nothing is left beside it", not list(folder.glob(".qfold*")))
    done = run(program, "plan", FIXTURES / "llama.pt2", "--report", folder / "plan.html")
    check("plan --report", done.returncode == 0 and report_in(folder / "plan.html")["output"] is None and "folded" in done.stdout, done.stdout)
    done = run(program, "plan", FIXTURES / "llama.pt2", "--report", folder / "absent" / "page.html")
    check("a folder that is missing", done.returncode == 4 and "absent/page.html: No such file" in done.stderr, done)
    for words in (("--report", "-"), ("--report", folder / "x.json", "--json", folder / "x.json"), ("--report", FIXTURES / "llama.pt2")):
        done = run(program, "plan", FIXTURES / "llama.pt2", *words)
        check(f"usage {words[0]} {words[1]}", done.returncode == 2 and "--report" in done.stderr, done)
    taken = {n["name"]: n["inputs"] for n in inside["nodes"]}
    check("inputs name nodes and values", taken["le"] == ["view", "add"] or len(taken["le"]) == 2 and all(n in taken for n in taken["le"]), taken["le"])


def check_names(program: Path, folder: Path) -> None:
    source, page = changed(FIXTURES / "views.pt2", folder / "evil.pt2", with_evil_names), folder / "evil.html"
    done = run(program, "plan", source, "--quiet", "--report", page)
    check("plan of evil names", done.returncode == 0, done.stderr)
    text = page.read_text()
    check("no name ends the JSON", EVIL not in text and text.count("</script>") == 2, text.count("</script>"))
    check("the name is kept", any(n["name"] == EVIL for n in report_in(page)["nodes"]))
    if BROWSER:
        drawn = document(page)
        check("the name is text", EVIL in names_in_table(drawn) and "<img" not in drawn and "<title>taken" not in drawn, drawn)


def check_many(program: Path, folder: Path) -> None:
    source, page = changed(FIXTURES / "views.pt2", folder / "many.pt2", with_many_nodes), folder / "many.html"
    done = run(program, "fold", source, "-o", folder / "many.out.pt2", "--force", "--quiet", "--report", page)
    check("fold of many nodes", done.returncode == 0, done.stderr)
    size = page.stat().st_size
    check("bytes of many nodes", len(report_in(page)["nodes"]) > MANY and size < MANY * BYTES_A_NODE, size)
    if BROWSER:
        drawn = document(page, "#find=neg_1999")
        check("many nodes are found", names_in_table(drawn)[:2] == ["neg_1999", "neg_19990"] and ">11 of 20," in drawn, names_in_table(drawn))
        check("only rows in sight are drawn", len(document(page)) < 200_000)


def check_browser(folder: Path) -> None:
    page = folder / "llama.html"
    drawn = document(page)
    for text in ("<title>llama.pt2", "What folded into what", "Why the rest stayed", "depends on an input of the program", ">158 of 158<", "<svg"):
        check(f"the page shows {text}", text in drawn)
    kept = document(page, "#show=kept&sort=bytes&reason=assertion")
    check("a verdict and a reason choose", "6 of 158" in kept and set(names_in_table(kept)) and 'verdict is-folded">folded' not in kept.split('id="nodes"')[1])
    sorted_names = names_in_table(document(page, "#sort=name&down=0"))
    check("columns sort", len(sorted_names) > 8 and sorted_names == sorted(sorted_names), sorted_names)
    check("a node is shown in full", "Taken by" in document(page, "#node=le"))
    for theme in ("light", "dark"):
        picture = folder / f"{theme}.png"
        browser(page, f"#theme={theme}", f"--screenshot={picture}")
        data = picture.read_bytes() if picture.exists() else b""
        check(f"a picture, {theme}", data[:8] == b"\x89PNG\r\n\x1a\n" and struct.unpack(">II", data[16:24]) == (1280, 1700) and len(data) > 50_000, len(data))


def main() -> int:
    global skipped
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", type=Path, required=True)
    parser.add_argument("--keep", type=Path, help="folder for the files and pictures")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="qfold-page-") as scratch:
        folder = (args.keep or Path(scratch)).resolve()
        folder.mkdir(parents=True, exist_ok=True)
        program = args.program.resolve()
        check_files(program, folder)
        check_names(program, folder)
        check_many(program, folder)
        if BROWSER:
            check_browser(folder)
        else:
            skipped = 15
            print("SKIP checks in the browser: no Chromium")
    print(f"{passed} passed, {failed} failed, {skipped} skipped")
    return failed != 0


if __name__ == "__main__":
    sys.exit(main())
