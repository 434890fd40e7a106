"""The command line: ``stm-inspector``.

Exit codes: 0 done, 1 the input is bad (or the trimming breaks the request), 2 wrong usage.
"""

from __future__ import annotations

import argparse
import csv
import dataclasses
import importlib
import json
import os
import shutil
import sys
import textwrap
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from stm_inspector.arguments import PROGRAM, WINDOW, parse, settings_from
from stm_inspector.buffer.plan import Plan, Problem, Severity
from stm_inspector.buffer.planner import Planner
from stm_inspector.buffer.policies import get_policy
from stm_inspector.buffer.recorder import replay
from stm_inspector.buffer.settings import SettingError, Settings
from stm_inspector.buffer.survival import survival
from stm_inspector.checkpoint import is_checkpoint, load_checkpoint
from stm_inspector.conversation.errors import InputError, UnknownFormatError
from stm_inspector.conversation.model import Conversation
from stm_inspector.conversation.visible import visible
from stm_inspector.engine import check_pins, export, export_text
from stm_inspector.formats import Recording, all_formats, open_file
from stm_inspector.formats.parts import counted
from stm_inspector.listing import Style, entry_lines, plan_lines, problem_lines, table
from stm_inspector.replay_listing import replay_lines
from stm_inspector.report import (
    REPLAY_COLUMNS,
    describe_policies,
    replay_report,
    replay_rows,
    report,
)
from stm_inspector.tokens.counters import make_counter
from stm_inspector.tokens.counting import count
from stm_inspector.tokens.counts import TokenCounts
from stm_inspector.tokens.models import load_models

DONE, BAD_INPUT, WRONG_USAGE, INTERRUPTED = 0, 1, 2, 130
_PIPED_WIDTH = 160
"""Characters of a line where no terminal sets the width."""


def main(argv: Sequence[str] | None = None) -> int:
    """Do what the command line says.

    Args:
        argv: the words behind the program's name; None takes those it was started with.

    Returns:
        The exit code.
    """
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):  # not where a test or an embedder replaced it
            stream.reconfigure(errors="backslashreplace")
    try:
        arguments = parse(sys.argv[1:] if argv is None else argv)
        code = _COMMANDS[arguments.command](arguments)
        sys.stdout.flush()
        return code
    except SettingError as error:
        return _say(WRONG_USAGE, f"{error}.")
    except UnknownFormatError as error:
        return _say(BAD_INPUT, f"{error} If you know what it is, --format says so.")
    except InputError as error:
        return _say(BAD_INPUT, str(error))
    except MemoryError:
        return _say(BAD_INPUT, "This does not fit into the computer's memory.")
    except BrokenPipeError:
        # Whoever reads has read enough; Python must not try to flush the rest at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return DONE
    except KeyboardInterrupt:
        return INTERRUPTED


def main_window() -> int:
    """Open the window: the entry point without a console."""
    return main()


def _say(code: int, sentence: str) -> int:
    print(f"{PROGRAM}: {visible(sentence, keep='')}", file=sys.stderr)
    return code


def _print_json(value: Any) -> None:
    """ASCII only: no terminal or pipe can misread it, and nothing in it acts on a terminal.

    Each element of a list stands on a line of its own: readable, and still written in C.
    """
    if isinstance(value, list):
        print(_rows(value))
        return
    members = ",\n".join(
        f"  {json.dumps(key)}: {_rows(item) if isinstance(item, list) else json.dumps(item)}"
        for key, item in value.items()
    )
    print(f"{{\n{members}\n}}")


def _rows(items: Sequence[Any]) -> str:
    return (
        "[\n" + ",\n".join(f"    {json.dumps(item)}" for item in items) + "\n  ]" if items else "[]"
    )


def _print_lines(lines: Iterable[str]) -> None:
    for line in lines:
        print(line)


def _style(stream: Any = None) -> Style:
    if not (stream or sys.stdout).isatty():
        return Style(_PIPED_WIDTH)
    colour = not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
    return Style(shutil.get_terminal_size().columns, colour)


def _read(arguments: argparse.Namespace) -> tuple[Recording, Conversation]:
    recording = open_file(arguments.file, format=arguments.format)
    number, total = arguments.conversation, len(recording.entries)
    if number is not None and number >= total:
        raise SettingError(
            f"there is no conversation {number} in {arguments.file}; they are 0 to {total - 1}"
        )
    return recording, recording.load(number)


def _plan(arguments: argparse.Namespace) -> tuple[Conversation, TokenCounts, Settings, Plan]:
    planner, conversation, settings = _planner(arguments)
    return conversation, planner.counts, settings, planner.plan(settings)


