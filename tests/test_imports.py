"""The import rules: only app/ knows Qt, and the program works where Qt is not installed."""

from __future__ import annotations

import ast
import pkgutil
import subprocess
import sys
from pathlib import Path

import pytest

import stm_inspector

PACKAGE = Path(stm_inspector.__file__).parent
ROOT = PACKAGE.parent
SAMPLE = ROOT / "resources" / "samples" / "short-chat.json"

WITHOUT_QT = """
import importlib.abc, sys

class NoQt(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {"PySide6", "shiboken6"}:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, NoQt())
"""


def _modules() -> list[str]:
    found = pkgutil.walk_packages([str(PACKAGE)], prefix="stm_inspector.")
    return sorted(module.name for module in found)


def _without_qt(code: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", WITHOUT_QT + code],
        cwd=ROOT,
        check=False,
        capture_output=True,
        text=True,
        encoding="utf-8",
    )


def _is_app(name: str) -> bool:
    return f"{name}.".startswith("stm_inspector.app.")


def test_everything_but_the_window_imports_without_qt() -> None:
    names = [name for name in _modules() if not _is_app(name) and not name.endswith("__main__")]
    assert len(names) > 30
    done = _without_qt(f"import importlib\nfor name in {names!r}: importlib.import_module(name)")
    assert done.returncode == 0, done.stderr


def test_the_window_is_what_needs_qt() -> None:
    done = _without_qt("import stm_inspector.app.main_window")
    assert "No module named 'PySide6" in done.stderr


def test_a_plan_is_printed_without_qt() -> None:
    call = f"from stm_inspector.cli import main\nsys.exit(main(['plan', {str(SAMPLE)!r}]))"
    done = _without_qt(call)
    assert done.returncode == 0, done.stderr
    assert "messages" in done.stdout


def test_the_window_is_refused_in_one_sentence_without_qt() -> None:
    call = f"from stm_inspector.cli import main\nsys.exit(main([{str(SAMPLE)!r}]))"
    done = _without_qt(call)
    assert done.returncode == 1
    assert "PySide6" in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1


def _imports(path: Path) -> set[str]:
    """Absolute names of what a module imports, anywhere in it."""
    names = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: imports are absolute"
            names.add(node.module or "")
            names |= {f"{node.module}.{alias.name}" for alias in node.names}
    return names


@pytest.mark.parametrize(
    ("package", "strangers"),
    [
        ("buffer", ("formats", "app", "engine", "cli")),
        ("formats", ("buffer", "app", "engine", "cli")),
        ("tokens", ("formats", "buffer", "summaries", "app", "engine", "cli")),
        ("summaries", ("formats", "buffer", "app", "engine", "cli")),
        ("conversation", ("formats", "buffer", "tokens", "summaries", "app", "engine", "cli")),
    ],
)
def test_data_flows_one_way(package: str, strangers: tuple[str, ...]) -> None:
    files = sorted((PACKAGE / package).rglob("*.py"))
    assert files
    for path in files:
        for name in _imports(path):
            for stranger in strangers:
                assert f"{name}.".startswith(f"stm_inspector.{stranger}.") is False, (
                    f"{path.relative_to(ROOT)} imports {name}"
                )


def test_what_is_imported_is_a_declared_dependency() -> None:
    declared = {"backports", "msgspec", "numpy", "platformdirs", "pygments", "PySide6", "tiktoken"}
    used = {
        name.partition(".")[0]
        for path in PACKAGE.rglob("*.py")
        for name in _imports(path)
        if name.partition(".")[0] not in sys.stdlib_module_names
    }
    # shiboken6 comes with PySide6-Essentials, which pins its version; compression with Python 3.14.
    assert used - {"stm_inspector", "shiboken6", "compression"} == declared
