"""What is committed: nothing of the machine it was written on, nothing half-done."""

from __future__ import annotations

import ast
import re
import subprocess
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent

# Written in pieces, so that this file does not contain what it looks for.
HOSTS = ["py" + "pi.org", "python" + "hosted.org", "npm" + "js.org", "deb." + "debian.org"]
FOLDERS = ["/wo" + "rk/", "/ro" + "ot/", "/op" + "t/py", "/Us" + "ers/"]
UNFINISHED = ["FIX" + "ME", "XX" + "X:", "breakpoint" + "()", "pdb.set" + "_trace"]

TEXT = {".py", ".md", ".json", ".jsonl", ".toml", ".svg", ".xml", ".desktop", ".yml", ".txt", ""}


@cache
def _files() -> tuple[Path, ...]:
    """What git would commit; without git (an unpacked source distribution) every file."""
    try:
        listed = subprocess.run(
            ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"],
            cwd=ROOT,
            check=True,
            capture_output=True,
        ).stdout
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("not a git checkout")
    paths = (ROOT / name for name in listed.decode().split("\0") if name)
    return tuple(sorted(path for path in paths if path.is_file()))


def _texts() -> list[tuple[str, str]]:
    return [
        (str(path.relative_to(ROOT)), path.read_text(encoding="utf-8"))
        for path in _files()
        if path.suffix in TEXT
    ]


def _python() -> list[Path]:
    return [path for path in _files() if path.suffix == ".py"]


@pytest.mark.parametrize("forbidden", [*HOSTS, *FOLDERS, *UNFINISHED])
def test_no_file_names(forbidden: str) -> None:
    assert [name for name, text in _texts() if forbidden in text] == []


def test_public_modules_say_what_they_are_for() -> None:
    silent = [
        str(path.relative_to(ROOT))
        for path in _python()
        if (tree := ast.parse(path.read_text(encoding="utf-8"))).body
        and not ast.get_docstring(tree)
    ]
    assert silent == []


def test_a_todo_gives_a_reason() -> None:
    bare = re.compile(r"TO" + r"DO(?!\(.+\): \S|: \S.{20})")
    assert [name for name, text in _texts() if name.endswith(".py") and bare.search(text)] == []


def test_no_file_is_large() -> None:
    # The largest are the BPE ranks, which the program cannot count without.
    large = {
        str(path.relative_to(ROOT)): path.stat().st_size
        for path in _files()
        if path.stat().st_size > 500_000 and path.parent.name != "encodings"
    }
    assert large == {}
