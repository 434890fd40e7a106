"""LangChain messages in their three forms. See formats.md section 7.

``dumps`` writes ``{lc, type: constructor, id, kwargs}``, ``messages_to_dict`` writes
``{type, data}``, ``model_dump`` writes the members flat. Only data is made of them: no class is
ever imported by the name that stands in a file.
"""

from __future__ import annotations

from typing import Any

from stm_inspector.conversation.model import Part, PartKind, Role, Usage
from stm_inspector.formats import blocks, media, openai_parts
from stm_inspector.formats.parts import (
    AT_PROVIDER,
    ONLY_ADDRESS,
    as_text,
    first_and_rest,
    opaque,
    string,
)
from stm_inspector.formats.rewrite import Path

Data = dict[str, Any]
Piece = tuple[Path, Part]

_CLASSES = {
    "HumanMessage": "human",
    "AIMessage": "ai",
    "SystemMessage": "system",
    "ToolMessage": "tool",
    "FunctionMessage": "function",
    "ChatMessage": "chat",
    "RemoveMessage": "remove",
}
_ROLES = {
    "human": Role.USER,
    "ai": Role.ASSISTANT,
    "system": Role.SYSTEM,
    "tool": Role.TOOL,
    "function": Role.TOOL,
    "chat": Role.USER,
}
_CHAT_ROLES = {
    "assistant": Role.ASSISTANT,
    "ai": Role.ASSISTANT,
    "model": Role.ASSISTANT,
    "system": Role.SYSTEM,
    "developer": Role.DEVELOPER,
}


def type_of(value: Any) -> str | None:
    """``human``, ``ai``, …: what kind of message ``value`` is, None if it is none."""
    if not isinstance(value, dict):
        return None
    if value.get("lc") == 1 and isinstance(value.get("kwargs"), dict):
        id = value.get("id")
        name = str(id[-1]) if isinstance(id, list) and id else ""
        return _CLASSES.get(name.removesuffix("Chunk"))
    kind = value.get("type")
    if not isinstance(kind, str) or ("role" in value and kind not in ("chat", "ChatMessageChunk")):
        return None
    word = _CLASSES.get(kind.removesuffix("Chunk"), kind)
    known = word if word in _ROLES or word == "remove" else None
    if isinstance(value.get("data"), dict):
        return known
    return known if "content" in value else None


def data_of(value: Data) -> tuple[Path, Data]:
    """The members of a message and where in ``value`` they stand."""
    for key in ("kwargs", "data"):
        inner = value.get(key)
        if isinstance(inner, dict):
            return (key,), inner
    return (), value


def role_of(kind: str, data: Data) -> Role:
    """Who speaks. A speaker that the library does not know is taken for a user."""
    if kind == "chat":
        return _CHAT_ROLES.get(str(data.get("role")), Role.USER)
    more = data.get("additional_kwargs")
    if kind == "system" and isinstance(more, dict) and more.get("__openai_role__") == "developer":
        return Role.DEVELOPER
    return _ROLES[kind]


def pieces(value: Data) -> list[Piece]:
    """The parts of a message and where in ``value`` they stand; a call once, however often told."""
    before, data = data_of(value)
    kind = type_of(value)
    if kind in ("tool", "function"):
        return [((*before, "content"), _result(data, str(kind)))]
    found = _content(data.get("content"), (*before, "content"))
    found = _reasoning(data, before) + found
    ids = {part.call_id for _, part in found if part.kind is PartKind.TOOL_CALL}
    for path, part in _calls(data, before):
        if part.call_id is None or part.call_id not in ids:
            found.append((path, part))
            ids.add(part.call_id)
    return found


def copies(value: Data, part: Part) -> list[Path]:
    """Every place in ``value`` that tells of the call ``part``."""
    before, data = data_of(value)
    told = _content(data.get("content"), (*before, "content")) + _calls(data, before)
    return [
        path
        for path, other in told
        if other.kind is PartKind.TOOL_CALL and part.call_id and other.call_id == part.call_id
    ]


def usage_of(data: Data) -> Usage | None:
    """``usage_metadata``: ``input_tokens`` is the whole prompt, whatever the provider."""
    usage = data.get("usage_metadata")
    if not isinstance(usage, dict):
        return None
    details = usage.get("input_token_details")
    details = details if isinstance(details, dict) else {}
    return Usage(
        _number(usage.get("input_tokens")),
        _number(usage.get("output_tokens")),
        _number(details.get("cache_read")),
        _number(details.get("cache_creation")),
    )


