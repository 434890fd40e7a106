"""OpenAI Chat Completions: request bodies, lists of messages, logs. See formats.md section 1."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from stm_inspector.conversation.model import Part, PartKind, Usage
from stm_inspector.formats import media
from stm_inspector.formats.calls import Call
from stm_inspector.formats.document import Node, elements, member
from stm_inspector.formats.parts import (
    AT_PROVIDER,
    ENCRYPTED,
    ONLY_ADDRESS,
    as_text,
    first_and_rest,
    opaque,
    string,
)
from stm_inspector.formats.rewrite import Changes, Path, dumps, verbatim
from stm_inspector.formats.wire import ROLES, Piece, Response, WireFormat

_REASONING = ("reasoning_content", "reasoning", "reasoning_details")
"""No standard: DeepSeek; OpenRouter, Groq, Cerebras; OpenRouter, Snowflake."""

_BESIDE_CONTENT = (*_REASONING, "refusal", "audio", "tool_calls", "function_call")

_OTHERS_PARTS = frozenset(("tool-call", "tool-result", "input_text", "output_text", "input_image"))
"""Part types of the Vercel AI SDK and of OpenAI Responses."""


class OpenAIChat(WireFormat):
    """Chat Completions and everything that speaks like it."""

    id = "openai-chat"
    title = "OpenAI Chat Completions"
    recognised_by = (
        "Messages with a role, and tool_calls, the role tool, tools[].function or image_url parts; "
        "also plain texts where nothing speaks for another format."
    )
    lacks = ""
    section = "1"
    help = (
        "Reads a request body, a list of messages, a message a line, a body a line, a log of "
        "requests and responses, and a response alone. Writes what it read: body as body, list "
        "as list; of a log, the one request with its response as the last message."
    )
    fields = ("tools", "functions")
    without_tools = ("tool_choice", "parallel_tool_calls", "function_call")

    def sign(self, call: Call) -> str | None:
        body = call.body_value
        if "/chat/completions" in call.url:
            return "the request went to /chat/completions"
        if call.body is None and "choices" in call.response_value:
            return "a response with choices"
        if isinstance(body.get("functions"), list) or _has_function(body.get("tools")):
            return "tools with a function"
        plain = False
        for message in call.messages:
            sign = _sign_of_message(message)
            if sign == "":
                return None
            plain = plain or sign == "role"
            if sign and sign != "role":
                return sign
        return "messages with a role and nothing that speaks for another format" if plain else None

    def thinking(self, body: dict[str, Any]) -> bool | None:
        effort = body.get("reasoning_effort", body.get("reasoning"))
        if isinstance(effort, dict):
            effort = effort.get("effort", effort.get("enabled"))
        return None if effort is None else effort not in ("none", False)

    def pieces(self, raw: dict[str, Any]) -> list[Piece]:
        content = raw.get("content")
        if raw.get("role") in ("tool", "function"):
            return [(("content",), _result(raw, content))]
        pieces: list[Piece] = []
        reasoning = _reasoning(raw)
        if reasoning is not None:
            pieces.append((("reasoning",), reasoning))
        if isinstance(content, str):
            if content:
                part = Part(PartKind.TEXT, content, source_type="text", raw=content)
                pieces.append((("content",), part))
        elif isinstance(content, list):
            pieces += [(("content", at), _content_part(item)) for at, item in enumerate(content)]
        elif content is not None:
            pieces.append((("content",), opaque(content)))
        if raw.keys() & _BESIDE:
            pieces += _calls_and_more(raw)
        return pieces

    def field_pieces(self, field: str, value: Any) -> list[Piece]:
        if not isinstance(value, list):
            return [((), opaque(value))]
        return [((at,), _definition(tool)) for at, tool in enumerate(value)]

    def response(self, text: str, node: Node) -> Response | None:
        value = node.value
        choices = member(text, node, "choices")
        for choice in elements(text, choices) if choices else ():
            message = member(text, choice, "message")
            if message is not None and isinstance(message.value, dict):
                return Response(
                    verbatim(text, message),
                    _usage(value.get("usage")),
                    string(value.get("model")),
                    string(value.get("id")),
                )
        return None

    def replaced(self, raw: dict[str, Any], text: str) -> Changes:
        changes: dict[Path, str | None] = {("content",): dumps(text)}
        return changes | {(key,): None for key in _BESIDE_CONTENT if key in raw}

    def result_changes(self, raw: dict[str, Any], path: Path, text: str) -> Changes:
        return {path: dumps(text)}

    def dropped(self, raw: dict[str, Any], pieces: Sequence[Piece], parts: set[int]) -> Changes:
        changes: dict[Path, str | None] = {}
        for part in parts:
            path = pieces[part][0]
            if path == ("reasoning",):
                changes |= {(key,): None for key in _REASONING if key in raw}
            else:
                changes[path] = None
        left = {pieces[at][0][0] for at in range(len(pieces)) if at not in parts}
        for key in ("content", "tool_calls"):
            if any(path[0] == key for path in changes) and key not in left:
                changes = {path: new for path, new in changes.items() if path[0] != key}
                changes[(key,)] = None
        if left.isdisjoint(("tool_calls", "function_call")) and "content" not in left:
            # The API takes an assistant message without content only where it calls a tool.
            changes[("content",)] = '""'
        return changes


_BESIDE = frozenset(("refusal", "audio", "tool_calls", "function_call"))


def _sign_of_message(message: Any) -> str | None:
    """What speaks for this API; "role" if no more than that, "" if it is another's, else None."""
    if not isinstance(message, dict) or str(message.get("role")) not in ROLES:
        return None
    if message.get("tool_calls") or message.get("function_call"):
        return "tool calls beside the content"
    if message["role"] in ("tool", "function"):
        return "messages with the role tool"
    content = message.get("content")
    if "parts" in message and content is None:
        return ""
    for part in content if isinstance(content, list) else ():
        if isinstance(part, dict):
            kind = part.get("type")
            if kind is None or str(kind) in _OTHERS_PARTS:
                return ""
            if kind == "image_url":
                return "parts of the type image_url"
    return "role" if "content" in message else None


