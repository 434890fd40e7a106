"""Chat Completions: https://platform.openai.com/docs/api-reference/chat/create"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from stm_inspector.conversation.model import Part, PartKind, Role
from stm_inspector.formats.compose.entries import Entry, Piece
from stm_inspector.formats.compose.media import is_media, looked_up
from stm_inspector.formats.compose.target import (
    Names,
    Prepared,
    Rules,
    Target,
    Tool,
    images_in,
    texts_of,
)
from stm_inspector.formats.compose.text import as_string
from stm_inspector.formats.compose.tools import CUSTOM


def body(prepared: Prepared) -> dict[str, Any]:
    """The request body."""
    found: dict[str, Any] = {"model": prepared.model} if prepared.model else {}
    found["max_completion_tokens"] = prepared.reply_tokens
    if prepared.tools:
        found["tools"] = [_tool(tool) for tool in prepared.tools]
    found["messages"] = [
        message for entry in prepared.entries for message in _messages(entry, prepared)
    ]
    return found


def _tool(tool: Tool) -> dict[str, Any]:
    said = {"name": tool.name}
    if tool.description:
        said["description"] = tool.description
    if tool.schema is None:
        return {"type": "custom", "custom": {**said, "format": tool.free}}
    return {"type": "function", "function": {**said, "parameters": tool.schema}}


def _messages(entry: Entry, prepared: Prepared) -> list[dict[str, Any]]:
    if entry.role is Role.TOOL:
        return _results(entry.pieces, prepared)
    message: dict[str, Any] = {"role": entry.role.value}
    if entry.name:
        message["name"] = entry.name
    calls = [piece for piece in entry.pieces if piece.part.kind is PartKind.TOOL_CALL]
    parts = [part for piece in entry.pieces for part in _content(piece, entry.role, prepared)]
    message["content"] = _shortest(parts) if parts or not calls else None
    if calls:
        message["tool_calls"] = [_call(piece.part) for piece in calls]
    return [message]


def _shortest(parts: Sequence[dict[str, Any]]) -> Any:
    if not parts:
        return ""
    return parts[0]["text"] if len(parts) == 1 and "text" in parts[0] else list(parts)


def _call(part: Part) -> dict[str, Any]:
    if part.source_type in CUSTOM:
        inner = {"name": part.name, "input": part.text}
        return {"id": part.call_id, "type": "custom", "custom": inner}
    function = {"name": part.name, "arguments": as_string(part.text)}
    return {"id": part.call_id, "type": "function", "function": function}


def _results(pieces: Sequence[Piece], prepared: Prepared) -> list[dict[str, Any]]:
    """A message for each result; pictures follow in one of the user's: results hold text only."""
    messages: list[dict[str, Any]] = []
    pictures: list[dict[str, Any]] = []
    for piece in pieces:
        texts = [{"type": "text", "text": text} for text in texts_of(piece.part)]
        messages.append(
            {
                "role": "tool",
                "tool_call_id": piece.part.call_id,
                "content": _shortest(texts),
            }
        )
        for inner in images_in(piece.part):
            found = _media(Piece(inner, piece.index), prepared)
            if found:
                pictures += found
                prepared.losses.add(
                    "picture or file of a result",
                    "put into a user message behind it",
                    piece.index,
                    "pictures or files of results",
                )
    if pictures:
        messages.append({"role": "user", "content": pictures})
    return messages


def _content(piece: Piece, role: Role, prepared: Prepared) -> list[dict[str, Any]]:
    part = piece.part
    if part.kind is PartKind.TEXT:
        return [{"type": "text", "text": part.text}]
    if part.kind is PartKind.THINKING:
        prepared.losses.add(
            "thinking block", "left out: Chat Completions takes none back", piece.index
        )
        return []
    if is_media(piece):
        found = _media(piece, prepared)
        if found and role is not Role.USER and found[0]["type"] != "text":
            prepared.losses.add("picture or file", f"of the {role} left out", piece.index)
            return []
        return found
    return []


def _media(piece: Piece, prepared: Prepared) -> list[dict[str, Any]]:
    part = piece.part
    # Files are taken as data only, pictures by their address as well.
    addresses = part.kind is PartKind.IMAGE
    found = looked_up(piece, prepared.losses, addresses=addresses)
    if isinstance(found, list):
        return [{"type": "text", "text": text} for text in found]
    if part.kind is PartKind.DOCUMENT:
        file = {"filename": part.name or "document.pdf", "file_data": found.address}
        return [{"type": "file", "file": file}]
    image = {"url": found.address}
    if part.media and part.media.detail:
        image["detail"] = part.media.detail
    return [{"type": "image_url", "image_url": image}]


TARGET = Target(
    "openai-chat",
    "OpenAI Chat Completions",
    Rules(
        empty_texts=True,
        speakers=True,
        unique_ids=False,
        ids=Names(r"\x20-\x7e", 40),
    ),
    body,
)
