"""JSON text of a request body in which some values stand as they were recorded."""

from __future__ import annotations

import json
from typing import Any

from stm_inspector.formats.rewrite import dumps

INVALID_JSON = "INVALID_JSON"
"""The member that carries arguments which are no JSON object, where an API wants one.
https://docs.claude.com/en/docs/agents-and-tools/tool-use/fine-grained-tool-streaming"""


class Verbatim(str):
    """JSON text that goes into the body as it is: number spelling and key order stay."""

    __slots__ = ()


def body_text(value: Any) -> str:
    """``value`` as JSON text, a message a line, with every ``Verbatim`` in it as it is."""
    return f"{_text(value, 0)}\n"


def _text(value: Any, depth: int) -> str:
    if isinstance(value, Verbatim):
        return str(value)
    if isinstance(value, dict):
        inner = [f"{dumps(str(key))}: {_text(item, depth + 1)}" for key, item in value.items()]
        return _joined(inner, depth, "{}", spread=depth == 0)
    if isinstance(value, list):
        inner = [_text(item, depth + 1) for item in value]
        return _joined(inner, depth, "[]", spread=depth <= 1)
    return dumps(value)


def _joined(inner: list[str], depth: int, brackets: str, *, spread: bool) -> str:
    if not inner or not spread:
        return f"{brackets[0]}{', '.join(inner)}{brackets[1]}"
    gap = "\n" + "  " * (depth + 1)
    return f"{brackets[0]}{gap}{f',{gap}'.join(inner)}\n{'  ' * depth}{brackets[1]}"


def parsed(text: str) -> Any:
    """The value of a JSON text; ValueError where it is none (NaN is none)."""
    try:
        return json.loads(text, parse_constant=_refuse)
    except RecursionError:
        raise ValueError("nested too deeply") from None


def _refuse(word: str) -> None:
    raise ValueError(f"{word} is not JSON")


def is_object(text: str) -> bool:
    """Whether ``text`` is the JSON of an object."""
    try:
        return isinstance(parsed(text), dict)
    except ValueError:
        return False


def as_object(arguments: str) -> Verbatim | dict[str, str]:
    """Arguments of a call for an API that takes an object; the text itself where it is one."""
    if not arguments.strip():
        return {}
    return Verbatim(arguments) if is_object(arguments) else {INVALID_JSON: arguments}


def as_string(arguments: str) -> str:
    """Arguments of a call for an API that takes a string: undoes ``as_object``."""
    if INVALID_JSON not in arguments[:40] or not is_object(arguments):
        return arguments
    value = parsed(arguments)
    inner = value.get(INVALID_JSON)
    return inner if len(value) == 1 and isinstance(inner, str) else arguments
