#!/usr/bin/env python3
"""Set up, run and test STM Inspector from a clean checkout, with nothing but Python and git.

    python3 packaging/dev.py run [FILE]   open the window on FILE, or on a bundled sample
    python3 packaging/dev.py test         format, lint, types, import rules and all tests, headless
    python3 packaging/dev.py shots        draw the README's pictures anew

Each command first makes `.venv` beside `pyproject.toml` and installs the project and its
development tools into it, and the system libraries that Qt needs. What is there already is left
alone. Standard library only. Exit codes: 0 done, 1 something failed (one sentence says what),
2 wrong usage; `run` passes on what the program returned.
"""

import argparse
import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

# First of ours: it refuses a Python that is too old.
from set_up import ROOT, WINDOWS, Failure, call, clean_environment, program, say, set_up, shown

SAMPLE = ROOT / "resources" / "samples" / "coding-agent.json"
SAMPLE_BUDGET = "6000"
PICTURE = ROOT / "build" / "window.png"


def no_display() -> str | None:
    """Why no window can be opened here, or None if one can."""
    platform = os.environ.get("QT_QPA_PLATFORM", "")
    if platform.split(":")[0] in {"offscreen", "minimal"}:
        return f"QT_QPA_PLATFORM={platform} draws to no screen"
    if WINDOWS or sys.platform == "darwin":
        return None
    if not (os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")):
        return "there is no display (neither DISPLAY nor WAYLAND_DISPLAY is set)"
    opened = subprocess.run(
        [program("python"), "-c", "from PySide6.QtGui import QGuiApplication as A; A([])"],
        env=clean_environment(),
        check=False,
        stderr=subprocess.DEVNULL,
    )
    return None if opened.returncode == 0 else "the display cannot be opened"


def run(file: str | None) -> int:
    """Open the window on `file` or a bundled sample; without a display, print and draw it."""
    target = [str(Path(file).absolute())] if file else [str(SAMPLE)]
    set_up()
    inspector = program("stm-inspector")
    reason = no_display()
    if reason is None:
        return call([inspector, *target])
    say(f"No window, because {reason}. The plan, and a picture of the window, instead:\n")
    options = [] if file else ["--budget", SAMPLE_BUDGET]
    code = call([inspector, "plan", *target, *options])
    if code != 0:
        return code
    PICTURE.parent.mkdir(exist_ok=True)
    code = call([inspector, "shot", *target, *options, "-o", str(PICTURE)])
    if code == 0:
        say(f"\nThe window as a picture: {PICTURE}")
    return code


def test() -> int:
    """Check everything that must hold on main; stop at the first step that fails."""
    set_up()
    python = program("python")
    steps: tuple[tuple[str, list[str]], ...] = (
        ("format", [python, "-m", "ruff", "format", "--check", "--quiet", "."]),
        ("lint", [python, "-m", "ruff", "check", "--quiet", "."]),
        ("types", [python, "-m", "mypy"]),
        ("types of the packaging scripts", [python, "-m", "mypy", "packaging"]),
        ("import rules", [program("lint-imports"), "--no-cache"]),
        ("tests", [python, "-m", "pytest", "--quiet"]),
    )
    env = clean_environment(QT_QPA_PLATFORM="offscreen")
    os.chdir(ROOT)
    for name, command in steps:
        say(f"-- {name}: {shown([Path(command[0]).stem, *command[1:]])}")
        code = call(command, env)
        if code != 0:
            raise Failure(f"The step '{name}' failed with exit code {code}.")
    return 0


def shots() -> int:
    """Draw the README's pictures anew, without a display."""
    set_up()
    script = str(Path(__file__).with_name("shots.py"))
    return call([program("python"), script], clean_environment(QT_QPA_PLATFORM="offscreen"))


def main(arguments: Sequence[str] | None = None) -> int:
    """Read the command line and do what it says; return the exit code."""
    parser = argparse.ArgumentParser(description="Set up, run and test STM Inspector.")
    commands = parser.add_subparsers(dest="command", required=True, metavar="run|test|shots")
    runs = commands.add_parser("run", help="open the window on FILE or on a bundled sample")
    runs.add_argument("file", nargs="?", metavar="FILE", help="a recorded conversation")
    commands.add_parser("test", help="format, lint, types, import rules and all tests, headless")
    commands.add_parser("shots", help="draw the README's pictures anew")
    options = parser.parse_args(arguments)
    actions: dict[str, Callable[[], int]] = {
        "run": lambda: run(options.file),
        "test": test,
        "shots": shots,
    }
    try:
        return actions[options.command]()
    except Failure as failure:
        print(f"dev.py: {failure}", file=sys.stderr)
    except OSError as error:
        print(f"dev.py: {error.filename or 'a file'}: {error.strerror}.", file=sys.stderr)
    except KeyboardInterrupt:
        print("dev.py: stopped.", file=sys.stderr)
        return 130
    return 1


if __name__ == "__main__":
    sys.exit(main())
