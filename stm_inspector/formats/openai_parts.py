"""Parts of OpenAI Chat messages. See formats.md section 1."""

from __future__ import annotations

from typing import Any

from stm_inspector.conversation.model import Part, PartKind
from stm_inspector.formats import media
from stm_inspector.formats.parts import (
    AT_PROVIDER,
    ENCRYPTED,
    ONLY_ADDRESS,
    as_text,
    first_and_rest,
    opaque,
    string,
)
from stm_inspector.formats.rewrite import Path, dumps

Piece = tuple[Path, Part]

# Python 3.11 takes longer to look a member up than to make a part of it.
_TEXT = PartKind.TEXT
_TOOL_CALL = PartKind.TOOL_CALL
_TOOL_RESULT = PartKind.TOOL_RESULT

REASONING = ("reasoning_content", "reasoning", "reasoning_details")
"""No standard: DeepSeek; OpenRouter, Groq, Cerebras; OpenRouter, Snowflake."""

_REASONING = frozenset(REASONING)


def definition(tool: Any) -> Part:
    if not isinstance(tool, dict):
        return opaque(tool)
    function = tool.get("function")
    inner = function if isinstance(function, dict) else tool
    return Part(
        PartKind.TOOL_DEFINITION,
        dumps(tool),
        name=string(inner.get("name")),
        cache_marker="cache_control" in tool,
        source_type=string(tool.get("type")) or "function",
        raw=tool,
    )


def result(raw: dict[str, Any], content: Any) -> Part:
    marked, inside = "cache_control" in raw, tuple[Part, ...]()
    if isinstance(content, str):
        text = content
    elif isinstance(content, list):
        text, inside = first_and_rest([content_part(item) for item in content])
        marked = marked or any(_is_marked(item) for item in content)
    else:
        text = "" if content is None else as_text(content)
    return Part(
        _TOOL_RESULT,
        text,
        string(raw.get("name")),
        string(raw.get("tool_call_id")),
        inside,
        cache_marker=marked,
        source_type=raw["role"],
        raw=raw,
    )


def _is_marked(part: Any) -> bool:
    return isinstance(part, dict) and "cache_control" in part


def reasoning(raw: dict[str, Any]) -> Part | None:
    """The thinking of a message: one part, however many members say it."""
    if _REASONING.isdisjoint(raw):
        return None
    details = raw.get("reasoning_details")
    steps = (
        [step for step in details if isinstance(step, dict)] if isinstance(details, list) else []
    )
    text = string(raw.get("reasoning_content")) or string(raw.get("reasoning"))
    if not text:
        text = "\n".join(
            words for step in steps if (words := string(step.get("text") or step.get("summary")))
        )
    encrypted = any(step.get("data") for step in steps)
    if not text and not encrypted:
        return None
    return Part(
        PartKind.THINKING,
        text,
        hidden=None if text else ENCRYPTED,
        signed=any(step.get("signature") for step in steps) or encrypted,
        source_type=next(key for key in REASONING if raw.get(key)),
        raw={key: raw[key] for key in REASONING if key in raw},
    )


def calls_and_more(raw: dict[str, Any]) -> list[Piece]:
    pieces: list[Piece] = []
    if isinstance(raw.get("refusal"), str) and raw["refusal"]:
        refusal = Part(_TEXT, raw["refusal"], source_type="refusal", raw=raw["refusal"])
        pieces.append((("refusal",), refusal))
    if isinstance(raw.get("audio"), dict):
        pieces.append((("audio",), opaque(raw["audio"], hidden=AT_PROVIDER)))
    calls = raw.get("tool_calls")
    if isinstance(calls, list):
        pieces += [(("tool_calls", at), _call(call)) for at, call in enumerate(calls)]
    elif calls is not None:
        pieces.append((("tool_calls",), opaque(calls)))
    legacy = raw.get("function_call")
    if isinstance(legacy, dict):
        part = Part(
            _TOOL_CALL,
            as_text(legacy.get("arguments", "")),
            name=string(legacy.get("name")),
            source_type="function_call",
            raw=legacy,
        )
        pieces.append((("function_call",), part))
    return pieces


def _call(call: Any) -> Part:
    if not isinstance(call, dict):
        return opaque(call)
    kind = string(call.get("type")) or "function"
    inner = call.get(kind) if isinstance(call.get(kind), dict) else call.get("function")
    if not isinstance(inner, dict):
        return opaque(call)
    return Part(
        _TOOL_CALL,
        as_text(inner.get("arguments", inner.get("input", ""))),
        name=string(inner.get("name")),
        call_id=string(call.get("id")),
        source_type=kind,
        raw=call,
    )


def content_part(item: Any) -> Part:
    """A part of a content list."""
    if isinstance(item, str):
        return Part(_TEXT, item, source_type="text", raw=item)
    if not isinstance(item, dict):
        return opaque(item)
    kind = string(item.get("type")) or ""
    marked = "cache_control" in item
    if kind in ("text", "refusal") and isinstance(item.get(kind), str):
        return Part(_TEXT, item[kind], cache_marker=marked, source_type=kind, raw=item)
    if kind == "thinking":
        return _thinking(item)
    if kind == "image_url":
        return _image(item, marked)
    if kind == "file" and isinstance(item.get("file"), dict):
        return _file(item, item["file"], marked)
    if kind == "input_audio" and isinstance(item.get("input_audio"), dict):
        audio = item["input_audio"]
        found = media.from_base64(as_text(audio.get("data", "")), f"audio/{audio.get('format')}")
        return opaque(item, media=found)
    if kind == "video_url":
        inner = item.get("video_url")
        url = inner.get("url") if isinstance(inner, dict) else inner
        return opaque(item, media=media.from_url(as_text(url)))
    return opaque(item)


def _thinking(item: dict[str, Any]) -> Part:
    """Mistral: thinking as a list of text parts."""
    inner = item.get("thinking")
    if isinstance(inner, list):
        inner = "\n".join(as_text(step.get("text", "")) for step in inner if isinstance(step, dict))
    text = inner if isinstance(inner, str) else ""
    signed = bool(item.get("signature"))
    return Part(PartKind.THINKING, text, signed=signed, source_type="thinking", raw=item)


def _image(item: dict[str, Any], marked: bool) -> Part:
    inner = item.get("image_url")
    url = inner.get("url") if isinstance(inner, dict) else inner
    detail = string(inner.get("detail")) if isinstance(inner, dict) else None
    if not isinstance(url, str):
        return opaque(item)
    found = media.from_url(url, detail)
    return Part(
        PartKind.IMAGE,
        media=found,
        hidden=ONLY_ADDRESS if found.url else None,
        cache_marker=marked,
        source_type="image_url",
        raw=item,
    )


def _file(item: dict[str, Any], file: dict[str, Any], marked: bool) -> Part:
    data = string(file.get("file_data"))
    return Part(
        PartKind.DOCUMENT,
        name=string(file.get("filename")) or string(file.get("file_id")),
        media=media.from_url(data) if data else None,
        hidden=None if data else AT_PROVIDER,
        cache_marker=marked,
        source_type="file",
        raw=item,
    )
