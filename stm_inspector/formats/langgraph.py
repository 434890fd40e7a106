"""LangGraph: checkpoints in an SQLite database. See formats.md section 7.

https://docs.langchain.com/oss/python/langgraph/persistence
"""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from stm_inspector.conversation.errors import InputError
from stm_inspector.conversation.model import Skipped
from stm_inspector.formats import database, langchain_messages, msgpack
from stm_inspector.formats.document import Document
from stm_inspector.formats.langchain import api_of, message_of, model_in, removals
from stm_inspector.formats.parts import counted, string
from stm_inspector.formats.transcript import (
    Reading,
    Talk,
    TranscriptFormat,
    list_of,
    object_of,
    when,
)

Row = dict[str, Any]


@dataclass(frozen=True, slots=True)
class _Checkpoint:
    """A state of a thread. ``parent``: id of the checkpoint before it."""

    thread: str
    namespace: str
    id: str
    parent: str | None
    row: Row

    @property
    def key(self) -> tuple[str, str, str]:
        return self.thread, self.namespace, self.id


class LangGraph(TranscriptFormat):
    """What ``SqliteSaver`` keeps: at each checkpoint the messages that the next step sees."""

    id = "langgraph"
    title = "LangGraph checkpoints"
    recognised_by = "An SQLite database with the tables checkpoints and writes."
    lacks = "The system prompt where it is added at the call, tool definitions, model parameters."
    section = "7"
    help = (
        "Reads the messages at the end of each thread and of each of its forks, the newest "
        "first, then at each checkpoint before that at which they were others. RemoveMessage has "
        "already acted. Objects become data and no class is imported. Writes the request body of "
        "the API that the answers came from."
    )
    not_here = ("Tool definitions and what a node adds to its prompt are not in a checkpoint.",)

    def detect(self, document: Document) -> str | None:
        for record in document.records:
            if {"checkpoints", "writes"} <= database.tables(record.value).keys():
                return "a database with the tables checkpoints and writes"
        return None

    def talks(self, document: Document) -> Sequence[Talk]:
        found = [one for record in document.records for one in _checkpoints(record.value)]
        # Ids are time-ordered UUIDs.
        found.sort(key=lambda one: one.id, reverse=True)
        parents = {(one.thread, one.namespace, one.parent) for one in found}
        ends = [one for one in found if one.key not in parents]
        talks, bad = _talks(ends, "", None)
        earlier, more_bad = _talks(
            [one for one in found if one.key in parents], "before: ", _states(ends)
        )
        if found and not talks and not earlier:
            raise InputError(
                f"{document.name} holds {counted(len(found), 'checkpoint')} and no messages in "
                f"them ({bad + more_bad} could not be read: pickled data never is)."
            )
        return [*talks, *earlier]


def _checkpoints(value: Any) -> Iterator[_Checkpoint]:
    for row in database.tables(value).get("checkpoints", []):
        id = string(row.get("checkpoint_id"))
        if id is not None:
            space = string(row.get("checkpoint_ns")) or ""
            parent = string(row.get("parent_checkpoint_id"))
            yield _Checkpoint(str(row.get("thread_id")), space, id, parent, row)


def _states(checkpoints: Sequence[_Checkpoint]) -> set[str]:
    """What the messages of these checkpoints are, to know the same ones again."""
    return {json.dumps(_messages(one)[0]) for one in checkpoints}


def _talks(
    checkpoints: Sequence[_Checkpoint], word: str, known: set[str] | None
) -> tuple[list[Talk], int]:
    """A conversation for each of these states, and how many could not be read.

    States that are ``known`` are left out, and so is every one after its first appearance.
    """
    talks, bad = [], 0
    for one in checkpoints:
        messages, time = _messages(one)
        bad += messages is None
        if not messages:
            continue
        if known is not None:
            state = json.dumps(messages)
            if state in known:
                continue
            known.add(state)
        title = f"{word}thread {one.thread[:40]}{one.namespace and f' in {one.namespace[:40]}'}"
        count = len(messages) - len(removals(messages))
        model = next((name for raw in reversed(messages) if (name := model_in(raw))), None)
        read = partial(_read, one)
        talks.append(Talk(read, f"{title}, checkpoint {one.id[:23]}", model, count, when(time)))
    return talks, bad


def _messages(one: _Checkpoint) -> tuple[list[Any] | None, Any]:
    """The messages of a state and its time; None where it cannot be read."""
    try:
        state = object_of(_value(one.row.get("type"), one.row.get("checkpoint")))
    except (ValueError, binascii.Error):
        return None, None
    values = object_of(state.get("channel_values"))
    messages = values.get("messages")
    if not isinstance(messages, list):
        # Before the first step the input waits in a channel of its own.
        messages = object_of(values.get("__start__")).get("messages")
    known = [_unwrapped(raw) for raw in list_of(messages)]
    if not any(langchain_messages.type_of(raw) for raw in known):
        known = []
    return known, state.get("ts")


def _value(kind: Any, cell: Any) -> Any:
    """What a cell holds. Pickled data is never read: it could run anything."""
    packed = object_of(cell).get("base64")
    data = base64.b64decode(packed) if isinstance(packed, str) else str(cell).encode()
    if kind == "msgpack":
        return msgpack.unpacked(data)
    if kind == "json":
        return json.loads(data)
    raise ValueError(f"data of the kind {kind!r}")


def _unwrapped(raw: Any) -> Any:
    """Older savers write objects as LangChain does, with a 2 where it has a 1."""
    return {**raw, "lc": 1} if isinstance(raw, dict) and raw.get("lc") == 2 else raw


def _read(one: _Checkpoint) -> Reading:
    messages = _messages(one)[0] or []
    gone = removals(messages)
    read, skipped = [], []
    for place, raw in enumerate(messages):
        if place in gone:
            continue
        message = message_of(raw, 0)
        if isinstance(message, str):
            skipped.append(Skipped(None, f"messages[{place}] {message}"))
        else:
            read.append(message)
    return Reading(read, skipped=skipped, api=api_of(read))
