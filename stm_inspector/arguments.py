"""What may be written behind ``stm-inspector``, and what it means."""

from __future__ import annotations

import argparse
import math
import os
from collections.abc import Sequence
from importlib.metadata import PackageNotFoundError, version
from typing import NoReturn

from stm_inspector.buffer.budget import (
    DEFAULT_REPLY,
    DEFAULT_SAFETY,
    DEFAULT_TOOL_HEADROOM,
    DEFAULT_WINDOW,
)
from stm_inspector.buffer.policies import all_policies
from stm_inspector.buffer.settings import SettingError, Settings
from stm_inspector.engine import make_settings
from stm_inspector.formats import all_formats
from stm_inspector.formats.compose import targets
from stm_inspector.tokens.counters import counter_ids

PROGRAM = "stm-inspector"
WINDOW = "window"
"""The command that is meant where none is written."""

_COMMANDS = {
    "plan": "print what stays in the buffer and what goes",
    "replay": "print what the policy does at every call of the recording",
    "export": "write the trimmed buffer, in the source's own format or another API's",
    "list": "list the conversations in a file",
    "shot": "draw the window to a PNG picture; needs no display",
    "formats": "list the file formats that are read",
    "policies": "list the policies and their settings",
    "models": "list the models and their context windows",
}
_EPILOG = (
    "Without a command the window opens on FILE. Exit codes: 0 done, 1 the input is bad, "
    "2 wrong usage."
)


class Parser(argparse.ArgumentParser):
    """Reports wrong usage in one sentence."""

    def error(self, message: str) -> NoReturn:
        self.exit(2, f"{self.prog}: {message}; '{self.prog} --help' explains\n")


def parse(argv: Sequence[str]) -> argparse.Namespace:
    """The arguments as a namespace; its ``command`` is one of those above or ``WINDOW``.

    A file that is called like a command is written with a path (``./plan``).

    Raises:
        SystemExit: 2 where the arguments are wrong, 0 after ``--help`` and ``--version``.
    """
    words = list(argv)
    first = next((word for word in words if not word.startswith("-")), None)
    asks = {"-h", "--help", "--version"} & set(words)
    if first in _COMMANDS or (first is None and asks):
        return _commands().parse_args(words)
    parser = Parser(prog=PROGRAM, epilog=_EPILOG)
    _add_window(parser)
    arguments, rest = parser.parse_known_args(words, argparse.Namespace(command=WINDOW))
    if rest:
        named = first and not os.path.exists(first)
        parser.error(
            f"there is no command {first!r}; the commands are {', '.join(_COMMANDS)}"
            if named
            else f"the window does not know {rest[0]!r}"
        )
    return arguments


def settings_from(arguments: argparse.Namespace) -> Settings:
    """The settings that the options of ``plan``, ``replay``, ``export`` and ``shot`` ask for.

    Raises:
        SettingError: they contradict each other, or name a model that is not known.
    """
    return make_settings(
        arguments.policy,
        budget=arguments.budget,
        window=arguments.window,
        reply=arguments.reply,
        safety=arguments.safety,
        tool_headroom=arguments.tool_headroom,
        model=arguments.model,
        watermark=arguments.watermark,
        target=arguments.target,
        pins=arguments.pin,
        call=getattr(arguments, "at", None),
        settings=_pairs(arguments.set),
    )


def _pairs(words: Sequence[str]) -> dict[str, str]:
    pairs = {}
    for word in words:
        key, equals, value = word.partition("=")
        if not equals or not key:
            raise SettingError(f"--set wants KEY=VALUE, not {word!r}")
        pairs[key.strip().replace("-", "_")] = value
    return pairs


def _version() -> str:
    try:
        return version(PROGRAM)
    except PackageNotFoundError:  # started from a source tree that nobody installed
        return "(not installed)"


def _commands() -> Parser:
    parser = Parser(
        prog=PROGRAM,
        description="See what an LLM's short-term memory buffer keeps, evicts and summarises.",
        epilog=_EPILOG,
    )
    parser.add_argument("--version", action="version", version=f"{PROGRAM} {_version()}")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)
    made = {
        name: commands.add_parser(name, help=about, description=f"{about[0].upper()}{about[1:]}.")
        for name, about in _COMMANDS.items()
    }
    for name in ("plan", "replay", "export", "list", "shot"):
        made[name].add_argument("file", type=_path, metavar="FILE", help="a recorded conversation")
    outputs: dict[str, argparse._ActionsContainer] = {
        name: made[name] for name in ("plan", "list", "formats", "policies", "models")
    }
    outputs["replay"] = made["replay"].add_mutually_exclusive_group()
    for output in outputs.values():
        output.add_argument("--json", action="store_true", help="print JSON instead of text")
    outputs["replay"].add_argument("--csv", action="store_true", help="print a row a call as CSV")
    _add_output(made["export"], "where to write it; - prints it. What is there is replaced")
    apis = [target.id for target in targets()]
    made["export"].add_argument(
        "--as",
        dest="api",
        choices=apis,
        metavar="API",
        help=f"write a request body of this API instead: {', '.join(apis)}",
    )
    made["export"].add_argument(
        "--force",
        action="store_true",
        help="write it although the API rejects what is left",
    )
    _add_format_option(made["list"])
    _add_output(made["shot"], "the picture, a .png file")
    made["shot"].add_argument(
        "--theme", choices=("light", "dark"), default="light", help="default: light"
    )
    made["shot"].add_argument(
        "--size", type=_size, default=(1440, 900), metavar="WxH", help="pixels; default: 1440x900"
    )
    for name in ("plan", "replay", "export", "shot"):
        _add_plan_options(made[name])
        if name != "replay":
            _add_call_option(made[name])
    return parser


