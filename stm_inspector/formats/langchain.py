"""LangChain: lists of messages as its functions write them. See formats.md section 7."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from stm_inspector.conversation.model import Message, PartKind, Role
from stm_inspector.formats import langchain_messages as own
from stm_inspector.formats import openai_parts
from stm_inspector.formats.base import Entry
from stm_inspector.formats.calls import Call, Shape
from stm_inspector.formats.document import Document
from stm_inspector.formats.parts import counted, opaque, string
from stm_inspector.formats.rewrite import Changes, Path, dumps
from stm_inspector.formats.values import Node
from stm_inspector.formats.wire import Piece, Response, WireFormat, WireSource

_APIS = {
    "anthropic": "anthropic-messages",
    "bedrock": "bedrock-converse",
    "bedrock_converse": "bedrock-converse",
    "google_genai": "gemini",
    "google_vertexai": "gemini",
}
"""``response_metadata.model_provider`` of an answer -> the API it came from."""

_TYPES = {"user": "human", "assistant": "ai", "system": "system", "developer": "system"}


class LangChain(WireFormat):
    """Messages of LangChain and of LangGraph's state."""

    id = "langchain"
    title = "LangChain messages"
    recognised_by = (
        "Messages with lc: 1 and a message class, {type, data}, or a type human, ai, system or "
        "tool beside a content."
    )
    lacks = "Tool definitions are not among the messages."
    section = "7"
    help = (
        "Reads what dumps, messages_to_dict and model_dump write: a list, a state with messages, a "
        "message a line. Writes what it read. A call that is told twice (tool_calls and a block of "
        "the content) counts once; RemoveMessage is carried out."
    )
    shape = Shape(("messages",), lambda value: own.type_of(value) is not None, lambda value: False)
    fields = ("tools",)

    def sign(self, call: Call) -> str | None:
        kinds = [own.type_of(message) for message in call.messages]
        if not kinds or any(kind is None for kind in kinds):
            return None
        first = call.messages[0]
        if "lc" in first:
            return "messages with lc: 1"
        form = "type and data" if isinstance(first.get("data"), dict) else "a content"
        return f"messages of the type {kinds[0]} with {form}"

    def thinking(self, body: dict[str, Any]) -> bool | None:
        return None

    def pieces(self, raw: dict[str, Any]) -> list[Piece]:
        return own.pieces(raw)

    def field_pieces(self, field: str, value: Any) -> list[Piece]:
        if not isinstance(value, list):
            return [((), opaque(value))]
        return [((at,), openai_parts.definition(tool)) for at, tool in enumerate(value)]

    def response(self, text: str, node: Node) -> Response | None:
        return None

    def _source(
        self, document: Document, call: Call
    ) -> tuple[WireSource, Response | None, list[str]]:
        source, response, notes = super()._source(document, call)
        gone = removals(call.messages)
        if gone:
            spots = tuple(spot for spot in source.spots if spot.place not in gone)
            source = replace(source, spots=spots)
            left_out = counted(len(gone), "entry", "entries")
            notes.append(f"{left_out} with RemoveMessage or taken out by it: left out.")
        return source, response, notes

    def _read(self, raw: Any, line: int) -> Message | str:
        return message_of(raw, line)

    def _entry(self, number: int, call: Call) -> Entry:
        entry = super()._entry(number, call)
        gone = len(removals(call.messages))
        return replace(entry, messages=(entry.messages or 0) - gone)

    def words(self, raw: Any) -> str | None:
        if own.type_of(raw) != "human":
            return None
        parts = (part for _, part in own.pieces(raw) if part.kind is PartKind.TEXT)
        return next((part.text for part in parts), None)

    def model_of(self, call: Call) -> str | None:
        models = (model_in(raw) for raw in reversed(call.messages))
        return super().model_of(call) or next((model for model in models if model), None)

    def api_of(self, messages: Sequence[Message]) -> str:
        return api_of(messages)

    def notes(self, call: Call) -> list[str]:
        if call.body_value.get("tools"):
            return []
        return ["The tool definitions are not in this file."]

    def inserted(self, role: str, text: str) -> str:
        return dumps(_new(role, text))

    def replaced(self, raw: dict[str, Any], text: str) -> Changes:
        before, data = own.data_of(raw)
        changes: dict[Path, str | None] = {(*before, "content"): dumps(text)}
        for key in ("tool_calls", "invalid_tool_calls"):
            if data.get(key):
                changes[(*before, key)] = "[]"
        if data.get("additional_kwargs"):
            changes[(*before, "additional_kwargs")] = "{}"
        return changes

    def result_changes(self, raw: dict[str, Any], path: Path, text: str) -> Changes:
        return {path: dumps(text)}

    def dropped(self, raw: dict[str, Any], pieces: Sequence[Piece], parts: set[int]) -> Changes:
        changes: dict[Path, str | None] = {}
        for part in parts:
            path, piece = pieces[part]
            # The content is required: a text that goes leaves an empty one.
            changes[path] = '""' if path[-1] == "content" else None
            if piece.kind is PartKind.TOOL_CALL:
                changes |= dict.fromkeys(own.copies(raw, piece))
        return changes


