"""OpenAI Chat Completions: request bodies, lists of messages, logs. See formats.md section 1."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from stm_inspector.conversation.model import Part, PartKind, Usage
from stm_inspector.formats import openai_parts
from stm_inspector.formats.calls import Call
from stm_inspector.formats.openai_parts import REASONING
from stm_inspector.formats.parts import opaque, string
from stm_inspector.formats.rewrite import Changes, Path, dumps, verbatim
from stm_inspector.formats.values import Node, elements, member
from stm_inspector.formats.wire import ROLES, Piece, Response, WireFormat, is_bare

_BESIDE_CONTENT = (*REASONING, "refusal", "audio", "tool_calls", "function_call")

_TEXT = PartKind.TEXT

_TOOLS = frozenset(("tool", "function"))
"""Roles of the messages that are a tool's result."""

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
    fields: tuple[str, ...] = ("tools", "functions")
    without_tools: tuple[str, ...] = ("tool_choice", "parallel_tool_calls", "function_call")

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
        if raw.get("role") in _TOOLS:
            return [(("content",), openai_parts.result(raw, content))]
        pieces: list[Piece] = []
        reasoning = openai_parts.reasoning(raw)
        if reasoning is not None:
            pieces.append((("reasoning",), reasoning))
        if isinstance(content, str):
            if content:
                part = Part(_TEXT, content, source_type="text", raw=content)
                pieces.append((("content",), part))
        elif isinstance(content, list):
            pieces += [
                (("content", at), openai_parts.content_part(item))
                for at, item in enumerate(content)
            ]
        elif content is not None:
            pieces.append((("content",), opaque(content)))
        if not _BESIDE.isdisjoint(raw):
            pieces += openai_parts.calls_and_more(raw)
        return pieces

    def parts(self, raw: dict[str, Any]) -> tuple[Part, ...]:
        content = raw.get("content")
        if raw["role"] in _TOOLS:
            return (openai_parts.result(raw, content),)
        if content and isinstance(content, str) and _MORE.isdisjoint(raw):
            return (Part(_TEXT, content, source_type="text", raw=content),)
        return super().parts(raw)

    def field_pieces(self, field: str, value: Any) -> list[Piece]:
        if not isinstance(value, list):
            return [((), opaque(value))]
        return [((at,), openai_parts.definition(tool)) for at, tool in enumerate(value)]

    def response(self, text: str, node: Node) -> Response | None:
        value = node.value
        choices = member(text, node, "choices")
        for choice in elements(text, choices) if choices else ():
            message = member(text, choice, "message")
            if message is not None and isinstance(message.value, dict):
                return Response(
                    (verbatim(text, message),),
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
                changes |= {(key,): None for key in REASONING if key in raw}
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
_MORE = _BESIDE.union(REASONING)


_TOOL_ROLE = "messages with the role tool"


def _sign_of_message(message: Any) -> str | None:
    """What speaks for this API; "role" if no more than that, "" if it is another's, else None."""
    if not isinstance(message, dict) or str(message.get("role")) not in ROLES:
        return None
    if isinstance(message.get("content"), str) and is_bare(message):
        return _TOOL_ROLE if message["role"] in _TOOLS else "role"
    if message.get("tool_calls") or message.get("function_call"):
        return "tool calls beside the content"
    if message["role"] in _TOOLS:
        return _TOOL_ROLE
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
