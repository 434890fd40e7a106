"""Vercel AI SDK: UI messages and model messages. See formats.md section 10."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from typing import Any

from stm_inspector.conversation.model import Message, Part, PartKind, Role, Skipped
from stm_inspector.formats import media
from stm_inspector.formats.document import Document
from stm_inspector.formats.parts import ONLY_ADDRESS, as_text, counted, opaque, string
from stm_inspector.formats.transcript import (
    Reading,
    Talk,
    TranscriptFormat,
    answered,
    call,
    list_of,
    lists,
    object_of,
    objects,
    result,
    sampled,
    some_objects,
    text_parts,
    thinking,
    when,
)
from stm_inspector.formats.wire import ROLES

_OTHERS = frozenset(("tool_call", "tool_call_response"))
"""Parts of OpenTelemetry's messages, which have a role and parts as well."""

_MODEL_PARTS = ("tool-call", "tool-result")
_ONLY_SHOWN = ("source-", "data-")
"""Parts of a UI message that are shown to the user and not sent to the model."""


class Vercel(TranscriptFormat):
    """Messages of the Vercel AI SDK, as its chats store them or as it sends them."""

    id = "vercel-ai-sdk"
    title = "Vercel AI SDK messages"
    recognised_by = (
        "UI messages with a role and parts that have a type, toolInvocations (v4), or content "
        "parts tool-call and tool-result (model messages)."
    )
    lacks = "The system prompt and tool definitions, which the server adds; token counts."
    section = "10"
    help = (
        "A UI message of the assistant is parted as the SDK does when it sends it: at each "
        "step-start, and between calls and their results, which stand in one part. Sources and "
        "data parts are not sent. Writes an OpenAI Chat request body."
    )
    not_here = ("Tool definitions, and a system prompt that the server adds, are not in the file.",)

    def detect(self, document: Document) -> str | None:
        for _, messages in _chats(document, some_objects(document)):
            if any(_is_model_message(raw) for raw in messages):
                return "content parts of the type tool-call or tool-result"
            return "messages with a role and parts that have a type"
        return None

    def talks(self, document: Document) -> Sequence[Talk]:
        return [
            Talk(partial(_read, messages), string(chat.get("title")) or "")
            for chat, messages in _chats(document, objects(document))
        ]


def _is_ui_message(value: Any) -> bool:
    if not isinstance(value, dict) or str(value.get("role")) not in ROLES:
        return False
    if isinstance(value.get("toolInvocations"), list):
        return True
    parts = value.get("parts")
    return isinstance(parts, list) and bool(parts) and all(_is_ui_part(part) for part in parts)


def _is_ui_part(part: Any) -> bool:
    kind = part.get("type") if isinstance(part, dict) else None
    if not isinstance(kind, str) or kind in _OTHERS:
        return False
    return "text" in part if kind in ("text", "reasoning") else True


def _is_model_message(value: Any) -> bool:
    return (
        isinstance(value, dict)
        and str(value.get("role")) in ROLES
        and any(
            isinstance(part, dict) and part.get("type") in _MODEL_PARTS
            for part in list_of(value.get("content"))
        )
    )


def _is_message(value: Any) -> bool:
    return _is_ui_message(value) or _is_model_message(value)


def _chats(
    document: Document, values: Iterable[dict[str, Any]]
) -> Iterator[tuple[dict[str, Any], list[Any]]]:
    for found in lists(document):
        if any(_is_message(item) for item in sampled(found)):
            yield {}, found
            return
    for value in values:
        messages = list_of(value.get("messages"))
        if any(_is_message(item) for item in sampled(messages)):
            yield value, messages


def _read(messages: Sequence[Any]) -> Reading:
    read: list[Message] = []
    bad = 0
    unsent = 0
    for raw in messages:
        word = raw.get("role") if isinstance(raw, dict) else None
        if not isinstance(word, str) or word not in ROLES:
            bad += 1
            continue
        parts = raw.get("parts")
        if isinstance(parts, list):
            sent = [part for part in parts if not _is_only_shown(part)]
            unsent += len(parts) - len(sent)
            read += _of_ui(raw, word, sent)
        elif isinstance(raw.get("toolInvocations"), list):
            read += _of_ui(raw, word, [*_said(raw.get("content")), *raw["toolInvocations"]])
        else:
            read.append(_made(raw, word, ROLES[word], _content(raw.get("content"))))
    skipped = [Skipped(None, f"{counted(bad, 'message')} without a known role")] if bad else []
    notes = [f"{counted(unsent, 'part')} shown but not sent to the model: left out."]
    return Reading(read, notes if unsent else [], skipped)