def _planner(arguments: argparse.Namespace) -> tuple[Planner, Conversation, Settings]:
    settings = _settings(arguments)
    _, conversation = _read(arguments)
    check_pins(conversation, settings)
    try:
        make_counter(arguments.counter, conversation, arguments.model)
    except InputError as error:  # of this argument, not of the file
        raise SettingError(str(error).removesuffix(".")) from error
    counts = count(conversation, arguments.counter, model=arguments.model)
    _note_unused(arguments)
    return Planner(conversation, counts), conversation, settings


def _settings(arguments: argparse.Namespace) -> Settings:
    """What the options ask for; a checkpoint says itself which file, settings and counter."""
    given = settings_from(arguments)
    if not is_checkpoint(arguments.file):
        return given
    call = given.call
    if dataclasses.replace(given, call=None) != Settings() or arguments.format is not None:
        raise SettingError(
            f"{arguments.file} is a checkpoint, which has its own settings: give no others than "
            "--at with it"
        )
    stored = load_checkpoint(arguments.file)
    arguments.file, arguments.format = stored.file, stored.format
    arguments.conversation = stored.number
    arguments.counter, arguments.model = stored.counter, stored.model
    arguments.policy = stored.settings.policy
    return stored.settings if call is None else dataclasses.replace(stored.settings, call=call)


def _note_unused(arguments: argparse.Namespace) -> None:
    """Say which of the given marks the policy does not look at."""
    policy = get_policy(arguments.policy)
    for name, used in (("watermark", policy.uses_watermark), ("target", policy.uses_target)):
        if getattr(arguments, name) is not None and not used:
            _say(DONE, f"note: the policy {policy.id} has no {name}: --{name} changes nothing.")


def _plan_command(arguments: argparse.Namespace) -> int:
    conversation, counts, settings, plan = _plan(arguments)
    if arguments.json:
        _print_json(report(conversation, plan, counts, settings))
    else:
        _print_lines(plan_lines(conversation, plan, counts, _style()))
    return DONE


def _replay_command(arguments: argparse.Namespace) -> int:
    planner, conversation, settings = _planner(arguments)
    replayed = replay(planner, settings)
    if arguments.csv:
        writer = csv.writer(sys.stdout, lineterminator="\n")
        writer.writerow(REPLAY_COLUMNS)
        writer.writerows(replay_rows(replayed))
        return DONE
    plan = planner.plan(settings)
    if arguments.json:
        survives = survival(planner, settings).tolist()
        _print_json(replay_report(conversation, plan, replayed, survives, planner.counts, settings))
    else:
        _print_lines(replay_lines(conversation, plan, replayed, planner.counts, _style()))
    return DONE


def _export_command(arguments: argparse.Namespace) -> int:
    conversation, _, _, plan = _plan(arguments)
    errors = [problem for problem in plan.problems if problem.severity is Severity.ERROR]
    for line in problem_lines(errors, _style(sys.stderr)):
        print(line, file=sys.stderr)
    if errors and not arguments.force:
        return _say(
            BAD_INPUT,
            f"Nothing was written: the API rejects what is left ({_causes(errors)}, above); "
            "--force writes it all the same.",
        )
    skipped = len(conversation.origin.skipped)
    if skipped:
        _say(
            DONE,
            f"note: {counted(skipped, 'piece')} of {arguments.file} could "
            "not be read and so cannot be exported; 'plan' lists them.",
        )
    if arguments.output == "-":
        composed = export_text(conversation, plan, arguments.api)
        losses = composed.losses
        print(composed.text, end="")
    else:
        losses = export(conversation, plan, arguments.output, arguments.api)
    for loss in losses:
        _say(DONE, f"note: {loss}")
    if arguments.output == "-":
        return DONE
    totals = plan.totals
    return _say(
        DONE,
        f"{arguments.output}: {totals.after.messages:,} of "
        f"{counted(totals.before.messages, 'message')}, {totals.after.tokens:,} tokens "
        f"({totals.exactness.word}).",
    )


def _list_command(arguments: argparse.Namespace) -> int:
    recording = open_file(arguments.file, format=arguments.format)
    if arguments.json:
        _print_json([asdict(entry) for entry in recording.entries])
    else:
        _print_lines(entry_lines(recording.entries, recording.default, _style()))
    return DONE


def _causes(errors: Sequence[Problem]) -> str:
    """How many errors there are, and where they come from."""
    recorded = sum(problem.places for problem in errors if problem.recorded)
    caused = sum(problem.places for problem in errors) - recorded
    origins = ((caused, "caused by the trimming"), (recorded, "in the recording already"))
    return " and ".join(
        f"{counted(number, 'error')} {origin}" for number, origin in origins if number
    )


