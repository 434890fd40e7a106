"""What must be there before the program runs: Qt's system libraries and a virtual environment.

For `dev.py`. Standard library only; all that is there already is left alone.
"""

import ctypes
import hashlib
import importlib.util
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

MINIMUM = (3, 11)
# Before anything that an older Python could not read: whoever has one must learn it here.
if sys.version_info < MINIMUM:
    sys.exit(
        "dev.py: STM Inspector needs Python 3.11 or newer, and this is {}.{} ({}); "
        "start the same command with a newer one.".format(*sys.version_info[:2], sys.executable)
    )

ROOT = Path(__file__).resolve().parent.parent
VENV = ROOT / ".venv"
STAMP = VENV / "set-up.sha256"
WINDOWS = os.name == "nt"
PIP_WITH_GROUPS = (25, 1)


class Failure(Exception):
    """A step failed; the text is the one sentence that the user reads."""


class Library(NamedTuple):
    """A shared library that Qt loads; the Debian packages that may hold it, newest name first."""

    soname: str
    packages: tuple[str, ...]


# What PySide6-Essentials needs beyond a minimal Debian: found by removing packages one by one
# until a window no longer opened, offscreen and under X. Debian 13 renamed libglib2.0-0.
QT_LIBRARIES = (
    Library("libGL.so.1", ("libgl1",)),
    Library("libEGL.so.1", ("libegl1",)),
    Library("libglib-2.0.so.0", ("libglib2.0-0t64", "libglib2.0-0")),
    Library("libfontconfig.so.1", ("libfontconfig1",)),
    Library("libdbus-1.so.3", ("libdbus-1-3",)),
    Library("libxkbcommon.so.0", ("libxkbcommon0",)),
    Library("libxkbcommon-x11.so.0", ("libxkbcommon-x11-0",)),
    Library("libxcb-cursor.so.0", ("libxcb-cursor0",)),
    Library("libxcb-icccm.so.4", ("libxcb-icccm4",)),
    Library("libxcb-keysyms.so.1", ("libxcb-keysyms1",)),
    Library("libxcb-shape.so.0", ("libxcb-shape0",)),
)

# What pip's and apt's own messages mean, in words that say what to do.
CAUSES = (
    (
        r"name resolution|resolve host|could not resolve|NewConnectionError|Failed to establish"
        r"|Connection refused|ConnectTimeout|timed out|ProxyError|Network is unreachable"
        r"|Failed to fetch",
        "the package server could not be reached: check the network or the proxy and run it again",
    ),
    (r"No space left on device", "the disk is full"),
    (r"Permission denied", "it may not write there: check who owns the checkout"),
    (r"Could not get lock", "another program is installing packages: wait for it to finish"),
    (r"Unable to locate package", "this system's package lists do not have one of the packages"),
    (
        r"No matching distribution|Could not find a version",
        "a needed package has no release for this Python and system",
    ),
)


def say(text: str) -> None:
    """Print one line of progress at once."""
    print(text, flush=True)


def shown(command: Sequence[str]) -> str:
    """`command` as a person would type it."""
    return subprocess.list2cmdline(command) if WINDOWS else shlex.join(command)


def clean_environment(**extra: str) -> dict[str, str]:
    """The caller's environment without what would make `.venv` see another Python's packages."""
    foreign = ("PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV", "__PYVENV_LAUNCHER__")
    return {k: v for k, v in os.environ.items() if k not in foreign} | extra


def call(command: Sequence[str], env: Mapping[str, str] | None = None) -> int:
    """Run `command` in the caller's folder with its output shown; return its exit code."""
    try:
        return subprocess.run(command, env=env or clean_environment(), check=False).returncode
    except OSError as error:
        raise Failure(f"{command[0]} could not be started: {error.strerror}.") from error


def install_step(what: str, command: Sequence[str], env: Mapping[str, str] | None = None) -> None:
    """Run an installing command in the project; its errors are shown only if it fails.

    Raises Failure with the likely cause in one sentence.
    """
    try:
        done = subprocess.run(
            command,
            cwd=ROOT,
            env=env or clean_environment(),
            check=False,
            text=True,
            errors="replace",
            stdin=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            stdout=None if sys.stdout.isatty() else subprocess.PIPE,
        )
    except OSError as error:
        raise Failure(f"{what} failed: {command[0]}: {error.strerror}.") from error
    if done.returncode == 0:
        return
    output = (done.stdout or "") + done.stderr
    print("\n".join(output.splitlines()[-15:]), file=sys.stderr)
    for pattern, cause in CAUSES:
        if re.search(pattern, output, re.IGNORECASE):
            raise Failure(f"{what} failed: {cause}.")
    raise Failure(f"{what} failed with exit code {done.returncode}: {shown(command)}")


def loads(soname: str) -> bool:
    """Whether the dynamic linker finds `soname`."""
    try:
        ctypes.CDLL(soname)
    except OSError:
        return False
    return True


