"""Typed settings that describe themselves: to the command line, the window and the docs."""

from __future__ import annotations

import dataclasses
import enum
import typing
from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any, TypeVar, cast

from stm_inspector.buffer.budget import Budget

ZONE_NAMES = ("system", "anchor", "retrieved", "middle", "tail", "current")

S = TypeVar("S")


class SettingError(ValueError):
    """A setting that is unknown or has a value that makes no sense; the text says which."""


@dataclass(frozen=True, slots=True)
class Setting:
    """How one setting shows itself.

    ``type`` is "int", "float", "bool", "text", "choice" or "zones"; ``low`` and ``high`` bound a
    number, both included; ``unit`` is shown behind it ("messages", "tokens", "of budget").
    """

    key: str
    type: str
    default: Any
    unit: str
    help: str
    label: str
    low: float | None = None
    high: float | None = None
    choices: tuple[str, ...] = ()


def setting(
    default: Any,
    help: str,
    *,
    label: str = "",
    unit: str = "",
    low: float | None = None,
    high: float | None = None,
) -> Any:
    """Declare a field of a settings dataclass together with its description."""
    return field(
        default=default,
        metadata={"help": help, "label": label, "unit": unit, "low": low, "high": high},
    )


def with_default(settings_type: type, key: str, default: Any) -> Any:
    """Declare a field of a base class anew, with the same description and another default."""
    known = {item.name: item for item in dataclasses.fields(settings_type)}
    return field(default=default, metadata=known[key].metadata)


def describe(settings_type: type) -> tuple[Setting, ...]:
    """List the settings of a settings dataclass, in the order in which they are declared."""
    # Every class is hashable; mypy looks at the hash of its instances.
    return _described(cast(Hashable, settings_type))


@cache
def _hints(settings_type: Any) -> Mapping[str, Any]:
    return typing.get_type_hints(settings_type)


@cache
def _described(settings_type: Any) -> tuple[Setting, ...]:
    hints = _hints(settings_type)
    return tuple(_describe(item, hints[item.name]) for item in dataclasses.fields(settings_type))


def _describe(item: dataclasses.Field[Any], hint: Any) -> Setting:
    choices: tuple[str, ...] = ()
    if isinstance(hint, type) and issubclass(hint, enum.StrEnum):
        kind, choices = "choice", tuple(member.value for member in hint)
    else:
        kind = {int: "int", float: "float", bool: "bool", str: "text"}.get(hint, "zones")
    meta = item.metadata
    return Setting(
        key=item.name,
        type=kind,
        default=plain(item.default),
        unit=meta["unit"],
        help=meta["help"],
        label=meta["label"] or item.name.replace("_", " ").capitalize(),
        low=meta["low"],
        high=meta["high"],
        choices=choices,
    )


def plain(value: Any) -> Any:
    """The value as it stands in JSON: zones as a list in buffer order, an enum as its text."""
    if isinstance(value, frozenset):
        return [name for name in ZONE_NAMES if name in value]
    return value.value if isinstance(value, enum.StrEnum) else value


def to_json(settings: Any) -> dict[str, Any]:
    """All settings of an instance as plain JSON values."""
    return {item.name: plain(getattr(settings, item.name)) for item in dataclasses.fields(settings)}


def build(settings_type: type[S], values: Mapping[str, Any]) -> S:
    """Make settings from ``values``, each either typed already or text from a command line.

    Raises:
        SettingError: an unknown key, a value of the wrong type, or one out of bounds.
    """
    known = {entry.key: entry for entry in describe(settings_type)}
    hints = _hints(cast(Hashable, settings_type))
    parsed: dict[str, Any] = {}
    for key, value in values.items():
        if key not in known:
            raise SettingError(f"there is no setting {key!r}; this policy has: {', '.join(known)}")
        parsed[key] = _parse(known[key], hints[key], value)
    return settings_type(**parsed)


def _parse(entry: Setting, hint: Any, value: Any) -> Any:
    try:
        result = _PARSERS[entry.type](value, hint)
    except (ValueError, TypeError) as error:
        wanted = ", ".join(entry.choices) if entry.choices else _WANTED[entry.type]
        raise SettingError(f"{entry.key} wants {wanted}, not {value!r}") from error
    if isinstance(result, int | float) and not isinstance(result, bool):
        if entry.low is not None and not result >= entry.low:
            raise SettingError(f"{entry.key} is at least {entry.low:g}, not {value}")
        if entry.high is not None and not result <= entry.high:
            raise SettingError(f"{entry.key} is at most {entry.high:g}, not {value}")
    return result


def _parse_int(value: Any, _hint: Any) -> int:
    if isinstance(value, bool) or (isinstance(value, float) and not value.is_integer()):
        raise ValueError
    return int(value)


def _parse_float(value: Any, _hint: Any) -> float:
    if isinstance(value, bool):
        raise ValueError
    return float(value)


def _parse_bool(value: Any, _hint: Any) -> bool:
    words = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}
    return value if isinstance(value, bool) else _lookup(words, str(value).strip().lower())


def _lookup(words: Mapping[str, bool], word: str) -> bool:
    if word not in words:
        raise ValueError
    return words[word]


def _parse_zones(value: Any, _hint: Any) -> frozenset[str]:
    names = value.split(",") if isinstance(value, str) else value
    zones = frozenset(name.strip() for name in names if name.strip())
    if not zones <= set(ZONE_NAMES):
        raise ValueError
    return zones


_PARSERS: Mapping[str, Any] = {
    "int": _parse_int,
    "float": _parse_float,
    "bool": _parse_bool,
    "text": lambda value, _hint: str(value),
    "choice": lambda value, hint: hint(value),
    "zones": _parse_zones,
}
_WANTED = {
    "int": "a whole number",
    "float": "a number",
    "bool": "true or false",
    "text": "a text",
    "zones": f"zones separated by commas ({', '.join(ZONE_NAMES)}), or nothing",
}


@dataclass(frozen=True, slots=True)
class Settings:
    """Everything that, beside the conversation and its token counts, decides a plan.

    Attributes:
        policy: id of the policy.
        options: the policy's own settings by key, typed or as text; missing ones are defaults.
        budget: the context window and its reserves.
        watermark: where a policy acts; up to 1 a fraction of the budget, above it tokens;
            None for the policy's own default.
        target: what it brings the buffer down to, in the same units; None for the budget.
        pins: messages that the user always keeps; each pins its whole lock group.
        marks: message -> True (retrieved context) or False (not retrieved), by the user.
        scores: message -> how much it matters, 0 to 1, by the user; it goes before what the file
            or a rule says.
        tail_turns: how many turns before the current one count as the tail.
        call: the call to plan for, None for the last: what would be sent next.
    """

    policy: str = "token-budget"
    options: Mapping[str, Any] = field(default_factory=dict)
    budget: Budget = Budget()
    watermark: float | None = None
    target: float | None = None
    pins: frozenset[int] = frozenset()
    marks: Mapping[int, bool] = field(default_factory=dict)
    scores: Mapping[int, float] = field(default_factory=dict)
    tail_turns: int = 3
    call: int | None = None