def _shot_command(arguments: argparse.Namespace) -> int:
    selection = load_checkpoint(arguments.file).selection if is_checkpoint(arguments.file) else None
    settings = _settings(arguments)
    _import_qt()
    from stm_inspector.app.shot import shoot

    shoot(
        arguments.file,
        arguments.output,
        settings=settings,
        model=arguments.model,
        counter=arguments.counter,
        format=arguments.format,
        number=arguments.conversation,
        theme=arguments.theme,
        size=arguments.size,
        select=selection,
    )
    return _say(DONE, f"{arguments.output} is drawn.")


def _window_command(arguments: argparse.Namespace) -> int:
    _import_qt()
    if not _has_display():
        raise InputError(
            "There is no display to open the window on (neither DISPLAY nor WAYLAND_DISPLAY is "
            f"set): '{PROGRAM} plan FILE' prints the plan, and '{PROGRAM} shot FILE -o OUT.png' "
            "draws the window."
        )
    from stm_inspector.app.main import run

    return run(arguments.file, format=arguments.format, number=arguments.conversation)


def _import_qt() -> None:
    """Refuse in one sentence where Qt or a system library that it needs is missing."""
    try:
        importlib.import_module("PySide6.QtWidgets")
    except ImportError as error:
        missing = isinstance(error, ModuleNotFoundError)
        reason = (
            "it is not installed ('pip install PySide6-Essentials' does that)"
            if missing
            else f"it cannot be loaded ({error})"
        )
        raise InputError(
            f"The window needs PySide6, and {reason}; '{PROGRAM} plan FILE' does without."
        ) from error


def _has_display() -> bool:
    """Only X11 and Wayland can be missing; a platform the user chose is the user's business."""
    if not sys.platform.startswith(("linux", "freebsd")) or os.environ.get("QT_QPA_PLATFORM"):
        return True
    return bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))


def _formats_command(arguments: argparse.Namespace) -> int:
    keys = ("id", "title", "recognised_by", "lacks", "help")
    described = [{key: getattr(known, key) for key in keys} for known in all_formats()]
    if arguments.json:
        _print_json(described)
        return DONE
    style = _style()
    for number, entry in enumerate(described):
        if number:
            print()
        print(style.paint("1", f"{entry['id']}  {entry['title']}"))
        _print_paragraph("Recognised by", entry["recognised_by"], style)
        _print_paragraph("Not in such a file", entry["lacks"], style)
        _print_paragraph("Read and written", entry["help"], style)
    return DONE


def _policies_command(arguments: argparse.Namespace) -> int:
    described = describe_policies()
    if arguments.json:
        _print_json(described)
        return DONE
    style = _style()
    for number, entry in enumerate(described):
        if number:
            print()
        whose = entry["emulates"] or entry["basis"]
        print(style.paint("1", f"{entry['id']}  {entry['title']} ({whose})"))
        _print_paragraph("", entry["help"], style)
        for setting in entry["settings"]:
            value = setting["default"]
            shown = ",".join(value) if isinstance(value, list) else json.dumps(value).strip('"')
            unit = f" {setting['unit']}" if setting["unit"] else ""
            _print_paragraph(f"{setting['key']}={shown}{unit}", setting["help"], style)
    return DONE


def _print_paragraph(title: str, text: str, style: Style) -> None:
    if text:
        words = f"{title}: {text}" if title else text
        _print_lines(
            textwrap.wrap(
                words,
                min(style.width, 100),
                initial_indent="  ",
                subsequent_indent="    " if title else "  ",
            )
        )


def _models_command(arguments: argparse.Namespace) -> int:
    models = load_models()
    if arguments.json:
        _print_json([dataclasses.asdict(model) for model in models])
        return DONE
    rows = [
        (
            model.name,
            model.provider,
            f"{model.window:>11,}",
            f"{model.max_output:>10,}",
            model.encoding or "not published",
        )
        for model in models
    ]
    header = ("model", "provider", "     window", "    output", "encoding")
    _print_lines(table(header, rows, _style()))
    return DONE


_COMMANDS: Mapping[str, Callable[[argparse.Namespace], int]] = {
    "plan": _plan_command,
    "replay": _replay_command,
    "export": _export_command,
    "list": _list_command,
    "shot": _shot_command,
    "formats": _formats_command,
    "policies": _policies_command,
    "models": _models_command,
    WINDOW: _window_command,
}
