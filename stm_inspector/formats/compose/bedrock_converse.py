"""Bedrock Converse: https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_Converse.html"""

from __future__ import annotations

import re
from typing import Any

from stm_inspector.conversation.model import Part, PartKind
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

Block = dict[str, Any]

_PICTURES = ("png", "jpeg", "gif", "webp")
_FILES = {
    "application/pdf": "pdf",
    "text/csv": "csv",
    "application/msword": "doc",
    "application/vnd.openxmlformats-officedocument.wordprocessingml.document": "docx",
    "application/vnd.ms-excel": "xls",
    "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet": "xlsx",
    "text/html": "html",
    "text/plain": "txt",
    "text/markdown": "md",
}
_CACHE_POINT = {"cachePoint": {"type": "default"}}


def body(prepared: Prepared) -> Block:
    """The request body. The model stands in the address, so not here."""
    found: Block = {}
    if prepared.system:
        found["system"] = [b for p in prepared.system for b in _marked(p.part, _text(p))]
    calls = any(entry.has(PartKind.TOOL_CALL) for entry in prepared.entries)
    if prepared.tools:
        found["toolConfig"] = {"tools": [b for tool in prepared.tools for b in _tool(tool)]}
    elif calls:
        prepared.losses.say(
            "No tool is defined in this conversation: Converse refuses calls without toolConfig."
        )
    found["inferenceConfig"] = {"maxTokens": prepared.reply_tokens}
    messages = in_turns((_message(entry, prepared) for entry in prepared.entries), "content")
    return {**found, "messages": messages}


def _tool(tool: Tool) -> list[Block]:
    said: Block = {"name": tool.name}
    if tool.description:
        said["description"] = tool.description
    spec = {"toolSpec": {**said, "inputSchema": {"json": schema_of(tool)}}}
    return [spec, _CACHE_POINT] if tool.cache_marker else [spec]


def _message(entry: Entry, prepared: Prepared) -> Block:
    content = [
        block for piece in entry.pieces for block in _marked(piece.part, _blocks(piece, prepared))
    ]
    return {"role": entry.role.value, "content": content}


def _marked(part: Part, blocks: list[Block]) -> list[Block]:
    return [*blocks, _CACHE_POINT] if part.cache_marker and blocks else blocks


def _text(piece: Piece) -> list[Block]:
    return [{"text": piece.part.text}]


def _blocks(piece: Piece, prepared: Prepared) -> list[Block]:
    part = piece.part
    if part.kind is PartKind.TEXT:
        return _text(piece)
    if part.kind is PartKind.TOOL_CALL:
        call = {"toolUseId": part.call_id, "name": part.name, "input": arguments(part)}
        return [{"toolUse": call}]
    if part.kind is PartKind.TOOL_RESULT:
        return [_result(piece, prepared)]
    if part.kind is PartKind.THINKING:
        prepared.losses.add(
            "thinking block", "left out: only the provider can sign it", piece.index
        )
        return []
    return _media(piece, prepared)


def _result(piece: Piece, prepared: Prepared) -> Block:
    part = piece.part
    content: list[Block] = [{"text": text} for text in texts_of(part) if text]
    for inner in images_in(part):
        content += _media(Piece(inner, piece.index), prepared)
    status = "error" if part.is_error else "success"
    return {"toolResult": {"toolUseId": part.call_id, "content": content, "status": status}}


def _media(piece: Piece, prepared: Prepared) -> list[Block]:
    if not is_media(piece):
        return []
    part = piece.part
    found = looked_up(piece, prepared.losses, addresses=False)
    if isinstance(found, list):
        return [{"text": text} for text in found]
    source = {"bytes": found.data}
    if part.kind is PartKind.IMAGE and found.subtype in _PICTURES:
        return [{"image": {"format": found.subtype, "source": source}}]
    if part.kind is PartKind.DOCUMENT and found.media_type in _FILES:
        # Nothing else is allowed in a name, and no two spaces in a row.
        name = re.sub(r"[^A-Za-z0-9 ()\[\]\-]|(?<= ) ", "-", part.name or "document")[:200]
        return [{"document": {"name": name, "format": _FILES[found.media_type], "source": source}}]
    prepared.losses.add(
        f"{part.kind}", f"of the type {found.media_type[:40]} left out", piece.index
    )
    return []


TARGET = Target(
    "bedrock-converse",
    "Bedrock Converse",
    Rules(
        alternates=True,
        system_first=True,
        cache_markers=True,
        errors=True,
        tool_names=Names(r"a-zA-Z0-9_\-", 64),
        ids=Names(r"a-zA-Z0-9_.:\-", 64),
    ),
    body,
    names_model=False,
)
