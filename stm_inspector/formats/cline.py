"""Tasks of Cline and Roo. See formats.md section 15."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any, NamedTuple

from msgspec import structs

from stm_inspector.conversation.model import Message, Part, PartKind, Role, Usage
from stm_inspector.formats import blocks
from stm_inspector.formats.document import Document
from stm_inspector.formats.parts import counted, opaque, string
from stm_inspector.formats.transcript import (
    Reading,
    Talk,
    TranscriptFormat,
    latest,
    lists,
    number,
    object_of,
    objects,
    result,
    shortened,
    system_message,
    thinking,
    when,
)
from stm_inspector.formats.wire import ROLES

_NAMES = ("api_conversation_history.json", "api_conversation_history")
_ROO = ("isSummary", "condenseId", "condenseParent", "truncationId", "truncationParent")
_MARKS = ("modelInfo", "conversationHistoryIndex", *_ROO)
_RESULT = re.compile(r"\[(\w+)(?: for [^\n]*)?\] Result:")
_OWN = re.compile(r"\s*<(environment_details|task_progress)>|\s*# task_progress")


class Cline(TranscriptFormat):
    """The conversation of a task: messages of Anthropic's shape with a time."""

    id = "cline"
    title = "Cline or Roo task"
    recognised_by = (
        "Messages with Anthropic content blocks and ts, modelInfo or Roo's marks of condensing; "
        "or the file name api_conversation_history.json."
    )
    lacks = "The system prompt, the tool definitions, and in Cline what was cut off when too long."
    section = "15"
    help = (
        "Reads the messages of a task. Results that Cline writes as text belong to the calls "
        "before them, in order. What Roo condensed or truncated is no longer sent. Writes an "
        "Anthropic Messages request body."
    )
    api = "anthropic-messages"

    def detect(self, document: Document) -> str | None:
        for task in _tasks(document):
            if any(_is_marked(raw) for raw in task.messages):
                return "messages with content blocks and ts or modelInfo"
        if document.name in _NAMES and next(_tasks(document), None):
            return f"the file name {document.name}"
        return None

    def talks(self, document: Document) -> Sequence[Talk]:
        return [
            Talk(
                partial(_read, task),
                _title(task.messages),
                _model(task.messages),
                time=latest(raw.get("ts") for raw in task.messages if isinstance(raw, dict)),
            )
            for task in _tasks(document)
        ]


class _Task(NamedTuple):
    messages: list[Any]
    system: Any = None


def _tasks(document: Document) -> Iterator[_Task]:
    for found in lists(document):
        if any(_has_content(raw) for raw in found):
            yield _Task(found)
    for value in objects(document):
        messages = value.get("messages")
        if isinstance(messages, list) and any(_has_content(raw) for raw in messages):
            yield _Task(messages, value.get("system_prompt", value.get("systemPrompt")))


def _has_content(raw: Any) -> bool:
    return isinstance(raw, dict) and raw.get("role") in ("user", "assistant") and "content" in raw


def _is_marked(raw: Any) -> bool:
    """Content blocks with a time beside them, or with marks that only Cline or Roo leave."""
    if not _has_content(raw) or not isinstance(raw["content"], list):
        return False
    return any(mark in raw for mark in _MARKS) or number(raw.get("ts")) is not None


def _title(messages: Sequence[Any]) -> str:
    for raw in messages:
        if _has_content(raw) and raw["role"] == "user":
            for _, part in blocks.content_pieces(raw["content"]):
                if part.kind is PartKind.TEXT and not _OWN.match(part.text):
                    return shortened(part.text.replace("<task>", "").replace("</task>", ""))
    return ""


def _model(messages: Sequence[Any]) -> str | None:
    told = [object_of(raw.get("modelInfo")) for raw in messages if isinstance(raw, dict)]
    return next((name for one in reversed(told) if (name := string(one.get("modelId")))), None)


def _read(task: _Task) -> Reading:
    notes: list[str] = []
    system = system_message(string(task.system), "system_prompt")
    missing = "The tool definitions are" if system else "The system prompt and tool definitions are"
    notes.append(f"{missing} not in this file.")
    unused = _no_longer_sent(task.messages, notes)
    messages: list[Message] = []
    open_calls: list[Part] = []
    for raw, why in zip(task.messages, unused, strict=True):
        read = _message(raw, why)
        if read.role is Role.ASSISTANT:
            open_calls = [part for part in read.parts if part.kind is PartKind.TOOL_CALL]
        elif open_calls:
            read = structs.replace(read, parts=tuple(_with_results(read.parts, open_calls)))
        messages.append(read)
    if not any(mark in raw for mark in _ROO for raw in task.messages if isinstance(raw, dict)):
        notes.append("Whether Cline cut off early messages is not in this file, but in its state.")
    return Reading([*system, *messages], notes)


