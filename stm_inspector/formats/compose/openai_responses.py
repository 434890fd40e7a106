"""OpenAI Responses: https://platform.openai.com/docs/api-reference/responses/create"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
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

Item = dict[str, Any]


def body(prepared: Prepared) -> dict[str, Any]:
    """The request body. ``store`` is off: the items are not known to the provider."""
    instructions: list[str] = []
    items: list[Item] = []
    custom: set[str | None] = set()
    for entry in prepared.entries:
        if entry.field == "system" and not items:
            instructions += [piece.part.text for piece in entry.pieces if piece.part.text]
        elif entry.role is Role.TOOL:
            items += [
                _result(piece, piece.part.call_id in custom, prepared) for piece in entry.pieces
            ]
        else:
            custom |= {p.part.call_id for p in entry.pieces if p.part.source_type in CUSTOM}
            items += _items(entry, prepared)
    found: dict[str, Any] = {"model": prepared.model} if prepared.model else {}
    found["max_output_tokens"] = prepared.reply_tokens
    found["store"] = False
    if instructions:
        found["instructions"] = "\n\n".join(instructions)
    if prepared.tools:
        found["tools"] = [_tool(tool) for tool in prepared.tools]
    return {**found, "input": items}


def _tool(tool: Tool) -> Item:
    said: Item = {"name": tool.name}
    if tool.description:
        said["description"] = tool.description
    if tool.schema is None:
        return {"type": "custom", **said, "format": tool.free}
    return {"type": "function", **said, "parameters": tool.schema, "strict": False}


def _items(entry: Entry, prepared: Prepared) -> Iterator[Item]:
    """A message for each run of content, an item for each call between."""
    run: list[Item] = []
    for piece in entry.pieces:
        if piece.part.kind is PartKind.TOOL_CALL:
            if run:
                yield _message(entry.role, run)
                run = []
            yield _call(piece.part)
        else:
            run += _content(piece, entry.role, prepared)
    if run or not entry.pieces:
        yield _message(entry.role, run)


def _message(role: Role, content: Sequence[Item]) -> Item:
    return {"type": "message", "role": role.value, "content": list(content)}


def _call(part: Part) -> Item:
    said = {"call_id": part.call_id, "name": part.name}
    if part.source_type in CUSTOM:
        return {"type": "custom_tool_call", **said, "input": part.text}
    return {"type": "function_call", **said, "arguments": as_string(part.text)}


def _result(piece: Piece, custom: bool, prepared: Prepared) -> Item:
    texts = texts_of(piece.part)
    media = [
        item
        for inner in images_in(piece.part)
        for item in _media(Piece(inner, piece.index), prepared)
    ]
    output: Any = "".join(texts)
    if media or len(texts) > 1:
        output = [{"type": "input_text", "text": text} for text in texts] + media
    kind = "custom_tool_call_output" if custom else "function_call_output"
    return {"type": kind, "call_id": piece.part.call_id, "output": output}


def _content(piece: Piece, role: Role, prepared: Prepared) -> list[Item]:
    part = piece.part
    if part.kind is PartKind.TEXT:
        kind = "output_text" if role is Role.ASSISTANT else "input_text"
        return [{"type": kind, "text": part.text}]
    if part.kind is PartKind.THINKING:
        prepared.losses.add(
            "thinking block",
            "left out: Responses takes back only reasoning that it has signed itself",
            piece.index,
        )
    elif is_media(piece):
        found = _media(piece, prepared)
        if role is not Role.ASSISTANT:
            return found
        texts = [{"type": "output_text", "text": i["text"]} for i in found if "text" in i]
        if len(texts) < len(found):
            prepared.losses.add("picture or file", "of the assistant left out", piece.index)
        return texts
    return []


def _media(piece: Piece, prepared: Prepared) -> list[Item]:
    part = piece.part
    found = looked_up(piece, prepared.losses)
    if isinstance(found, list):
        return [{"type": "input_text", "text": text} for text in found]
    if part.kind is PartKind.IMAGE:
        detail = part.media.detail if part.media and part.media.detail else "auto"
        return [{"type": "input_image", "image_url": found.address, "detail": detail}]
    if found.url:
        return [{"type": "input_file", "file_url": found.url}]
    name = part.name or "document.pdf"
    return [{"type": "input_file", "filename": name, "file_data": found.address}]


TARGET = Target(
    "openai-responses",
    "OpenAI Responses",
    Rules(empty_texts=True, ids=Names(r"\x20-\x7e", 64)),
    body,
)
