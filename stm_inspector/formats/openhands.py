"""OpenHands: logs of events, of version 0 and 1. See formats.md sections 14c and 14d."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

from stm_inspector.formats import openhands_v0, openhands_v1
from stm_inspector.formats.document import Document
from stm_inspector.formats.transcript import (
    Reading,
    Talk,
    TranscriptFormat,
    latest,
    list_of,
    lists,
    objects,
)


class OpenHands(TranscriptFormat):
    """Events of the agent, the user and the environment; what was condensed is applied."""

    id = "openhands"
    title = "OpenHands events"
    recognised_by = (
        "Events with kind, source and timestamp (version 1); events with source and action or "
        "observation, in a list or in the history of an evaluation (version 0)."
    )
    lacks = "In version 0 the system prompt and the tool definitions, where no event holds them."
    section = "14"
    help = (
        "Reads a list of events, an event a line, or the output of an evaluation. Calls of one "
        "response are one message. Events that a condensation forgot are no longer sent; its "
        "summary stands in their place. Writes an OpenAI Chat request body."
    )

    def detect(self, document: Document) -> str | None:
        for found in _logs(document):
            if openhands_v1.is_log(found):
                return "events with kind, source and timestamp: version 1"
            return "events with source and action or observation: version 0"
        return None

    def talks(self, document: Document) -> Sequence[Talk]:
        return [
            Talk(
                partial(_read, found),
                title,
                time=latest(event.get("timestamp") for event in found if isinstance(event, dict)),
            )
            for found, title in _titled(document)
        ]


def _logs(document: Document) -> Iterator[list[Any]]:
    yield from (found for found, _ in _titled(document))


def _titled(document: Document) -> Iterator[tuple[list[Any], str]]:
    for found in lists(document):
        if _is_log(found):
            yield found, ""
    for value in objects(document):
        for key in ("history", "events"):
            inside = list_of(value.get(key))
            if _is_log(inside):
                yield inside, str(value.get("instance_id") or value.get("id") or "")[:60]
    only = document.records[0].value if document.records else None
    if len(document.records) == 1 and isinstance(only, dict) and _is_log([only]):
        yield [only], ""


def _is_log(value: Any) -> bool:
    return openhands_v1.is_log(value) or openhands_v0.is_log(value)


def _read(events: Sequence[Any]) -> Reading:
    return openhands_v1.read(events) if openhands_v1.is_log(events) else openhands_v0.read(events)
