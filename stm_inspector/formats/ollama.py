"""Ollama's own API, /api/chat: bodies, responses, streams and logs. See formats.md section 12."""

from __future__ import annotations

from typing import Any

from stm_inspector.conversation.model import Part, PartKind, Usage
from stm_inspector.formats import media, openai_parts
from stm_inspector.formats.calls import Call, Shape
from stm_inspector.formats.document import Document, parse
from stm_inspector.formats.openai_chat import OpenAIChat
from stm_inspector.formats.parts import opaque, string
from stm_inspector.formats.rewrite import Changes, dumps, verbatim
from stm_inspector.formats.transcript import list_of, number, object_of, text_parts, thinking
from stm_inspector.formats.values import Node, member
from stm_inspector.formats.wire import Piece, Response


def _is_response(value: Any) -> bool:
    return (
        isinstance(value, dict)
        and isinstance(value.get("done"), bool)
        and isinstance(value.get("message"), dict)
    )


class Ollama(OpenAIChat):
    """Chats with Ollama by its own API. Messages are like OpenAI's, but calls have no ids."""

    id = "ollama"
    title = "Ollama chat"
    recognised_by = (
        "Requests to /api/chat; responses with done and a message; messages with images, a "
        "tool_name, or calls whose arguments are an object."
    )
    lacks = "Ids of calls; what num_ctx cut off the prompt is not said."
    section = "12"
    help = (
        "Reads a request body, a list of messages, a response, a saved stream of one, and a log "
        "of requests and responses. Calls and results pair by name and order. Writes what it "
        "read: body as body, list as list."
    )
    shape = Shape(is_response=_is_response)
    fields: tuple[str, ...] = ("tools",)
    without_tools: tuple[str, ...] = ()

    def detect(self, document: Document) -> str | None:
        return super().detect(_joined(document))

    def open(self, document: Document) -> Any:
        return super().open(_joined(document))

    def sign(self, call: Call) -> str | None:
        if call.url.rstrip("/").endswith("/api/chat"):
            return "the request went to /api/chat"
        if call.response is not None and _is_response(call.response_value):
            return "a response with done and a message"
        for raw in call.messages:
            if not isinstance(raw, dict) or not isinstance(raw.get("role"), str):
                continue
            if raw["role"] == "tool" and "tool_name" in raw and "tool_call_id" not in raw:
                return "results with a tool_name"
            if "content" in raw and _is_images(raw.get("images")):
                return "messages with images"
            if any(_is_call(made) for made in list_of(raw.get("tool_calls"))):
                return "calls without an id whose arguments are an object"
        return None

    def thinking(self, body: dict[str, Any]) -> bool | None:
        think = body.get("think")
        return None if think is None else bool(think)

    def parts(self, raw: dict[str, Any]) -> tuple[Part, ...]:
        return tuple([part for _, part in self.pieces(raw)])

    def pieces(self, raw: dict[str, Any]) -> list[Piece]:
        content = raw.get("content")
        if raw.get("role") == "tool":
            found = openai_parts.result({**raw, "name": raw.get("tool_name")}, content)
            return [(("content",), found)]
        pieces: list[Piece] = []
        thought = string(raw.get("thinking"))
        if thought:
            pieces.append((("thinking",), thinking(thought, thought)))
        pieces += [(("content",), part) for part in text_parts(content)]
        images = raw.get("images")
        if images is not None and not isinstance(images, list):
            pieces.append((("images",), opaque(images)))
        pieces += [(("images", at), _image(item)) for at, item in enumerate(list_of(images))]
        return pieces + openai_parts.calls_and_more(raw)

    def response(self, text: str, node: Node) -> Response | None:
        message = member(text, node, "message")
        if message is None or not isinstance(message.value, dict):
            return None
        value = node.value
        usage = Usage(number(value.get("prompt_eval_count")), number(value.get("eval_count")))
        known = usage.input is not None or usage.output is not None
        return Response(
            (verbatim(text, message),), usage if known else None, string(value.get("model"))
        )

    def replaced(self, raw: dict[str, Any], text: str) -> Changes:
        gone = ("thinking", "images", "tool_calls", "function_call", "refusal", "audio")
        return {("content",): dumps(text), **{(key,): None for key in gone if key in raw}}

    def notes(self, call: Call) -> list[str]:
        size = number(object_of(call.body_value.get("options")).get("num_ctx"))
        if size is None:
            return []
        return [f"Ollama cuts the prompt to num_ctx, here {size:,} tokens, and does not say so."]


def _is_images(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(i, str) for i in value)


def _is_call(made: Any) -> bool:
    function = object_of(object_of(made).get("function"))
    return "id" not in object_of(made) and isinstance(function.get("arguments"), dict)


def _image(item: Any) -> Part:
    if not isinstance(item, str):
        return opaque(item)
    found = media.from_url(item) if item.startswith("data:") else media.from_base64(item)
    return Part(PartKind.IMAGE, media=found, source_type="images", raw=item)


def _joined(document: Document) -> Document:
    """The one response that a stream of pieces, a line each, makes; else the document itself."""
    values = [record.value for record in document.records]
    if len(values) < 2 or not all(_is_response(value) for value in values):
        return document
    if any(value["done"] for value in values[:-1]):
        return document
    whole: dict[str, Any] = {}
    calls: list[Any] = []
    for value in values:
        for key, said in value["message"].items():
            before = whole.get(key)
            if key in ("content", "thinking") and isinstance(before, str) and isinstance(said, str):
                said = before + said
            whole[key] = said
        calls += list_of(value["message"].get("tool_calls"))
    if calls:
        whole["tool_calls"] = calls
    return parse(dumps({**values[-1], "message": whole}), document.path)
