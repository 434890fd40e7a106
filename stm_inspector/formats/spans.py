"""Spans of OpenTelemetry, however they were written. See formats.md section 20.

OTLP JSON: https://opentelemetry.io/docs/specs/otlp/#json-protobuf-encoding
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from stm_inspector.formats.document import Document
from stm_inspector.formats.parts import string
from stm_inspector.formats.transcript import list_of, number, object_of, objects, when

_NANOSECONDS = 1e9


@dataclass(frozen=True, slots=True)
class Span:
    """A span. ``attributes`` as plain values; ``events``: name and attributes of each."""

    name: str
    start: float | None
    attributes: dict[str, Any]
    events: tuple[tuple[str, dict[str, Any]], ...]


def is_otlp(value: dict[str, Any]) -> bool:
    return isinstance(value.get("resourceSpans"), list)


def is_sdk(value: dict[str, Any]) -> bool:
    """A span as ``ReadableSpan.to_json`` of the SDK for Python writes it."""
    return (
        isinstance(value.get("context"), dict)
        and isinstance(value.get("attributes"), dict)
        and "start_time" in value
    )


def spans_of(document: Document) -> list[Span]:
    """Every span of a file, by the time at which it began."""
    found: list[Span] = []
    for value in objects(document):
        if is_otlp(value):
            found += _otlp(value)
        elif is_sdk(value):
            found.append(_sdk(value))
    return sorted(found, key=lambda span: span.start or 0)


def _sdk(value: dict[str, Any]) -> Span:
    events = [event for event in list_of(value.get("events")) if isinstance(event, dict)]
    return Span(
        string(value.get("name")) or "",
        when(value.get("start_time")),
        value["attributes"],
        tuple((str(event.get("name")), object_of(event.get("attributes"))) for event in events),
    )


def _otlp(value: dict[str, Any]) -> Iterator[Span]:
    for resource in _dicts(value["resourceSpans"]):
        scopes = resource.get("scopeSpans", resource.get("instrumentationLibrarySpans"))
        for scope in _dicts(scopes):
            for raw in _dicts(scope.get("spans")):
                events = _dicts(raw.get("events"))
                yield Span(
                    string(raw.get("name")) or "",
                    _start(raw.get("startTimeUnixNano")),
                    _attributes(raw.get("attributes")),
                    tuple((str(e.get("name")), _attributes(e.get("attributes"))) for e in events),
                )


def _dicts(values: Any) -> list[dict[str, Any]]:
    return [value for value in list_of(values) if isinstance(value, dict)]


def _start(value: Any) -> float | None:
    """Nanoseconds, as a number or (as JSON has no 64-bit integers) its digits."""
    whole = int(value) if isinstance(value, str) and _is_digits(value) else number(value)
    return when(whole / _NANOSECONDS) if whole is not None and 0 < whole < 1 << 64 else None


def _is_digits(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) < 21


def _attributes(values: Any) -> dict[str, Any]:
    return {str(pair.get("key")): _plain(pair.get("value")) for pair in _dicts(values)}


def _plain(value: Any) -> Any:
    """The plain value of an ``AnyValue``."""
    if not isinstance(value, dict) or len(value) != 1:
        return value
    ((kind, inner),) = value.items()
    if kind == "arrayValue":
        return [_plain(item) for item in list_of(object_of(inner).get("values"))]
    if kind == "kvlistValue":
        return _attributes(object_of(inner).get("values"))
    if kind == "intValue" and isinstance(inner, str) and _is_digits(inner.removeprefix("-")):
        return int(inner)
    return inner


def unpacked(value: Any) -> Any:
    """A value that may stand in its attribute as JSON text; a text that is no JSON stays one."""
    if not isinstance(value, str) or value[:1] not in ("{", "["):
        return value
    try:
        return json.loads(value)
    except (ValueError, RecursionError):
        return value


def numbered(attributes: dict[str, Any], prefix: str) -> list[dict[str, Any]]:
    """The members of ``prefix.0.…``, ``prefix.1.…`` by their number, without what leads to them."""
    found: dict[int, dict[str, Any]] = {}
    for key, value in attributes.items():
        if key.startswith(prefix):
            place, _, rest = key[len(prefix) :].partition(".")
            if rest and _is_digits(place):
                found.setdefault(int(place), {})[rest] = value
    return [found[place] for place in sorted(found)]
