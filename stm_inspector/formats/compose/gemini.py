"""Gemini generateContent: https://ai.google.dev/api/generate-content"""

from __future__ import annotations

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
    in_turns,
    texts_of,
)
from stm_inspector.formats.compose.tools import arguments, schema_of

Item = dict[str, Any]


def body(prepared: Prepared) -> Item:
    """The request body. The model stands in the address, so not here."""
    found: Item = {}
    if prepared.system:
        parts = [{"text": piece.part.text} for piece in prepared.system]
        found["systemInstruction"] = {"parts": parts}
    if prepared.tools:
        declared = [_tool(tool) for tool in prepared.tools]
        found["tools"] = [{"functionDeclarations": declared}]
    found["generationConfig"] = {"maxOutputTokens": prepared.reply_tokens}
    contents = in_turns((_content(entry, prepared) for entry in prepared.entries), "parts")
    return {**found, "contents": contents}


def _tool(tool: Tool) -> Item:
    said: Item = {"name": tool.name}
    if tool.description:
        said["description"] = tool.description
    return {**said, "parametersJsonSchema": schema_of(tool)}


def _content(entry: Entry, prepared: Prepared) -> Item:
    role = "model" if entry.role is Role.ASSISTANT else "user"
    return {"role": role, "parts": [p for piece in entry.pieces for p in _parts(piece, prepared)]}


def _parts(piece: Piece, prepared: Prepared) -> list[Item]:
    part = piece.part
    if part.kind is PartKind.TEXT:
        return [{"text": part.text}]
    if part.kind is PartKind.THINKING:
        return _thought(piece, prepared)
    if part.kind is PartKind.TOOL_CALL:
        call: Item = {"name": part.name, "args": arguments(part)}
        return [{"functionCall": _with_id(part, call)}]
    if part.kind is PartKind.TOOL_RESULT:
        return _result(piece, prepared)
    return _media(piece, prepared)


def _with_id(part: Part, value: Item) -> Item:
    return {"id": part.call_id, **value} if part.call_id else value


def _thought(piece: Piece, prepared: Prepared) -> list[Item]:
    part = piece.part
    if not part.text:
        prepared.losses.add("thinking block", f"left out: {part.hidden or 'empty'}", piece.index)
        return []
    if part.signed:
        prepared.losses.add("thinking signature", "left out", piece.index)
    return [{"text": part.text, "thought": True}]


def _result(piece: Piece, prepared: Prepared) -> list[Item]:
    """The response, which has to be an object, and the pictures in it behind it.

    The keys are those that the reference names for a function that returns no object.
    """
    part = piece.part
    texts = texts_of(part)
    key = "error" if part.is_error else "output"
    response = {key: texts[0] if len(texts) == 1 else "\n".join(texts)}
    found = [{"functionResponse": _with_id(part, {"name": part.name, "response": response})}]
    for inner in images_in(part):
        found += _media(Piece(inner, piece.index), prepared)
    return found


def _media(piece: Piece, prepared: Prepared) -> list[Item]:
    if not is_media(piece):
        return []
    found = looked_up(piece, prepared.losses)
    if isinstance(found, list):
        return [{"text": text} for text in found]
    if found.url:
        return [{"fileData": {"mimeType": found.media_type, "fileUri": found.url}}]
    return [{"inlineData": {"mimeType": found.media_type, "data": found.data}}]


TARGET = Target(
    "gemini",
    "Gemini",
    Rules(
        alternates=True,
        system_first=True,
        errors=True,
        tool_names=Names(r"a-zA-Z0-9_.:\-", 64),
        ids=None,
        unique_ids=False,
    ),
    body,
    names_model=False,
)