def _no_longer_sent(messages: Sequence[Any], notes: list[str]) -> list[str | None]:
    """Why each message is no longer sent, by Roo's marks; None where it is.

    https://github.com/RooCodeInc/Roo-Code: ``getEffectiveApiHistory``.
    """
    raws = [raw if isinstance(raw, dict) else {} for raw in messages]
    last = max((at for at, raw in enumerate(raws) if raw.get("isSummary")), default=0)
    markers = {str(raw["truncationId"]) for raw in raws[last:] if raw.get("isTruncationMarker")}
    why: list[str | None] = []
    for at, raw in enumerate(raws):
        if at < last:
            why.append(f"condensed into message {last}")
        elif raw.get("truncationParent") and str(raw["truncationParent"]) in markers:
            why.append("truncated by Roo")
        elif raw.get("isTruncationMarker"):
            why.append("a mark of Roo's, never sent")
        else:
            why.append(None)
    gone = sum(one is not None for one in why)
    if gone:
        notes.append(f"{counted(gone, 'message')} condensed or truncated by Roo: no longer sent.")
    return why


def _message(raw: Any, unused: str | None) -> Message:
    if not isinstance(raw, dict):
        return _kept(raw, unused)
    role = ROLES.get(str(raw.get("role")))
    if raw.get("type") == "reasoning":
        text = string(raw.get("text")) or ""
        part = thinking(text, raw, "reasoning", signed="encrypted_content" in raw)
        return Message(Role.ASSISTANT, (part,), "reasoning", unused=unused, raw=raw)
    parts = tuple(part for _, part in blocks.content_pieces(raw.get("content")))
    if role is None:
        return _kept(raw, unused)
    summary = bool(raw.get("isSummary"))
    return Message(
        role,
        parts,
        source_role=str(raw["role"]),
        time=when(raw.get("ts")),
        model=string(object_of(raw.get("modelInfo")).get("modelId")),
        injected=summary,
        unused=unused,
        usage=_usage(raw) if role is Role.ASSISTANT else None,
        tags={"compaction": "summary"} if summary else {},
        raw=raw,
    )


def _kept(raw: Any, unused: str | None) -> Message:
    why = unused or "it has no role that is known"
    return Message(Role.USER, (opaque(raw),), injected=True, unused=why, raw=raw)


def _usage(raw: dict[str, Any]) -> Usage | None:
    tokens = object_of(object_of(raw.get("metrics")).get("tokens"))
    sent, written = number(tokens.get("prompt")), number(tokens.get("completion"))
    cached = number(tokens.get("cached"))
    if sent is None and written is None:
        return None
    return Usage(sent, written, cached)


def _with_results(parts: Sequence[Part], calls: list[Part]) -> Iterator[Part]:
    """The parts of a message of the user with the texts that are results as such.

    ``[tool for 'x'] Result:`` opens one; what follows up to the next, or to what Cline adds to
    every message, belongs to it. They answer ``calls`` in order, by name where it fits.
    """
    heading: Part | None = None
    inside: list[Part] = []
    for part in parts:
        text = part.text if part.kind is PartKind.TEXT else ""
        opens = _RESULT.match(text)
        if heading is not None and (opens or _OWN.match(text) or part.kind is PartKind.TOOL_RESULT):
            yield _result(heading, inside, calls)
            heading, inside = None, []
        if opens and calls:
            heading = part
        elif heading is not None:
            inside.append(part)
        else:
            yield part
    if heading is not None:
        yield _result(heading, inside, calls)


def _result(heading: Part, inside: Sequence[Part], calls: list[Part]) -> Part:
    found = _RESULT.match(heading.text)
    name = found.group(1) if found else ""
    if not calls:
        return heading
    at = next((at for at, call in enumerate(calls) if call.name == name), 0)
    answered = calls.pop(at)
    raw = [heading.raw, *(part.raw for part in inside)]
    text = heading.text
    rest = tuple(inside)
    return result(answered.name, text, answered.call_id, raw, "text", parts=rest)
