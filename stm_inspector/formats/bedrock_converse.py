"""Bedrock Converse: requests, lists of messages, logs. See formats.md section 11.

https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_Converse.html
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from msgspec import structs

from stm_inspector.conversation.model import Media, Part, PartKind, Usage
from stm_inspector.formats import media
from stm_inspector.formats.calls import Call, Shape
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
from stm_inspector.formats.values import Node, member
from stm_inspector.formats.wire import Piece, Response, WireFormat

Block = dict[str, Any]


def _is_message(value: Any) -> bool:
    return isinstance(value, dict) and isinstance(value.get("role"), str)


def _is_response(value: Any) -> bool:
    output = value.get("output") if isinstance(value, dict) else None
    return isinstance(output, dict) and isinstance(output.get("message"), dict)


class BedrockConverse(WireFormat):
    """The Converse API of Amazon Bedrock."""

    id = "bedrock-converse"
    title = "Bedrock Converse"
    recognised_by = (
        "Content blocks that are named by their key (toolUse, toolResult, reasoningContent, "
        "cachePoint) and have no type, inferenceConfig or toolConfig beside the messages."
    )
    lacks = "The model stands in the address of the request, not in its body."
    section = "11"
    help = (
        "Reads a request body, a list of messages, a message a line, a log of requests and "
        "responses, and a response alone. Writes what it read: body as body, list as list; of a "
        "log, the one request with its response as the last message."
    )
    shape = Shape(("messages",), _is_message, _is_response)
    fields = ("system", "toolConfig")

    def sign(self, call: Call) -> str | None:
        if call.url.endswith(("/converse", "/converse-stream")):
            return "the request went to /converse"
        if call.body is None and call.response is not None:
            return "a response with output.message"
        if not call.messages or not all(_is_converse(message) for message in call.messages):
            return None
        for key in ("inferenceConfig", "toolConfig", "additionalModelRequestFields"):
            if key in call.body_value:
                return f"{key} beside the messages"
        for message in call.messages:
            for block in message["content"]:
                kind = _kind(block)
                if kind not in (None, "text"):
                    return f"blocks with the key {kind}"
        return "blocks with a text and no type"

    def thinking(self, body: dict[str, Any]) -> bool | None:
        more = body.get("additionalModelRequestFields")
        thinking = more.get("thinking") if isinstance(more, dict) else None
        return thinking.get("type") != "disabled" if isinstance(thinking, dict) else None

    def pieces(self, raw: dict[str, Any]) -> list[Piece]:
        return _pieces(raw.get("content"), ("content",))

    def field_pieces(self, field: str, value: Any) -> list[Piece]:
        if field == "system":
            return _pieces(value, ())
        tools = value.get("tools") if isinstance(value, dict) else None
        if not isinstance(tools, list):
            return []
        return _marked([(("tools", at), _definition(tool)) for at, tool in enumerate(tools)])

    def response(self, text: str, node: Node) -> Response | None:
        message = member(text, member(text, node, "output"), "message")
        if message is None or not isinstance(message.value, dict):
            return None
        return Response((verbatim(text, message),), _usage(node.value.get("usage")))

    def answers(self, response: dict[str, Any]) -> int:
        return int(_is_response(response))

    def model_of(self, call: Call) -> str | None:
        asked = call.url.partition("/model/")[2].rpartition("/")[0]
        return asked.replace("%3A", ":") or string(call.body_value.get("modelId"))

    def replaced(self, raw: dict[str, Any], text: str) -> Changes:
        return {("content",): dumps([{"text": text}])}

    def replaced_field(self, field: str, text: str) -> str:
        return dumps([{"text": text}])

    def inserted(self, role: str, text: str) -> str:
        known = "assistant" if role == "assistant" else "user"
        return dumps({"role": known, "content": [{"text": text}]})

    def result_changes(self, raw: dict[str, Any], path: Path, text: str) -> Changes:
        return {(*path, "toolResult", "content"): dumps([{"text": text}])}

    def dropped(self, raw: dict[str, Any], pieces: Sequence[Piece], parts: set[int]) -> Changes:
        changes: dict[Path, str | None] = {}
        content = raw.get("content")
        for part in parts:
            path = pieces[part][0]
            changes[path] = None
            behind = int(path[-1]) + 1
            if isinstance(content, list) and _kind(_at(content, behind)) == "cachePoint":
                changes[(*path[:-1], behind)] = None
        return changes


def _at(values: Sequence[Any], place: int) -> Any:
    return values[place] if place < len(values) else None


def _is_converse(message: Any) -> bool:
    """Blocks of this API only: named by their one key, without a type."""
    return (
        isinstance(message, dict)
        and message.get("role") in ("user", "assistant")
        and isinstance(message.get("content"), list)
        and all(_kind(block) is not None for block in message["content"])
    )


def _kind(block: Any) -> str | None:
    if not isinstance(block, dict) or "type" in block:
        return None
    return next((key for key in block if key in _READERS or key in _OTHERS), None)


def _pieces(blocks: Any, before: Path) -> list[Piece]:
    if not isinstance(blocks, list):
        return [] if blocks is None else [(before, opaque(blocks))]
    return _marked([((*before, at), _part(block)) for at, block in enumerate(blocks)])


def _marked(pieces: list[Piece]) -> list[Piece]:
    """The parts without the cache points: each is a mark of what stands before it."""
    marked: list[Piece] = []
    for path, part in pieces:
        if part.source_type != "cachePoint":
            marked.append((path, part))
        elif marked:
            before, markable = marked[-1]
            marked[-1] = before, structs.replace(markable, cache_marker=True)
    return marked


def _part(block: Any) -> Part:
    kind = _kind(block)
    reader = _READERS.get(kind) if kind else None
    if reader is None or kind is None:
        return opaque(block)
    return reader(block, block[kind])


def _text(block: Block, text: Any) -> Part:
    if not isinstance(text, str):
        return opaque(block)
    return Part(PartKind.TEXT, text, source_type="text", raw=block)


def _cache_point(block: Block, _inner: Any) -> Part:
    return Part(PartKind.OPAQUE, source_type="cachePoint", raw=block)


def _tool_use(block: Block, inner: Any) -> Part:
    if not isinstance(inner, dict):
        return opaque(block)
    return Part(
        PartKind.TOOL_CALL,
        as_text(inner.get("input") if inner.get("input") is not None else {}),
        name=string(inner.get("name")),
        call_id=string(inner.get("toolUseId")),
        server=inner.get("type") == "server_tool_use",
        source_type="toolUse",
        raw=block,
    )


def _tool_result(block: Block, inner: Any) -> Part:
    if not isinstance(inner, dict):
        return opaque(block)
    content = inner.get("content")
    parts = [_result_part(item) for item in content] if isinstance(content, list) else []
    text, rest = first_and_rest(parts)
    return Part(
        PartKind.TOOL_RESULT,
        as_text(content) if isinstance(content, str) else text,
        call_id=string(inner.get("toolUseId")),
        parts=rest,
        # A server tool's result says its kind ("nova_code_interpreter_result").
        server=isinstance(inner.get("type"), str),
        is_error=inner.get("status") == "error",
        source_type="toolResult",
        raw=block,
    )


def _result_part(item: Any) -> Part:
    if isinstance(item, dict) and "json" in item:
        return Part(PartKind.TEXT, as_text(item["json"]), source_type="json", raw=item)
    return _part(item)


def _reasoning(block: Block, inner: Any) -> Part:
    if not isinstance(inner, dict):
        return opaque(block)
    said = inner.get("reasoningText")
    said = said if isinstance(said, dict) else {}
    text = string(said.get("text")) or ""
    redacted = "redactedContent" in inner
    return Part(
        PartKind.THINKING,
        text,
        hidden=ENCRYPTED if redacted or (said.get("signature") and not text) else None,
        signed=redacted or bool(said.get("signature")),
        source_type="reasoningContent",
        raw=block,
    )


def _image(block: Block, inner: Any) -> Part:
    kind = f"image/{inner.get('format')}" if isinstance(inner, dict) else None
    found, hidden = _source(inner, kind)
    return Part(PartKind.IMAGE, media=found, hidden=hidden, source_type="image", raw=block)


def _document(block: Block, inner: Any) -> Part:
    if not isinstance(inner, dict):
        return opaque(block)
    source = inner.get("source")
    source = source if isinstance(source, dict) else {}
    text = string(source.get("text")) or ""
    content = source.get("content")
    inside = tuple(_part(item) for item in content) if isinstance(content, list) else ()
    found, hidden = None, None
    if not text and not inside:
        kind = _TYPES.get(str(inner.get("format")))
        found, hidden = _source(inner, kind)
    return Part(
        PartKind.DOCUMENT,
        text,
        name=string(inner.get("name")),
        parts=inside,
        media=found,
        hidden=hidden,
        source_type="document",
        raw=block,
    )


_TYPES = {"pdf": "application/pdf", "txt": "text/plain", "csv": "text/csv", "html": "text/html"}


def _source(inner: Any, kind: str | None) -> tuple[Media | None, str | None]:
    source = inner.get("source") if isinstance(inner, dict) else None
    source = source if isinstance(source, dict) else {}
    data = source.get("bytes")
    if isinstance(data, str):
        return media.from_base64(data, kind), None
    place = source.get("s3Location")
    url = string(place.get("uri")) if isinstance(place, dict) else None
    return Media(kind, url=url), ONLY_ADDRESS if url else AT_PROVIDER


def _definition(tool: Any) -> Part:
    if not isinstance(tool, dict):
        return opaque(tool)
    if "cachePoint" in tool:
        return _cache_point(tool, tool["cachePoint"])
    spec = tool.get("toolSpec")
    kind = str(next(iter(tool), "tool"))
    return Part(
        PartKind.TOOL_DEFINITION,
        dumps(tool),
        name=string(spec.get("name")) if isinstance(spec, dict) else kind,
        server=not isinstance(spec, dict),
        source_type=kind,
        raw=tool,
    )


_READERS: dict[str, Callable[[Block, Any], Part]] = {
    "text": _text,
    "toolUse": _tool_use,
    "toolResult": _tool_result,
    "reasoningContent": _reasoning,
    "image": _image,
    "document": _document,
    "cachePoint": _cache_point,
}
_OTHERS = frozenset(
    ("video", "audio", "guardContent", "citationsContent", "searchResult", "SDK_UNKNOWN_MEMBER")
)


def _usage(usage: Any) -> Usage | None:
    """``inputTokens`` leaves cached tokens out at this API; ours takes them in."""
    if not isinstance(usage, dict):
        return None
    fresh = _number(usage.get("inputTokens"))
    read = _number(usage.get("cacheReadInputTokens", usage.get("cacheReadInputTokenCount")))
    written = _number(usage.get("cacheWriteInputTokens", usage.get("cacheWriteInputTokenCount")))
    total = None if fresh is None else fresh + (read or 0) + (written or 0)
    return Usage(total, _number(usage.get("outputTokens")), read, written)


def _number(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None
