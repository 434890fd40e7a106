"""LangChain messages as ``messages_to_dict`` writes and ``messages_from_dict`` reads them.

https://reference.langchain.com/python/langchain_core/messages/
"""

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
    images_in,
    texts_of,
)
from stm_inspector.formats.compose.text import INVALID_JSON
from stm_inspector.formats.compose.tools import arguments

Data = dict[str, Any]

_TYPES = {Role.SYSTEM: "system", Role.DEVELOPER: "system", Role.USER: "human", Role.ASSISTANT: "ai"}
_ANYTHING = Names(r"\s\S", 1 << 20)


def body(prepared: Prepared) -> list[Data]:
    """The list of messages."""
    for tool in prepared.tools:
        prepared.losses.add(
            "tool definition", "left out: a list of LangChain messages holds none", tool.index
        )
    return [
        {"type": data["type"], "data": data}
        for entry in prepared.entries
        for data in _messages(entry, prepared)
    ]


def _messages(entry: Entry, prepared: Prepared) -> Iterator[Data]:
    if entry.role is Role.TOOL:
        for piece in entry.pieces:
            yield _result(piece, prepared)
        return
    content = [block for piece in entry.pieces for block in _content(piece, prepared)]
    data: Data = {
        "content": _shortest(content),
        "additional_kwargs": {},
        "response_metadata": {},
        "type": _TYPES[entry.role],
        "name": entry.name,
        "id": None,
    }
    if entry.role is Role.DEVELOPER:
        # As langchain-openai marks it: a system message that the API calls the developer's.
        data["additional_kwargs"] = {"__openai_role__": "developer"}
    calls = [piece.part for piece in entry.pieces if piece.part.kind is PartKind.TOOL_CALL]
    if entry.role is Role.ASSISTANT:
        data |= _calls(calls)
    yield data


def _calls(calls: Sequence[Part]) -> Data:
    valid, invalid = [], []
    for part in calls:
        found = arguments(part)
        said = {"name": part.name, "id": part.call_id}
        if isinstance(found, dict) and INVALID_JSON in found:
            error = "The arguments are no JSON object."
            invalid.append({**said, "args": part.text, "error": error, "type": "invalid_tool_call"})
        else:
            valid.append({**said, "args": found, "type": "tool_call"})
    return {"tool_calls": valid, "invalid_tool_calls": invalid}


def _result(piece: Piece, prepared: Prepared) -> Data:
    part = piece.part
    content: list[Data] = [{"type": "text", "text": text} for text in texts_of(part)]
    for inner in images_in(part):
        content += _media(Piece(inner, piece.index), prepared)
    return {
        "content": _shortest(content),
        "additional_kwargs": {},
        "response_metadata": {},
        "type": "tool",
        "name": part.name,
        "id": None,
        "tool_call_id": part.call_id or "",
        "status": "error" if part.is_error else "success",
    }


def _shortest(content: Sequence[Data]) -> Any:
    if not content:
        return ""
    only_text = len(content) == 1 and content[0]["type"] == "text"
    return content[0]["text"] if only_text else list(content)


def _content(piece: Piece, prepared: Prepared) -> list[Data]:
    part = piece.part
    if part.kind is PartKind.TEXT:
        return [{"type": "text", "text": part.text}]
    if part.kind is PartKind.THINKING:
        if not part.text:
            reason = part.hidden or "empty"
            prepared.losses.add("thinking block", f"left out: {reason}", piece.index)
            return []
        if part.signed:
            prepared.losses.add("thinking signature", "left out", piece.index)
        return [{"type": "reasoning", "reasoning": part.text}]
    return _media(piece, prepared)


def _media(piece: Piece, prepared: Prepared) -> list[Data]:
    if not is_media(piece):
        return []
    found = looked_up(piece, prepared.losses)
    if isinstance(found, list):
        return [{"type": "text", "text": text} for text in found]
    if piece.part.kind is PartKind.IMAGE:
        return [{"type": "image_url", "image_url": {"url": found.address}}]
    if found.url:
        return [{"type": "file", "url": found.url, "mime_type": found.media_type}]
    return [{"type": "file", "base64": found.data, "mime_type": found.media_type}]


TARGET = Target(
    "langchain",
    "LangChain messages",
    Rules(
        orphans=True,
        empty_texts=True,
        speakers=True,
        errors=True,
        tool_names=_ANYTHING,
        ids=_ANYTHING,
        unique_ids=False,
    ),
    body,
    names_model=False,
)
