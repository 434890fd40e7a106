"""Anthropic Messages: request bodies, lists of messages, logs. See formats.md section 3."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from msgspec import structs

from stm_inspector.conversation.model import Message, Part, PartKind
from stm_inspector.formats import blocks
from stm_inspector.formats.calls import Call
from stm_inspector.formats.parts import opaque, string
from stm_inspector.formats.rewrite import Changes, Path, dumps, verbatim
from stm_inspector.formats.values import Node, member
from stm_inspector.formats.wire import ROLES, Piece, Response, WireFormat

_OTHERS_ROLES = frozenset(("tool", "function", "developer"))

_OTHERS_MEMBERS = ("functions", "max_completion_tokens", "response_format", "reasoning_effort")
"""Members of a body that only OpenAI's API and its likes have."""


class AnthropicMessages(WireFormat):
    """The Messages API of Claude."""

    id = "anthropic-messages"
    title = "Anthropic Messages"
    recognised_by = (
        "tools with an input_schema, system beside the messages, blocks such as tool_use, "
        "tool_result and thinking, images with a source; with plain texts alone, the name of a "
        "Claude model."
    )
    lacks = ""
    section = "3"
    help = (
        "Reads a request body, a list of messages, a message a line, a body a line, a log of "
        "requests and responses, and a response alone. Writes what it read: body as body, list "
        "as list; of a log, the one request with its response as the last message."
    )
    fields = ("system", "tools")
    without_tools = ("tool_choice",)

    def sign(self, call: Call) -> str | None:
        body = call.body_value
        if call.body is None and call.response_value.get("type") == "message":
            return "a response of the type message"
        if "/chat/completions" in call.url:
            return None
        if call.url.endswith("/v1/messages") or "/v1/messages?" in call.url:
            return "the request went to /v1/messages"
        sign = _sign_of_tools(body.get("tools"))
        if sign or _is_others(body, call.messages):
            return sign
        plain = False
        for message in call.messages:
            sign = _sign_of_message(message)
            if sign == "":
                return None
            plain = plain or sign == "role"
            if sign and sign != "role":
                return sign
        if not plain:
            return None
        if isinstance(body.get("system"), str) or _has_type(body.get("system"), "text"):
            return "system beside the messages"
        for key in ("mcp_servers", "anthropic_version", "context_management"):
            if key in body:
                return f"{key} beside the messages"
        model = body.get("model")
        if isinstance(model, str) and model.startswith("claude"):
            return f"plain texts for the model {model[:60]}"
        return None

    def thinking(self, body: dict[str, Any]) -> bool | None:
        thinking = body.get("thinking")
        if not isinstance(thinking, dict):
            return None
        return thinking.get("type") != "disabled"

    def pieces(self, raw: dict[str, Any]) -> list[Piece]:
        return blocks.content_pieces(raw.get("content"))

    def field_pieces(self, field: str, value: Any) -> list[Piece]:
        if field == "tools" and isinstance(value, list):
            return [((at,), _definition(tool)) for at, tool in enumerate(value)]
        return [(path[1:], part) for path, part in blocks.content_pieces(value)]

    def response(self, text: str, node: Node) -> Response | None:
        content = member(text, node, "content")
        if node.value.get("type") != "message" or content is None:
            return None
        return Response(
            (f'{{"role": "assistant", "content": {verbatim(text, content)}}}',),
            blocks.usage_of(node.value.get("usage")),
            string(node.value.get("model")),
            string(node.value.get("id")),
        )

    def replaced(self, raw: dict[str, Any], text: str) -> Changes:
        return {("content",): dumps(text)}

    def result_changes(self, raw: dict[str, Any], path: Path, text: str) -> Changes:
        return blocks.result_changes(path, text)

    def dropped(self, raw: dict[str, Any], pieces: Sequence[Piece], parts: set[int]) -> Changes:
        return {pieces[part][0]: None for part in parts}

    def finished(self, messages: list[Message]) -> list[Message]:
        """Say which messages the API does not look at: those before the last compaction block.

        https://docs.claude.com/en/docs/build-with-claude/compaction
        """
        last = max(
            (at for at, message in enumerate(messages) if _is_compacted(message)), default=None
        )
        if last is None:
            return messages
        reason = f"the API reads nothing before the compaction block in message {last}"
        return [
            structs.replace(message, unused=reason)
            if at < last and not message.source_field
            else message
            for at, message in enumerate(messages)
        ]


def _is_compacted(message: Message) -> bool:
    return any(part.kind is PartKind.COMPACTION for part in message.parts)


def _definition(tool: Any) -> Part:
    if not isinstance(tool, dict):
        return opaque(tool)
    return Part(
        PartKind.TOOL_DEFINITION,
        dumps(tool),
        name=string(tool.get("name")),
        server="input_schema" not in tool,
        cache_marker="cache_control" in tool,
        source_type=string(tool.get("type")) or "custom",
        raw=tool,
    )


def _is_others(body: dict[str, Any], messages: Sequence[Any]) -> bool:
    """OpenAI's: its members, its tools, or a system message that opens the list (Anthropic's
    stands beside the list, or later in it)."""
    tools = body.get("tools")
    first = messages[0] if messages else None
    return (
        any(key in body for key in _OTHERS_MEMBERS)
        or (isinstance(tools, list) and any("function" in t for t in tools if isinstance(t, dict)))
        or (isinstance(first, dict) and first.get("role") == "system" and "system" not in body)
    )


def _sign_of_tools(tools: Any) -> str | None:
    for tool in tools if isinstance(tools, list) else ():
        if isinstance(tool, dict) and "input_schema" in tool:
            return "tools with an input_schema"
        kind = tool.get("type") if isinstance(tool, dict) else None
        # Tools of the provider are named with the day of their version: web_search_20250305.
        if isinstance(kind, str) and kind[-8:].isdigit() and kind[-9:-8] == "_":
            return f"a tool of the type {kind[:60]}"
    return None


def _sign_of_message(message: Any) -> str | None:
    """What speaks for this API; "role" if no more than that, "" if it is another's, else None."""
    if not isinstance(message, dict) or str(message.get("role")) not in ROLES:
        return None
    if str(message["role"]) in _OTHERS_ROLES or message.get("tool_calls"):
        return ""
    content = message.get("content")
    for block in content if isinstance(content, list) else ():
        sign = _sign_of_block(block)
        if sign is not None:
            return sign
    return "role" if "content" in message else None


def _sign_of_block(block: Any) -> str | None:
    if not isinstance(block, dict):
        return None
    kind = block.get("type")
    if kind is None or kind == "image_url":
        return ""
    if not isinstance(kind, str):
        return None
    if kind in blocks.ONLY_HERE or kind.endswith("_tool_result"):
        return f"blocks of the type {kind[:60]}"
    if kind == "thinking" and "signature" in block:
        return "thinking with a signature"
    if kind in ("image", "document") and isinstance(block.get("source"), dict):
        return f"{kind} blocks with a source"
    return None


def _has_type(value: Any, kind: str) -> bool:
    return (
        isinstance(value, list)
        and bool(value)
        and all(isinstance(item, dict) and item.get("type") == kind for item in value)
    )
