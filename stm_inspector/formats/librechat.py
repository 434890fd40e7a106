"""LibreChat exports: one conversation, flat or as nested children. See formats.md section 24."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from stm_inspector.conversation.model import Message, Part, Role
from stm_inspector.formats.branches import branch_title, leaves, way_to
from stm_inspector.formats.document import Document
from stm_inspector.formats.openai_parts import content_part
from stm_inspector.formats.parts import counted, string
from stm_inspector.formats.transcript import (
    Reading,
    Talk,
    TranscriptFormat,
    answered,
    api_of,
    call,
    list_of,
    object_of,
    objects,
    result,
    some_objects,
    system_message,
    text_parts,
    thinking,
    when,
)

_ROOT = frozenset(("00000000-0000-0000-0000-000000000000",))
"""The parent of a first message."""

_NOT_KEPT = frozenset(("user", "children"))
"""Of a message: who wrote it, and the messages behind it."""


class LibreChat(TranscriptFormat):
    """A conversation that LibreChat exported as JSON."""

    id = "librechat"
    title = "LibreChat export"
    recognised_by = "An object with conversationId, endpoint and messages."
    lacks = "Tool definitions, files, and the system prompt of an agent."
    section = "24"
    help = (
        "Reads both the flat form, in which messages name their parent, and the recursive one, in "
        "which they hold their children. Shows the newest branch and offers the others. Writes "
        "the request body of the API that the endpoint stands for."
    )
    not_here = ("Tool definitions and files are not in a LibreChat export.",)

    def detect(self, document: Document) -> str | None:
        found = any(_is_conversation(value) for value in some_objects(document))
        return "conversationId, endpoint and messages" if found else None

    def talks(self, document: Document) -> Sequence[Talk]:
        return [
            talk
            for value in objects(document)
            if isinstance(value.get("messages"), list)
            for talk in _branches(value)
        ]


def _is_conversation(value: dict[str, Any]) -> bool:
    return (
        isinstance(value.get("conversationId"), str)
        and isinstance(value.get("messages"), list)
        and ("endpoint" in value or "recursive" in value)
    )


def _flat(messages: Sequence[Any], parent: str | None = None) -> Iterator[tuple[str | None, Any]]:
    """The messages and the parent of each, from whichever form."""
    waiting = [(parent, raw) for raw in reversed(messages)]
    while waiting:
        above, raw = waiting.pop()
        if not isinstance(raw, dict):
            continue
        yield above or string(raw.get("parentMessageId")), raw
        id = string(raw.get("messageId"))
        waiting += [(id, child) for child in reversed(list_of(raw.get("children")))]


def _branches(value: dict[str, Any]) -> list[Talk]:
    by_id: dict[str, dict[str, Any]] = {}
    parents: dict[str, str | None] = {}
    for place, (parent, raw) in enumerate(_flat(value["messages"])):
        id = string(raw.get("messageId")) or f"#{place}"
        by_id[id], parents[id] = raw, parent
    if not by_id:
        return []
    ends = leaves(parents, None)
    newest = max(ends, key=lambda end: when(by_id[end].get("createdAt")) or 0.0)
    ends = [newest, *(end for end in ends if end != newest)]
    options = object_of(value.get("options"))
    title = string(value.get("title")) or ""
    many = counted(len(ends), "branch", "branches")
    notes = [f"{many}: a conversation each."] if len(ends) > 1 else []
    system = system_message(options.get("promptPrefix") or options.get("system"), "promptPrefix")

    def reader(end: str) -> Callable[[], Reading]:
        def read() -> Reading:
            way = way_to(end, parents, _ROOT)
            said = [message for id in way.ids for message in _messages(by_id[id])]
            more = [way.note] if way.note else []
            api = api_of(value.get("endpoint"), options.get("model"))
            return Reading([*system, *said] if said else [], [*notes, *more], api=api)

        return read

    return [
        Talk(
            reader(end),
            branch_title(title, place, len(ends)),
            string(by_id[end].get("model")) or string(options.get("model")),
            None,
            when(by_id[end].get("createdAt")),
        )
        for place, end in enumerate(ends)
    ]


def _messages(raw: dict[str, Any]) -> list[Message]:
    role = Role.USER if raw.get("isCreatedByUser") is True else Role.ASSISTANT
    content = list_of(raw.get("content"))
    parts = [part for item in content for part in _piece(item)]
    if not parts:
        parts = text_parts(raw.get("text"))

    def make(role: Role, parts: tuple[Part, ...]) -> Message:
        return Message(
            role,
            parts,
            source_role=string(raw.get("sender")) or "",
            id=string(raw.get("messageId")),
            time=when(raw.get("createdAt")),
            model=string(raw.get("model")),
            raw={key: value for key, value in raw.items() if key not in _NOT_KEPT},
        )

    if role is Role.USER:
        return [make(role, tuple(parts))] if parts else []
    return answered(parts, in_turn=True, make=make)


def _piece(item: Any) -> list[Part]:
    """A part of ``content``: agents write their steps there."""
    kind = item.get("type") if isinstance(item, dict) else None
    if kind == "think":
        return [thinking(string(item.get("think")) or "", item, "think")]
    if kind == "text":
        inner = item.get("text")
        return text_parts(object_of(inner).get("value", inner))
    if kind == "tool_call":
        made = object_of(item.get("tool_call"))
        made = made if made.get("name") else object_of(made.get("function")) | made
        found = [
            call(made.get("name"), made.get("args", made.get("arguments")), made.get("id"), item)
        ]
        if made.get("output") is not None:
            found.append(result(made.get("name"), made["output"], made.get("id"), item))
        return found
    return [content_part(item)]
