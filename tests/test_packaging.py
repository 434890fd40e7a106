"""The wheel as a user gets it, and the script that sets everything up."""

from __future__ import annotations

import configparser
import json
import os
import re
import subprocess
import sys
import tomllib
import venv
import xml.etree.ElementTree as ElementTree
import zipfile
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parent.parent
PACKAGING = ROOT / "packaging"
OFFLINE = re.compile(r"NewConnectionError|name resolution|Failed to establish|Network is unreach")


def _pip(python: Path | str, *words: str) -> None:
    """Run pip; a network that is not there skips the test, but never in CI."""
    done = subprocess.run(
        [str(python), "-m", "pip", "--disable-pip-version-check", *words],
        cwd=ROOT,
        check=False,
        capture_output=True,
        text=True,
    )
    if done.returncode and OFFLINE.search(done.stderr) and not os.environ.get("CI"):
        pytest.skip("no network: pip cannot fetch what a clean environment needs")
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    _pip(sys.executable, "wheel", "--quiet", "--no-deps", "--wheel-dir", str(folder), str(ROOT))
    (built,) = folder.glob("*.whl")
    return built


@pytest.fixture(scope="module")
def programs(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of programs of a new environment in which only the wheel was installed."""
    folder = tmp_path_factory.mktemp("clean")
    venv.create(folder, with_pip=True, symlinks=os.name != "nt")
    found = folder / ("Scripts" if os.name == "nt" else "bin")
    _pip(found / "python", "install", "--quiet", str(wheel))
    return found


def _run(program: Path, *words: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    env = {k: v for k, v in os.environ.items() if k not in {"PYTHONPATH", "VIRTUAL_ENV"}}
    return subprocess.run(
        [str(program), *words],
        cwd=cwd,
        check=False,
        capture_output=True,
        text=True,
        encoding="utf-8",
        env=env | {"PYTHONUTF8": "1"},
    )


def test_the_wheel_holds_what_the_program_needs(wheel: Path) -> None:
    names = set(zipfile.ZipFile(wheel).namelist())
    wanted = {
        f"stm_inspector/{path.relative_to(ROOT).as_posix()}"
        for path in (ROOT / "resources").rglob("*")
        if path.is_file()
    }
    assert wanted <= names
    assert any(name.endswith(".tiktoken") for name in names)
    assert "stm_inspector/py.typed" in names
    assert any(name.endswith("dist-info/licenses/LICENSE") for name in names)
    assert not [name for name in names if name.startswith(("tests/", "packaging/"))]


def test_the_wheel_declares_its_entry_points_and_licence(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        texts = {
            name.rpartition("/")[2]: archive.read(name).decode()
            for name in archive.namelist()
            if name.endswith(("METADATA", "entry_points.txt"))
        }
    points = configparser.ConfigParser()
    points.read_string(texts["entry_points.txt"])
    assert points["console_scripts"]["stm-inspector"] == "stm_inspector.cli:main"
    assert points["gui_scripts"]["stm-inspector-window"] == "stm_inspector.cli:main_window"
    assert "License-Expression: MIT" in texts["METADATA"]
    assert "Requires-Python: >=3.11" in texts["METADATA"]


def test_an_installed_program_plans_a_bundled_sample(programs: Path, tmp_path: Path) -> None:
    find = "from stm_inspector.paths import resource; print(resource('samples'))"
    samples = Path(_run(programs / "python", "-c", find, cwd=tmp_path).stdout.strip())
    assert ROOT not in samples.parents
    done = _run(
        programs / "stm-inspector",
        "plan",
        str(samples / "coding-agent.json"),
        "--budget",
        "6000",
        "--json",
        cwd=tmp_path,
    )
    assert done.returncode == 0, done.stderr
    plan = json.loads(done.stdout)
    assert plan["counter"]["id"] == "tiktoken:o200k_base"
    assert plan["totals"]["evicted"] > 0
    assert plan["totals"]["after"]["tokens"] <= 6000


def test_an_installed_program_draws_its_window(programs: Path, tmp_path: Path) -> None:
    find = "from stm_inspector.paths import resource; print(resource('samples'))"
    samples = Path(_run(programs / "python", "-c", find, cwd=tmp_path).stdout.strip())
    sample = str(samples / "tool-agent.json")
    done = _run(programs / "stm-inspector", "shot", sample, "-o", "window.png", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "window.png").read_bytes().startswith(b"\x89PNG")


def test_the_python_3_11_environment_never_gets_the_bad_pyside() -> None:
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    lines = [d for d in declared["project"]["dependencies"] if d.startswith("PySide6")]
    old = next(line for line in lines if "python_version<'3.12'" in line)
    assert "<6.12" in old


def test_the_desktop_entry_starts_a_program_that_is_installed() -> None:
    entry = configparser.ConfigParser(interpolation=None)
    entry.optionxform = str  # type: ignore[assignment, method-assign]
    entry.read(PACKAGING / "linux" / "stm-inspector.desktop", encoding="utf-8")
    fields = entry["Desktop Entry"]
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert fields["Exec"].split()[0] in declared["gui-scripts"]
    assert (ROOT / "resources" / "icons" / f"{fields['Icon']}.svg").is_file()
    info = ElementTree.parse(PACKAGING / "linux" / "stm-inspector.metainfo.xml")
    assert info.findtext("launchable") == "stm-inspector.desktop"
    assert info.findtext("project_license") == declared["license"]


@pytest.fixture
def set_up(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> ModuleType:
    """packaging/set_up.py, working on a project in a folder of its own."""
    spec = spec_from_file_location("set_up", PACKAGING / "set_up.py")
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    (tmp_path / "pyproject.toml").write_text("[project]\n", encoding="utf-8")
    monkeypatch.setattr(module, "ROOT", tmp_path)
    monkeypatch.setattr(module, "VENV", tmp_path / ".venv")
    monkeypatch.setattr(module, "STAMP", tmp_path / ".venv" / "set-up.sha256")
    return module


@pytest.mark.parametrize(
    ("output", "cause"),
    [
        ("E: Temporary failure in name resolution", "network"),
        ("ERROR: [Errno 28] No space left on device", "disk is full"),
        ("E: Could not get lock /var/lib/dpkg/lock", "another program is installing"),
        ("ERROR: No matching distribution found for numpy", "no release for this Python"),
        ("something never seen", "exit code 3"),
    ],
)
def test_a_failed_installation_is_explained_in_one_sentence(
    set_up: ModuleType, output: str, cause: str, capfd: pytest.CaptureFixture[str]
) -> None:
    code = f"import sys; print({output!r}, file=sys.stderr); sys.exit(3)"
    with pytest.raises(set_up.Failure, match=cause) as failure:
        set_up.install_step("Installing it", [sys.executable, "-c", code])
    assert "\n" not in str(failure.value)
    assert output in capfd.readouterr().err


def test_a_program_that_is_not_there_is_named(set_up: ModuleType) -> None:
    with pytest.raises(set_up.Failure, match="no-such-program"):
        set_up.install_step("Installing it", ["no-such-program-of-ours"])


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="only Linux lacks Qt's libraries")
class TestSystemLibraries:
    MISSING = ("libno-such-library.so.9", ("libno-such-library9t64", "libno-such-library9"))

    @pytest.fixture(autouse=True)
    def _one_missing(self, set_up: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
        missing = set_up.Library(*self.MISSING)
        monkeypatch.setattr(set_up, "QT_LIBRARIES", (missing,))

    def test_who_is_not_root_reads_the_one_command(
        self, set_up: ModuleType, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(set_up.os, "geteuid", lambda: 1000)
        monkeypatch.setattr(set_up.shutil, "which", lambda name: f"/usr/bin/{name}")
        monkeypatch.setattr(set_up, "apt_names", lambda choices: [names[-1] for names in choices])
        command = r"`sudo apt-get install .* libno-such-library9`"
        with pytest.raises(set_up.Failure, match=command):
            set_up.ensure_qt_libraries()

    def test_root_installs_only_what_is_missing(
        self, set_up: ModuleType, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        commands: list[list[str]] = []
        monkeypatch.setattr(set_up.os, "geteuid", lambda: 0)
        monkeypatch.setattr(set_up.shutil, "which", lambda name: f"/usr/bin/{name}")
        monkeypatch.setattr(set_up, "apt_names", lambda choices: [names[-1] for names in choices])
        monkeypatch.setattr(
            set_up, "install_step", lambda _what, command, _env: commands.append(command)
        )
        with pytest.raises(set_up.Failure, match="linker does not find"):
            set_up.ensure_qt_libraries()  # nothing was really installed, and it notices
        update, install = commands
        assert update[:2] == ["apt-get", "update"]
        assert install[-1] == "libno-such-library9"
        assert "libgl1" not in install

    def test_without_apt_the_libraries_are_named(
        self, set_up: ModuleType, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(set_up.shutil, "which", lambda _name: None)
        with pytest.raises(set_up.Failure, match=r"libno-such-library\.so\.9"):
            set_up.ensure_qt_libraries()


def test_a_set_up_that_is_complete_is_left_alone(
    set_up: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    set_up.VENV.mkdir()
    set_up.STAMP.write_text(set_up.wanted_stamp(), encoding="ascii")
    monkeypatch.setattr(set_up, "program", lambda _name: sys.executable)
    monkeypatch.setattr(set_up, "install_step", lambda *_: pytest.fail("it installed something"))
    set_up.ensure_environment()


def test_a_changed_project_is_installed_again(
    set_up: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    set_up.VENV.mkdir()
    set_up.STAMP.write_text(set_up.wanted_stamp(), encoding="ascii")
    (set_up.ROOT / "pyproject.toml").write_text("[project]\nname='x'\n", encoding="utf-8")
    steps: list[str] = []
    monkeypatch.setattr(set_up, "program", lambda _name: sys.executable)
    monkeypatch.setattr(set_up, "pip_version", lambda: (26, 0))
    monkeypatch.setattr(set_up, "install_step", lambda what, _command: steps.append(what))
    set_up.ensure_environment()
    assert steps == ["Installing STM Inspector"]
    assert set_up.usable()


def test_an_interrupted_installation_is_not_taken_for_complete(
    set_up: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(_what: str, _command: list[str]) -> None:
        raise set_up.Failure("the network went away")

    set_up.VENV.mkdir()
    set_up.STAMP.write_text("of an older pyproject.toml", encoding="ascii")
    monkeypatch.setattr(set_up, "program", lambda _name: sys.executable)
    monkeypatch.setattr(set_up, "pip_version", lambda: (26, 0))
    monkeypatch.setattr(set_up, "install_step", interrupted)
    with pytest.raises(set_up.Failure):
        set_up.ensure_environment()
    assert not set_up.usable()


@pytest.mark.parametrize("script", ["dev.py", "set_up.py"])
def test_an_old_python_is_refused_in_one_sentence(script: str) -> None:
    # An older Python is played by the version it reports; that the refusal comes before anything
    # that such a Python cannot run is seen from where it stands.
    source = (PACKAGING / "set_up.py").read_text(encoding="utf-8")
    assert source.index("sys.version_info < MINIMUM") < source.index("\nclass ")
    played = (
        "import sys, runpy; sys.version_info = (3, 9, 2, 'final', 0); "
        f"sys.path.insert(0, {str(PACKAGING)!r}); "
        f"sys.argv = ['dev.py', 'test']; runpy.run_path({str(PACKAGING / script)!r})"
    )
    done = subprocess.run(
        [sys.executable, "-c", played], check=False, capture_output=True, text=True
    )
    assert done.returncode == 1
    assert "needs Python 3.11 or newer, and this is 3.9" in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1


def test_wrong_usage_is_told_apart_from_a_failure() -> None:
    done = subprocess.run(
        [sys.executable, str(PACKAGING / "dev.py"), "fly"],
        check=False,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 2
    assert "usage:" in done.stderr


def test_ci_calls_exactly_the_readme_command() -> None:
    script = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    assert "exec python3 packaging/dev.py test" in script
    assert "python3 packaging/dev.py test" in (ROOT / "README.md").read_text(encoding="utf-8")
