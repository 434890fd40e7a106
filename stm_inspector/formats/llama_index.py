"""LlamaIndex: chat messages, chat stores and memory buffers. See formats.md section 18."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from typing import Any

from stm_inspector.conversation.model import Message, Part, PartKind, Role, Skipped
from stm_inspector.formats import media
from stm_inspector.formats.document import Document
from stm_inspector.formats.parts import ONLY_ADDRESS, counted, first_and_rest, opaque, string
from stm_inspector.formats.transcript import (
    Reading,
    Talk,
    TranscriptFormat,
    call,
    list_of,
    lists,
    number,
    object_of,
    objects,
    result,
    sampled,
    some_objects,
    text_parts,
    thinking,
)
from stm_inspector.formats.wire import ROLES

_ROLES = {**ROLES, "chatbot": Role.ASSISTANT, "model": Role.ASSISTANT}


class LlamaIndex(TranscriptFormat):
    """What ``ChatMessage.model_dump``, a chat store or a memory buffer writes."""

    id = "llama-index"
    title = "LlamaIndex messages or chat store"
    recognised_by = "Messages with blocks and additional_kwargs, bare or in a store."
    lacks = "Tool definitions, model and token counts; the buffer's token limit is not applied."
    section = "18"
    help = (
        "Reads a list of messages, and each key of a SimpleChatStore or ChatMemoryBuffer as a "
        "conversation. Calls that stand both in a block and in additional_kwargs count once. "
        "Writes an OpenAI Chat request body."
    )
    not_here = ("Tool definitions and the model are not in what LlamaIndex stores.",)

    def detect(self, document: Document) -> str | None:
        found = list(_conversations(document, some_objects(document)))
        if not found:
            return None
        stored = sum(1 for name, _, _ in found if name)
        if stored:
            return f"a store with {counted(stored, 'conversation')} of messages with blocks"
        return "messages with additional_kwargs"

    def talks(self, document: Document) -> Sequence[Talk]:
        return [
            Talk(partial(_read, messages, notes), name)
            for name, messages, notes in _conversations(document, objects(document))
        ]


def _is_message(value: Any) -> bool:
    return (
        isinstance(value, dict)
        and isinstance(value.get("role"), str)
        and "type" not in value  # LangChain
        and isinstance(value.get("additional_kwargs"), dict)
        and ("blocks" in value or "content" in value)
    )


def _conversations(
    document: Document, values: Iterable[dict[str, Any]]
) -> Iterator[tuple[str, list[Any], list[str]]]:
    """Name, messages and notes of each conversation."""
    for found in lists(document):
        if any(_is_message(item) for item in sampled(found)):
            yield "", found, []
    for value in values:
        store = object_of(value.get("chat_store", value)).get("store")
        limit = number(value.get("token_limit"))
        notes = []
        if limit is not None:
            notes.append(
                f"The memory buffer sends at most {limit:,} tokens of this: the file holds more "
                "than the model saw where it is longer."
            )
        for name, messages in object_of(store).items():
            if any(_is_message(item) for item in sampled(list_of(messages))):
                yield name, messages, notes


def _read(messages: Sequence[Any], notes: Sequence[str]) -> Reading:
    read = [_message(raw) for raw in messages]
    bad = sum(message is None for message in read)
    skipped = [Skipped(None, f"{counted(bad, 'message')} without a known role")] if bad else []
    return Reading([message for message in read if message is not None], notes, skipped)


def _message(raw: Any) -> Message | None:
    word = raw.get("role") if isinstance(raw, dict) else None
    role = _ROLES.get(word) if isinstance(word, str) else None
    if role is None or not isinstance(word, str):
        return None
    more = object_of(raw.get("additional_kwargs"))
    blocks = raw.get("blocks")
    if isinstance(blocks, list):
        parts = [part for block in blocks for part in _block(block)]
    else:
        parts = text_parts(raw.get("content"))
    if role is Role.TOOL:
        text, rest = first_and_rest(parts)
        parts = [result(more.get("name"), text, more.get("tool_call_id"), raw, word, parts=rest)]
    else:
        made = {part.call_id for part in parts if part.kind is PartKind.TOOL_CALL}
        parts += [
            part
            for item in list_of(more.get("tool_calls"))
            if (part := _legacy(item)).call_id not in made or not part.call_id
        ]
    return Message(role, tuple(parts), source_role=word, raw=raw)


def _legacy(item: Any) -> Part:
    """A call in the shape of OpenAI, beside the blocks."""
    if not isinstance(item, dict):
        return opaque(item)
    inner = object_of(item.get("function")) or item
    return call(inner.get("name"), inner.get("arguments"), item.get("id"), item, "function")


def _block(block: Any) -> list[Part]:
    if not isinstance(block, dict):
        return text_parts(block)
    kind = block.get("block_type")
    if kind == "text":
        return text_parts(block.get("text"))
    if kind == "thinking":
        return [thinking(string(block.get("content")) or "", block)]
    if kind == "tool_call":
        name, made = block.get("tool_name"), block.get("tool_kwargs")
        return [call(name, made, block.get("tool_call_id"), block)]
    if kind in ("image", "document"):
        return [_media(block, kind)]
    return [opaque(block)]


def _media(block: dict[str, Any], kind: str) -> Part:
    data = string(block.get("image")) or string(block.get("data"))
    address = string(block.get("url")) or string(block.get("path"))
    mimetype = string(block.get("image_mimetype")) or string(block.get("document_mimetype"))
    found = media.from_base64(data, mimetype) if data else media.from_url(address or "")
    return Part(
        PartKind.IMAGE if kind == "image" else PartKind.DOCUMENT,
        name=string(block.get("title")),
        media=found,
        hidden=None if data else ONLY_ADDRESS,
        source_type=kind,
        raw=block,
    )
