"""Anthropic Messages: https://docs.claude.com/en/api/messages"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from msgspec import structs

from stm_inspector.conversation.model import Part, PartKind
from stm_inspector.formats import blocks
from stm_inspector.formats.compose.entries import Entry, Piece
from stm_inspector.formats.compose.media import is_media, looked_up
from stm_inspector.formats.compose.payload import Payload
from stm_inspector.formats.compose.target import (
    Names,
    Prepared,
    Rules,
    Target,
    Tool,
    images_in,
    in_turns,
    texts_of,
)
from stm_inspector.formats.compose.tools import arguments, schema_of

Block = dict[str, Any]


def is_own(part: Part) -> bool:
    """A block of this API, as it was read."""
    raw = part.raw
    return isinstance(raw, dict) and bool(part.source_type) and blocks.part_of(raw) == part


def body(prepared: Prepared) -> dict[str, Any]:
    """The request body."""
    found: dict[str, Any] = {"model": prepared.model} if prepared.model else {}
    found["max_tokens"] = prepared.reply_tokens
    system = [_text(piece.part.text, piece.part) for piece in prepared.system]
    if system:
        found["system"] = _shortest(system)
    if prepared.tools:
        found["tools"] = [_tool(tool) for tool in prepared.tools]
    messages = in_turns((_message(entry, prepared) for entry in prepared.entries), "content")
    found["messages"] = [
        {**message, "content": _shortest(message["content"])} for message in messages
    ]
    return found


def _tool(tool: Tool) -> Block:
    said: Block = {"name": tool.name}
    if tool.description:
        said["description"] = tool.description
    said["input_schema"] = schema_of(tool)
    return said | _mark(tool.cache_marker)


def _mark(marked: bool) -> Block:
    return {"cache_control": {"type": "ephemeral"}} if marked else {}


def _shortest(content: Sequence[Block]) -> Any:
    plain = len(content) == 1 and content[0].keys() == {"type", "text"}
    return content[0]["text"] if plain else list(content)


def _message(entry: Entry, prepared: Prepared) -> Block:
    content = [block for piece in entry.pieces for block in _blocks(piece, prepared)]
    return {"role": entry.role.value, "content": content}


def _blocks(piece: Piece, prepared: Prepared) -> list[Block]:
    part = piece.part
    # A client's result is named after its call by now; no block of this API is.
    name = None if part.kind is PartKind.TOOL_RESULT else part.name
    if prepared.is_own is not None and prepared.is_own(structs.replace(part, name=name)):
        return [part.raw]
    if part.kind is PartKind.TEXT:
        return [_text(part.text, part)]
    if part.kind is PartKind.TOOL_CALL:
        call = {"type": "tool_use", "id": part.call_id, "name": part.name}
        return [{**call, "input": arguments(part), **_mark(part.cache_marker)}]
    if part.kind is PartKind.TOOL_RESULT:
        return [_result(piece, prepared)]
    if part.kind is PartKind.THINKING:
        prepared.losses.add(
            "thinking block", "left out: only the provider can sign it", piece.index
        )
        return []
    return _media(piece, prepared)


def _text(text: str, part: Part) -> Block:
    return {"type": "text", "text": text, **_mark(part.cache_marker)}


def _result(piece: Piece, prepared: Prepared) -> Block:
    part = piece.part
    content: list[Block] = [{"type": "text", "text": text} for text in texts_of(part) if text]
    content += _all_media((Piece(i, piece.index) for i in images_in(part)), prepared)
    result: Block = {"type": "tool_result", "tool_use_id": part.call_id}
    result["content"] = _shortest(content) if content else ""
    if part.is_error:
        result["is_error"] = True
    return result | _mark(part.cache_marker)


def _all_media(pieces: Iterable[Piece], prepared: Prepared) -> list[Block]:
    return [block for piece in pieces for block in _media(piece, prepared)]


def _media(piece: Piece, prepared: Prepared) -> list[Block]:
    if not is_media(piece):
        return []
    part = piece.part
    found = looked_up(piece, prepared.losses)
    if isinstance(found, list):
        return [_text(text, part) for text in found]
    kind = "image" if part.kind is PartKind.IMAGE else "document"
    named = {"title": part.name} if part.name and kind == "document" else {}
    return [{"type": kind, "source": _source(found), **named, **_mark(part.cache_marker)}]


def _source(payload: Payload) -> Block:
    if payload.url:
        return {"type": "url", "url": payload.url}
    return {"type": "base64", "media_type": payload.media_type, "data": payload.data}


TARGET = Target(
    "anthropic-messages",
    "Anthropic Messages",
    Rules(
        alternates=True,
        system_first=True,
        cache_markers=True,
        errors=True,
        tool_names=Names(r"a-zA-Z0-9_\-", 128),
        ids=Names(r"a-zA-Z0-9_\-", 64),
    ),
    body,
    is_own,
)