def apt_names(choices: Sequence[tuple[str, ...]]) -> list[str]:
    """For each tuple of names the first that apt knows here, else its last."""
    names = []
    for alternatives in choices:
        known = (
            name
            for name in alternatives[:-1]
            if "Package:"
            in subprocess.run(
                ["apt-cache", "show", "--no-all-versions", name],
                check=False,
                text=True,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
            ).stdout
        )
        names.append(next(known, alternatives[-1]))
    return names


def apt_install(purpose: str, choices: Sequence[tuple[str, ...]]) -> None:
    """Install Debian packages, or say the one command that does it if we are not root.

    Raises Failure if they could not be installed.
    """
    install = ["apt-get", "install", "-y", "--no-install-recommends"]
    if os.geteuid() != 0:
        command = shown(["sudo", *install, *apt_names(choices)])
        raise Failure(f"{purpose} must be installed first: run `{command}`, then this again.")
    env = clean_environment(DEBIAN_FRONTEND="noninteractive")
    install_step("apt-get update", ["apt-get", "update", "-q"], env)
    names = apt_names(choices)
    say(f"Installing {purpose} with apt-get: {' '.join(names)}")
    install_step(f"Installing {purpose}", [*install, "-q", *names], env)


def ensure_qt_libraries() -> None:
    """See to it that Qt finds its system libraries; only Linux lacks any."""
    if not sys.platform.startswith("linux"):
        return
    missing = [library for library in QT_LIBRARIES if not loads(library.soname)]
    if not missing:
        return
    sonames = ", ".join(library.soname for library in missing)
    if shutil.which("apt-get") is None:
        raise Failure(
            f"Qt needs {sonames}: install them with this system's package manager, then run this "
            "again."
        )
    apt_install("the system libraries of Qt", [library.packages for library in missing])
    still = ", ".join(library.soname for library in missing if not loads(library.soname))
    if still:
        raise Failure(f"Qt needs {still}, which apt-get installed but the linker does not find.")


def ensure_venv_module() -> None:
    """See to it that this Python can make virtual environments (Debian splits that off)."""
    if importlib.util.find_spec("venv") and importlib.util.find_spec("ensurepip"):
        return
    if shutil.which("apt-get") is None:
        raise Failure(
            f"{sys.executable} lacks the modules venv and ensurepip: install them, or use a Python "
            "that has them."
        )
    version = "{}.{}".format(*sys.version_info[:2])
    apt_install("Python's venv module", [(f"python{version}-venv", "python3-venv")])


def program(name: str) -> str:
    """The path of a program inside the virtual environment."""
    return str(VENV / "Scripts" / f"{name}.exe" if WINDOWS else VENV / "bin" / name)


def wanted_stamp() -> str:
    """What the environment was built from: the project's metadata and where the checkout lies."""
    content = (ROOT / "pyproject.toml").read_bytes() + os.fsencode(ROOT)
    return hashlib.sha256(content).hexdigest()


def usable() -> bool:
    """Whether `.venv` is complete and its Python still starts and is new enough."""
    if not STAMP.is_file() or STAMP.read_text(encoding="ascii").strip() != wanted_stamp():
        return False
    return starts("importlib.util.find_spec('PySide6') is not None")


def starts(condition: str) -> bool:
    """Whether the environment's Python starts, is new enough and fulfils `condition`."""
    check = (
        f"import importlib.util, sys; sys.exit(not (sys.version_info >= {MINIMUM} and {condition}))"
    )
    try:
        done = subprocess.run(
            [program("python"), "-c", check],
            env=clean_environment(),
            check=False,
            stderr=subprocess.DEVNULL,
        )
    except OSError:
        return False
    return done.returncode == 0


def ensure_environment() -> None:
    """Make `.venv` and install the project and its development tools, unless nothing changed."""
    if usable():
        return
    if not starts("importlib.util.find_spec('pip') is not None"):
        ensure_venv_module()
        say(f"Making the virtual environment {VENV}")
        install_step(
            "Making the virtual environment", [sys.executable, "-m", "venv", "--clear", str(VENV)]
        )
    STAMP.unlink(missing_ok=True)
    pip = [program("python"), "-m", "pip", "--disable-pip-version-check", "install"]
    if not sys.stdout.isatty():
        pip.append("-qq")
    if pip_version() < PIP_WITH_GROUPS:
        wanted = "pip>={}.{}".format(*PIP_WITH_GROUPS)
        install_step("Renewing pip", [*pip, "--upgrade", wanted])
    say("Installing STM Inspector and its development tools (minutes the first time)")
    install_step("Installing STM Inspector", [*pip, "--editable", ".", "--group", "dev"])
    STAMP.write_text(wanted_stamp() + "\n", encoding="ascii")


def pip_version() -> tuple[int, ...]:
    """Major and minor version of the environment's pip; Failure if it has none."""
    done = subprocess.run(
        [program("python"), "-m", "pip", "--version"],
        env=clean_environment(),
        check=False,
        text=True,
        stdout=subprocess.PIPE,
    )
    found = re.match(r"pip (\d+)\.(\d+)", done.stdout)
    if not found:
        raise Failure(f"The virtual environment has no working pip: delete {VENV} and run again.")
    return tuple(map(int, found.groups()))


def set_up() -> None:
    """Everything that must be there before the program runs."""
    ensure_qt_libraries()
    ensure_environment()