def _has_function(tools: Any) -> bool:
    return isinstance(tools, list) and any(
        isinstance(tool, dict) and isinstance(tool.get("function"), dict) for tool in tools
    )


def _definition(tool: Any) -> Part:
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


def _result(raw: dict[str, Any], content: Any) -> Part:
    text, inside = "", tuple[Part, ...]()
    if isinstance(content, list):
        text, inside = first_and_rest([_content_part(item) for item in content])
    elif content is not None:
        text = as_text(content)
    return Part(
        PartKind.TOOL_RESULT,
        text,
        name=string(raw.get("name")),
        call_id=string(raw.get("tool_call_id")),
        parts=inside,
        cache_marker="cache_control" in raw
        or (isinstance(content, list) and any(_is_marked(item) for item in content)),
        source_type=raw["role"],
        raw=raw,
    )


def _is_marked(part: Any) -> bool:
    return isinstance(part, dict) and "cache_control" in part


def _reasoning(raw: dict[str, Any]) -> Part | None:
    """The thinking of a message: one part, however many members say it."""
    if "reasoning_content" not in raw and "reasoning" not in raw and "reasoning_details" not in raw:
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
        source_type=next(key for key in _REASONING if raw.get(key)),
        raw={key: raw[key] for key in _REASONING if key in raw},
    )


def _calls_and_more(raw: dict[str, Any]) -> list[Piece]:
    pieces: list[Piece] = []
    if isinstance(raw.get("refusal"), str) and raw["refusal"]:
        refusal = Part(PartKind.TEXT, raw["refusal"], source_type="refusal", raw=raw["refusal"])
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
            PartKind.TOOL_CALL,
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
        PartKind.TOOL_CALL,
        as_text(inner.get("arguments", inner.get("input", ""))),
        name=string(inner.get("name")),
        call_id=string(call.get("id")),
        source_type=kind,
        raw=call,
    )


def _content_part(item: Any) -> Part:
    """A part of a content list."""
    if isinstance(item, str):
        return Part(PartKind.TEXT, item, source_type="text", raw=item)
    if not isinstance(item, dict):
        return opaque(item)
    kind = string(item.get("type")) or ""
    marked = "cache_control" in item
    if kind in ("text", "refusal") and isinstance(item.get(kind), str):
        return Part(PartKind.TEXT, item[kind], cache_marker=marked, source_type=kind, raw=item)
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


def _usage(usage: Any) -> Usage | None:
    """Cached tokens are part of ``prompt_tokens`` at every provider that speaks this API."""
    if not isinstance(usage, dict):
        return None
    details = usage.get("prompt_tokens_details")
    details = details if isinstance(details, dict) else {}
    cached = (
        details.get("cached_tokens"),
        usage.get("prompt_cache_hit_tokens"),
        usage.get("num_cached_tokens"),
        usage.get("cached_tokens"),
    )
    return Usage(
        input=_number(usage.get("prompt_tokens")),
        output=_number(usage.get("completion_tokens")),
        cache_read=next((found for n in cached if (found := _number(n)) is not None), None),
        cache_write=_number(details.get("cache_write_tokens")),
    )


def _number(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None
