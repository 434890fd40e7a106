"""Semantic Kernel chat histories. See formats.md section 19."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from typing import Any

from stm_inspector.conversation.model import Message, Part, PartKind, Skipped
from stm_inspector.formats import media
from stm_inspector.formats.document import Document
from stm_inspector.formats.parts import ONLY_ADDRESS, counted, opaque, string
from stm_inspector.formats.transcript import (
    Reading,
    Talk,
    TranscriptFormat,
    call,
    list_of,
    lists,
    objects,
    result,
    sampled,
    some_objects,
    system_message,
    text_parts,
    thinking,
)
from stm_inspector.formats.wire import ROLES


class SemanticKernel(TranscriptFormat):
    """What ``ChatHistory.serialize`` writes."""

    id = "semantic-kernel"
    title = "Semantic Kernel chat history"
    recognised_by = "Messages with items that have a content_type."
    lacks = "Tool definitions, times and token counts."
    section = "19"
    help = (
        "Reads messages with their items: texts, function calls and results, images, reasoning. "
        "Writes an OpenAI Chat request body."
    )
    not_here = ("Tool definitions are not in a chat history.",)

    def detect(self, document: Document) -> str | None:
        found = next(_histories(document, some_objects(document)), None) is not None
        return "messages with items that have a content_type" if found else None

    def talks(self, document: Document) -> Sequence[Talk]:
        return [
            Talk(partial(_read, value, messages), "", _model(messages))
            for value, messages in _histories(document, objects(document))
        ]


def _is_message(value: Any) -> bool:
    return (
        isinstance(value, dict)
        and isinstance(value.get("role"), str)
        and any(isinstance(i, dict) and "content_type" in i for i in list_of(value.get("items")))
    )


def _histories(
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


def _model(messages: Sequence[Any]) -> str | None:
    named = [string(raw.get("ai_model_id")) for raw in messages if isinstance(raw, dict)]
    return next((name for name in reversed(named) if name), None)


def _read(value: dict[str, Any], messages: Sequence[Any]) -> Reading:
    read = [_message(raw) for raw in messages]
    bad = sum(message is None for message in read)
    skipped = [Skipped(None, f"{counted(bad, 'message')} without a known role")] if bad else []
    said = [message for message in read if message is not None]
    system = system_message(string(value.get("system_message")), "system_message")
    if any(message.source_role == "system" for message in said):
        system = []
    return Reading([*system, *said] if said else [], skipped=skipped)


def _message(raw: Any) -> Message | None:
    word = raw.get("role") if isinstance(raw, dict) else None
    if not isinstance(word, str) or word not in ROLES:
        return None
    items = raw.get("items")
    if isinstance(items, list):
        parts = [part for item in items for part in _item(item)]
    else:
        parts = text_parts(raw.get("content"))
    return Message(
        ROLES[word],
        tuple(parts),
        source_role=word,
        name=string(raw.get("name")),
        model=string(raw.get("ai_model_id")),
        raw=raw,
    )


def _item(item: Any) -> list[Part]:
    if not isinstance(item, dict):
        return text_parts(item)
    kind = string(item.get("content_type")) or ""
    if kind in ("text", "streaming_text") and isinstance(item.get("text"), str):
        return text_parts(item["text"])
    if kind in ("reasoning", "streaming_reasoning"):
        return [thinking(string(item.get("text")) or "", item, "reasoning")]
    name = item.get("name") or item.get("function_name")
    if kind == "function_call":
        return [call(name, item.get("arguments"), item.get("id"), item, kind)]
    if kind == "function_result":
        return [result(name, item.get("result"), item.get("id"), item, kind)]
    if kind == "image":
        address = string(item.get("data_uri")) or string(item.get("uri")) or ""
        data = string(item.get("data"))
        found = (
            media.from_base64(data, string(item.get("mime_type")))
            if data and not address
            else media.from_url(address)
        )
        hidden = ONLY_ADDRESS if found.url is not None else None
        return [Part(PartKind.IMAGE, media=found, hidden=hidden, source_type=kind, raw=item)]
    return [opaque(item)]