def _number(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _content(content: Any, path: Path) -> list[Piece]:
    if isinstance(content, str):
        part = Part(PartKind.TEXT, content, source_type="text", raw=content)
        return [(path, part)] if content else []
    if isinstance(content, list):
        return [((*path, at), content_part(item)) for at, item in enumerate(content)]
    return [] if content is None else [(path, opaque(content))]


def content_part(item: Any) -> Part:
    """A content block: LangChain's own, OpenAI's or Anthropic's."""
    if not isinstance(item, dict):
        return openai_parts.content_part(item)
    kind = string(item.get("type")) or ""
    if kind == "reasoning":
        text = string(item.get("reasoning")) or string(item.get("text")) or ""
        return Part(PartKind.THINKING, text, source_type="reasoning", raw=item)
    if kind == "tool_call":
        return _call(item, "tool_call")
    if kind in ("image", "file", "audio", "video") and "source" not in item:
        return _standard(item, kind)
    if kind in _ANTHROPIC:
        return blocks.part_of(item)
    if kind == "input_json_delta":
        return Part(PartKind.OPAQUE, source_type="input_json_delta", raw=item)
    return openai_parts.content_part(item)


_ANTHROPIC = blocks.ONLY_HERE | {"thinking", "image", "document"}


def _standard(item: Data, kind: str) -> Part:
    """A block with ``base64``, ``url`` or ``file_id``, or of old with ``data``."""
    if kind == "file" and isinstance(item.get("file"), dict):
        return openai_parts.content_part(item)
    data = string(item.get("base64")) or string(item.get("data"))
    url = string(item.get("url"))
    type = string(item.get("mime_type"))
    found = media.from_base64(data, type) if data else media.from_url(url) if url else None
    hidden = None if data else ONLY_ADDRESS if url and found and found.url else AT_PROVIDER
    if kind in ("audio", "video"):
        return opaque(item, media=found, hidden=hidden)
    return Part(
        PartKind.IMAGE if kind == "image" else PartKind.DOCUMENT,
        name=string(item.get("filename")),
        media=found,
        hidden=None if data or (found and not found.url) else hidden,
        source_type=kind,
        raw=item,
    )


def _reasoning(data: Data, before: Path) -> list[Piece]:
    more = data.get("additional_kwargs")
    text = string(more.get("reasoning_content")) if isinstance(more, dict) else None
    if not text:
        return []
    part = Part(PartKind.THINKING, text, source_type="reasoning_content", raw=text)
    return [((*before, "additional_kwargs", "reasoning_content"), part)]


def _calls(data: Data, before: Path) -> list[Piece]:
    """The calls beside the content: parsed, unparsable, and as OpenAI sent them."""
    found: list[Piece] = []
    for key in ("tool_calls", "invalid_tool_calls"):
        calls = data.get(key)
        for at, call in enumerate(calls if isinstance(calls, list) else ()):
            found.append(((*before, key, at), _call(call, key[:-1])))
    more = data.get("additional_kwargs")
    if not isinstance(more, dict):
        return found
    parsed = {part.name for _, part in found}
    for path, part in openai_parts.calls_and_more(more):
        # Without an id, a call of the same tool is the same call.
        if part.kind is PartKind.TOOL_CALL and (part.call_id or part.name not in parsed):
            found.append(((*before, "additional_kwargs", *path), part))
    return found


def _call(call: Any, kind: str) -> Part:
    if not isinstance(call, dict):
        return opaque(call)
    return Part(
        PartKind.TOOL_CALL,
        as_text(call.get("args") if call.get("args") is not None else {}),
        name=string(call.get("name")),
        call_id=string(call.get("id")),
        source_type=kind,
        raw=call,
    )


def _result(data: Data, kind: str) -> Part:
    content = data.get("content")
    text, inside = "", tuple[Part, ...]()
    if isinstance(content, list):
        text, inside = first_and_rest([content_part(item) for item in content])
    elif content is not None:
        text = as_text(content)
    return Part(
        PartKind.TOOL_RESULT,
        text,
        name=string(data.get("name")),
        call_id=string(data.get("tool_call_id")),
        parts=inside,
        is_error=data.get("status") == "error",
        source_type=kind,
        raw=data,
    )