def _add_window(parser: Parser) -> None:
    parser.add_argument(
        "file", type=_path, metavar="FILE", nargs="?", help="a recorded conversation"
    )
    _add_reading_options(parser)


def _add_output(parser: argparse.ArgumentParser, about: str) -> None:
    parser.add_argument("-o", "--output", type=_path, metavar="OUT", required=True, help=about)


def _add_reading_options(parser: argparse.ArgumentParser) -> None:
    _add_format_option(parser)
    parser.add_argument(
        "--conversation",
        type=_count,
        metavar="N",
        help="which conversation of the file, counted from 0 ('list' lists them)",
    )


def _add_format_option(parser: argparse.ArgumentParser) -> None:
    ids = [known.id for known in all_formats()]
    parser.add_argument(
        "--format",
        choices=ids,
        metavar="ID",
        help=f"read the file as this format instead of finding out: {', '.join(ids)}",
    )


def _add_plan_options(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("options of the plan")
    policies, default = [policy.id for policy in all_policies()], Settings().policy
    group.add_argument(
        "--policy",
        choices=policies,
        default=default,
        metavar="ID",
        help=f"{', '.join(policies)}; default: {default}",
    )
    group.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="KEY=VALUE",
        help="a setting of the policy; may be repeated ('policies' lists them)",
    )
    group.add_argument(
        "--budget",
        type=_count,
        metavar="N",
        help="tokens that the input may cost, instead of window minus reserves",
    )
    group.add_argument(
        "--window",
        type=_count,
        metavar="N",
        help=f"the context window, in tokens; default: {DEFAULT_WINDOW:,}",
    )
    for name, tokens, about in (
        ("reply", DEFAULT_REPLY, "reserve for the reply"),
        ("safety", DEFAULT_SAFETY, "safety headroom"),
        ("tool-headroom", DEFAULT_TOOL_HEADROOM, "headroom for tool results to come"),
    ):
        group.add_argument(
            f"--{name}",
            type=_count,
            metavar="N",
            help=f"{about}, in tokens; default: {tokens:,}, less in a small window",
        )
    group.add_argument(
        "--model", metavar="NAME", help="plan for this model: its window and its tokens"
    )
    group.add_argument(
        "--watermark",
        type=_mark,
        metavar="F",
        help="where the policy acts: up to 1 a fraction of the budget, above it tokens",
    )
    group.add_argument(
        "--target",
        type=_mark,
        metavar="F",
        help="what it brings the buffer down to, likewise",
    )
    group.add_argument(
        "--pin",
        type=_count,
        action="append",
        default=[],
        metavar="INDEX",
        help="always keep this message and what is locked to it; may be repeated",
    )
    group.add_argument(
        "--counter",
        default="auto",
        metavar="ID",
        help=f"what to count tokens with: {', '.join(counter_ids())}; default: auto",
    )
    _add_reading_options(parser)


def _add_call_option(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--at",
        type=_count,
        metavar="CALL",
        help="plan for this call, counted from 0; default: the one after the whole log",
    )


def _path(word: str) -> str:
    if not word:
        raise argparse.ArgumentTypeError("wants the name of a file, not an empty word")
    return word


def _count(word: str) -> int:
    """A whole number from 0 on; 32_000 and 32,000 are read as people write them."""
    digits = word.replace("_", "").replace(",", "")
    if not (digits.isascii() and digits.isdigit() and len(digits) <= 15):
        raise argparse.ArgumentTypeError(f"wants a whole number from 0 on, not {word!r}")
    return int(digits)


def _mark(word: str) -> float:
    try:
        mark = float(word)
    except ValueError:
        mark = math.nan
    if not (0 < mark < math.inf):
        raise argparse.ArgumentTypeError(
            f"wants a fraction of the budget or a number of tokens, not {word!r}"
        )
    return mark


def _size(word: str) -> tuple[int, int]:
    width, _, height = word.lower().partition("x")
    if not (width.isdecimal() and height.isdecimal()):
        raise argparse.ArgumentTypeError(f"wants WIDTHxHEIGHT in pixels, not {word!r}")
    size = int(width), int(height)
    if not all(200 <= side <= 10_000 for side in size):
        raise argparse.ArgumentTypeError(f"is 200 to 10,000 pixels each way, not {word!r}")
    return size