def message_of(raw: Any, line: int) -> Message | str:
    """A message, or what is wrong with it."""
    kind = own.type_of(raw)
    if kind is None or kind == "remove":
        return "is no message that LangChain knows"
    _, data = own.data_of(raw)
    role = own.role_of(kind, data)
    name = string(data.get("name"))
    return Message(
        role,
        tuple([part for _, part in own.pieces(raw)]),
        source_role=str(data.get("role")) if kind == "chat" else kind,
        name=name if role is not Role.TOOL else None,
        id=string(data.get("id")),
        line=line or None,
        model=model_in(raw) if role is Role.ASSISTANT else None,
        usage=own.usage_of(data),
        raw=raw,
    )


def removals(messages: Sequence[Any]) -> frozenset[int]:
    """The places of every RemoveMessage and of the messages before it with its id.

    The id ``__remove_all__`` takes out everything before it.
    https://reference.langchain.com/python/langgraph/graphs/#langgraph.graph.message.add_messages
    """
    gone: set[int] = set()
    for at, raw in enumerate(messages):
        if own.type_of(raw) != "remove":
            continue
        gone.add(at)
        id = own.data_of(raw)[1].get("id")
        for before, other in enumerate(messages[:at]):
            known = own.type_of(other) is not None
            if known and id in ("__remove_all__", own.data_of(other)[1].get("id")):
                gone.add(before)
    return frozenset(gone)


def model_in(raw: Any) -> str | None:
    """The model that wrote a message, where it says so."""
    if own.type_of(raw) != "ai":
        return None
    told = own.data_of(raw)[1].get("response_metadata")
    told = told if isinstance(told, dict) else {}
    return next(
        (s for k in ("model_name", "model", "model_id") if (s := string(told.get(k)))), None
    )


def api_of(messages: Sequence[Message]) -> str:
    """The API whose answers the messages record; Chat Completions where they do not say."""
    for message in messages:
        if not isinstance(message.raw, dict) or message.role is not Role.ASSISTANT:
            continue
        told = own.data_of(message.raw)[1].get("response_metadata")
        told = told if isinstance(told, dict) else {}
        provider = str(told.get("model_provider") or told.get("ls_provider") or "")
        if provider in _APIS:
            return _APIS[provider]
        if (message.model or "").startswith("claude"):
            return "anthropic-messages"
        if (message.model or "").removeprefix("models/").startswith("gemini"):
            return "gemini"
    return "openai-chat"


def _new(role: str, text: str) -> dict[str, Any]:
    kind = _TYPES.get(role, "human")
    return {"type": kind, "data": {"content": text, "type": kind}}
