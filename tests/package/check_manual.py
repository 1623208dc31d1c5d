#!/usr/bin/env python3
"""The manual page and the completions of three shells, against the program's own help.

    check_manual.py --program build/default/qfold --manual build/default/manual

The page is read by man and mandoc without a warning and names every command and option. Each shell loads its completion and is asked
for words. What is not installed is skipped. The last line is `N passed, N failed, N skipped`; exit 1 on a failure, 77 if all was
skipped."""
from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path


class Wrong(Exception):
    pass


def output(*words: str | Path, **environment: str) -> tuple[str, str]:
    done = subprocess.run(words, capture_output=True, text=True, env=dict(os.environ, LC_ALL="C.UTF-8", MANWIDTH="200", **environment),
                          stdin=subprocess.DEVNULL, timeout=60)
    return done.stdout, done.stderr


class Program:
    """Commands and their options, as the program says them."""

    def __init__(self, path: Path) -> None:
        commands = re.findall(r"^  (?!qfold)(\w+)\b.* {2,}\S", output(path, "--help")[0], re.MULTILINE)
        self.options = {c: re.findall(r"^  (?:-(\w),)? *--([\w-]+)", output(path, c, "--help")[0], re.MULTILINE) for c in commands}

    def words(self, command: str) -> set[str]:
        return {f"--{long}" for _, long in self.options[command]} | {f"-{short}" for short, _ in self.options[command] if short}


def want(found: object, wanted: object, what: str) -> None:
    if found != wanted:
        raise Wrong(f"{what}: {found}, wanted {wanted}")


def check_man(program: Program, folder: Path) -> None:
    page, warnings = output("man", "--warnings=w", "-l", "-Tutf8", folder / "qfold.1", GROFF_NO_SGR="1")
    want(warnings, "", "man warns")
    text = re.sub(".\x08", "", page)
    for command in program.options:
        for word in {f"qfold {command}"} | program.words(command):
            if word not in text:
                raise Wrong(f"the page does not name {word}")


def check_mandoc(program: Program, folder: Path) -> None:
    want(output("mandoc", "-T", "lint", "-W", "error", folder / "qfold.1"), ("", ""), "mandoc")


BASH = """source "$1/qfold.bash"
COMP_WORDS=(qfold "${@:2}") COMP_CWORD=$(($# - 1)) COMPREPLY=()
$(complete -p qfold | sed 's/.*-F \\([^ ]*\\).*/\\1/')
printf '%s\\n' "${COMPREPLY[@]}"
"""


def check_bash(program: Program, folder: Path) -> None:
    def ask(*words: str) -> set[str]:
        return set(output("bash", "-c", BASH, "bash", folder, *words)[0].split())

    want(ask(""), {*program.options, "--help", "--version"}, "commands")
    for command in program.options:
        want(ask(command, "-"), program.words(command), f"options of {command}")
    want(ask("fold", "--memory", ""), set(), "words behind --memory")
    want(ask("fold", str(folder / "qfold.f")), {str(folder / "qfold.fish")}, "files")
    want(ask("fold", "--output", str(folder / "qfold.f")), {str(folder / "qfold.fish")}, "files behind --output")


ZSH = """autoload -Uz compinit && compinit -u -D
_describe() { print -rl -- "${commands[@]%%:*}" }
_arguments() { print -rl -- "$@" }
fpath=($1 $fpath); autoload -Uz _qfold; shift
words=(qfold "$@") CURRENT=$(($# + 1))
_qfold
"""


def check_zsh(program: Program, folder: Path) -> None:
    def ask(*words: str) -> str:
        text, errors = output("zsh", "-f", "-c", ZSH, "zsh", folder, *words)
        want(errors, "", "zsh complains")
        return text

    want(set(ask("").split()), set(program.options), "commands")
    for command in program.options:
        found = {"-s"} ^ set(re.findall(r"^(?:\(.*\))?\*?(--?[\w-]+)", ask(command, ""), re.MULTILINE))
        want(found, program.words(command), f"options of {command}")  # -s is an option of _arguments
    want(output("zsh", "-n", folder / "_qfold"), ("", ""), "zsh -n")


def check_fish(program: Program, folder: Path) -> None:
    def ask(line: str) -> set[str]:
        text, errors = output("fish", "--no-config", "-c", 'source "$argv[1]/qfold.fish"; complete -C "$argv[2]"', str(folder), line,
                              HOME=str(folder))
        want(errors, "", "fish complains")
        return {word.split("\t")[0] for word in text.splitlines()}

    want(ask("qfold "), set(program.options), "commands")
    for command in program.options:
        longs = {f"--{long}" for _, long in program.options[command]}
        want(ask(f"qfold {command} --"), longs, f"options of {command}")
    want(ask("qfold fold --memory "), set(), "words behind --memory")
    want(ask(f"qfold fold {folder}/qfold.f"), {f"{folder}/qfold.fish"}, "files")


CHECKS: tuple[tuple[str, Callable[[Program, Path], None]], ...] = (
    ("man", check_man), ("mandoc", check_mandoc), ("bash", check_bash), ("zsh", check_zsh), ("fish", check_fish))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", type=Path, required=True)
    parser.add_argument("--manual", type=Path, required=True)
    args = parser.parse_args()
    program = Program(args.program.resolve())
    passed = failed = skipped = 0
    for tool, check in CHECKS:
        if not shutil.which(tool):
            print(f"skipped: {tool} is not installed")
            skipped += 1
            continue
        try:
            check(program, args.manual.resolve())
            passed += 1
        except Wrong as e:
            failed += 1
            print(f"FAILED {tool}: {e}")
    print(f"{passed} passed, {failed} failed, {skipped} skipped")
    return 1 if failed else 0 if passed else 77


if __name__ == "__main__":
    sys.exit(main())