def _is_only_shown(part: Any) -> bool:
    kind = part.get("type") if isinstance(part, dict) else None
    return isinstance(kind, str) and kind.startswith(_ONLY_SHOWN)


def _said(content: Any) -> list[Any]:
    return content if isinstance(content, list) else [content] if content else []


def _made(raw: dict[str, Any], word: str, role: Role, parts: Sequence[Part]) -> Message:
    return Message(
        role,
        tuple(parts),
        source_role=word,
        id=string(raw.get("id")),
        time=when(raw.get("createdAt")),
        raw=raw,
    )


def _of_ui(raw: dict[str, Any], word: str, parts: Sequence[Any]) -> list[Message]:
    """The model messages of a UI message: a step at a time, results behind their calls."""
    steps: list[list[Part]] = [[]]
    for part in parts:
        if isinstance(part, dict) and part.get("type") == "step-start":
            steps.append([])
        else:
            steps[-1] += _ui_part(part)
    if ROLES[word] is not Role.ASSISTANT:
        return [_made(raw, word, ROLES[word], [part for step in steps for part in step])]

    def make(role: Role, parts: tuple[Part, ...]) -> Message:
        return _made(raw, word, role, parts)

    return [message for step in steps for message in answered(step, in_turn=False, make=make)]


def _ui_part(part: Any) -> list[Part]:
    if not isinstance(part, dict):
        return text_parts(part)
    kind = string(part.get("type")) or ""
    if "toolCallId" not in part:
        return _part(part)
    name = string(part.get("toolName")) or kind.removeprefix("tool-")
    id = part.get("toolCallId")
    state = part.get("state")
    made = call(name, part.get("input", part.get("args", part.get("rawInput"))), id, part, kind)
    if state == "output-error":
        return [made, result(name, part.get("errorText"), id, part, kind, is_error=True)]
    if state in ("output-available", "result"):
        return [made, result(name, part.get("output", part.get("result")), id, part, kind)]
    return [made]


def _content(content: Any) -> list[Part]:
    if not isinstance(content, list):
        return text_parts(content)
    return [found for part in content for found in _part(part)]


def _part(part: Any) -> list[Part]:
    """A part of a model message, or one of a UI message that is no tool's."""
    if not isinstance(part, dict):
        return text_parts(part)
    kind = string(part.get("type")) or ""
    if kind == "text":
        return text_parts(part.get("text"))
    if kind == "reasoning":
        signed = "signature" in str(part.get("providerOptions", part.get("providerMetadata", "")))
        return [thinking(string(part.get("text")) or "", part, kind, signed=signed)]
    if kind in ("file", "image"):
        return [_file(part, kind)]
    id, name = part.get("toolCallId"), part.get("toolName")
    if kind == "tool-call":
        return [call(name, part.get("input", part.get("args")), id, part, kind)]
    if kind == "tool-result":
        return [_result(part, name, id)]
    return [opaque(part)]


def _result(part: dict[str, Any], name: Any, id: Any) -> Part:
    """The output is typed: text, json, error-text, error-json or content (a list of parts)."""
    output = object_of(part.get("output"))
    kind = string(output.get("type")) or ""
    value = output.get("value", part.get("result", part.get("output")))
    inside: list[Part] = []
    if kind == "content" and isinstance(value, list):
        inside = [found for item in value for found in _inner(item)]
        value = None
    failed = kind.startswith("error") or part.get("isError") is True
    return result(name, value, id, part, "tool-result", parts=inside, is_error=failed)


def _inner(item: Any) -> list[Part]:
    kind = item.get("type") if isinstance(item, dict) else None
    if kind == "text":
        return text_parts(item.get("text"))
    if kind in ("media", "image-data", "file-data") and isinstance(item.get("data"), str):
        return [_file(item, "file")]
    return [opaque(item)]


def _file(part: dict[str, Any], kind: str) -> Part:
    data = next((part[key] for key in ("url", "data", "image") if part.get(key)), "")
    mime = string(part.get("mediaType")) or string(part.get("mimeType"))
    text = as_text(data)
    if text.startswith(("data:", "http://", "https://")):
        found = media.from_url(text)
    else:
        found = media.from_base64(text, mime)
    return Part(
        PartKind.IMAGE
        if kind == "image" or (mime or "").startswith("image/")
        else PartKind.DOCUMENT,
        name=string(part.get("filename")),
        media=found,
        hidden=ONLY_ADDRESS if found.url else None,
        source_type=kind,
        raw=part,
    )
