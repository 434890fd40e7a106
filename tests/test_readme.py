"""The README is true: its examples are run, and what it names is there."""

from __future__ import annotations

import doctest
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from stm_inspector.buffer.policies import all_policies
from stm_inspector.formats import all_formats

ROOT = Path(__file__).resolve().parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")
EXAMPLE = re.compile(r"^\$ (.+)\n((?:(?!\$ |```).*\n)*)", re.MULTILINE)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with the samples where the README has them, to write into."""
    shutil.copytree(ROOT / "resources" / "samples", tmp_path / "resources" / "samples")
    return tmp_path


def _run(words: list[str], cwd: Path) -> str:
    done = subprocess.run(
        [sys.executable, *words],
        cwd=cwd,
        check=False,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        encoding="utf-8",
        env=os.environ | {"PYTHONPATH": str(ROOT), "PYTHONUTF8": "1"},
    )
    return done.stdout


def _console() -> list[tuple[str, str]]:
    blocks = re.findall(r"```console\n(.*?)```", README, re.DOTALL)
    return [example for block in blocks for example in EXAMPLE.findall(block)]


def test_there_are_examples() -> None:
    assert len(_console()) >= 3


@pytest.mark.parametrize(("command", "expected"), _console())
def test_a_command_prints_what_the_readme_shows(command: str, expected: str, folder: Path) -> None:
    program, *words = shlex.split(command)
    assert program == "stm-inspector"
    printed = _run(["-m", "stm_inspector", *words], folder)
    checker = doctest.OutputChecker()
    assert checker.check_output(expected, printed, doctest.ELLIPSIS), printed


def test_the_python_example_runs(folder: Path) -> None:
    (code,) = re.findall(r"```python\n(.*?)```", README, re.DOTALL)
    assert re.fullmatch(r"\d+ -> \d+ estimate\n", _run(["-c", code], folder))
    assert (folder / "trimmed.json").is_file()


def test_every_format_and_policy_has_its_row() -> None:
    for known in (*all_formats(), *all_policies()):
        assert f"\n| `{known.id}` |" in README


def test_every_file_that_it_links_or_names_is_there() -> None:
    linked = re.findall(r"\]\(([^)]+)\)", README)
    named = re.findall(r"`((?:resources|packaging|stm_inspector)/[\w./-]+)`", README)
    assert linked
    assert named
    missing = [name for name in {*linked, *named} if not (ROOT / name).exists()]
    assert missing == []


def test_every_dependency_has_its_reason() -> None:
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    declared = text[text.index("dependencies = [") : text.index("[project.scripts]")]
    for name in set(re.findall(r'^  "([\w-]+?)[>=]', declared, re.MULTILINE)):
        assert re.search(rf"^\| {name} \|", README, re.MULTILINE | re.IGNORECASE), name
