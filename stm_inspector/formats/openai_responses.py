"""OpenAI Responses: requests, responses, lists of items, streams. See formats.md section 2."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from msgspec import structs

from stm_inspector.conversation.model import Message, PartKind, Role, Usage
from stm_inspector.formats import openai_responses_items as items
from stm_inspector.formats.base import Opened
from stm_inspector.formats.calls import Call, Shape
from stm_inspector.formats.document import Document
from stm_inspector.formats.openai_responses_events import joined
from stm_inspector.formats.parts import opaque, string
from stm_inspector.formats.rewrite import Changes, Path, dumps, rewrite, verbatim
from stm_inspector.formats.values import Node, elements, member
from stm_inspector.formats.wire import ROLES, Piece, Response, WireFormat

_NOT_ITEMS = ("voice", "encoding_format", "dimensions")
"""Members of other requests that have an input as well: speech and embeddings."""


def _is_message(value: Any) -> bool:
    return isinstance(value, dict) and (
        (isinstance(value.get("role"), str) and "parts" not in value) or items.is_item(value)
    )


def _is_response(value: Any) -> bool:
    return (
        isinstance(value, dict)
        and value.get("object") == "response"
        and isinstance(value.get("output"), list)
    )


@dataclass(frozen=True, slots=True)
class _Items(Shape):
    """A request's input, the data of a list of items, or what a compaction put out."""

    def list_key(self, value: Any) -> str | None:
        if not isinstance(value, dict):
            return None
        kind = value.get("object")
        if kind == "list" and isinstance(value.get("data"), list):
            return "data"
        if kind == "response.compaction" and isinstance(value.get("output"), list):
            return "output"
        return "input" if isinstance(value.get("input"), list | str) and kind is None else None


class OpenAIResponses(WireFormat):
    """The Responses API and the lists of items that it works with."""

    id = "openai-responses"
    title = "OpenAI Responses"
    recognised_by = (
        "Items such as function_call, function_call_output, reasoning and web_search_call, parts "
        "input_text and output_text, an input beside a model, the object response, or events "
        "whose type begins with response."
    )
    lacks = (
        "Reasoning is encrypted or kept by the provider; with previous_response_id or a "
        "conversation the history is on the server."
    )
    section = "2"
    help = (
        "Reads a request body, a response, a list of items (bare, or as the API lists them), an "
        "item a line, a log of requests and responses, and a saved stream of events. Writes what "
        "it read: body as body, list as list; of a log, the one request with its response behind."
    )
    shape = _Items(is_message=_is_message, is_response=_is_response, texts=True)
    fields = ("instructions", "tools")
    without_tools = ("tool_choice", "parallel_tool_calls")

    def detect(self, document: Document) -> str | None:
        return super().detect(joined(document))

    def open(self, document: Document) -> Opened:
        whole = joined(document)
        opened = super().open(whole)
        if whole is document:
            return opened

        def load(number: int) -> Any:
            conversation = opened.load(number)
            notes = (*whole.notes, *conversation.origin.notes)
            return replace(conversation, origin=replace(conversation.origin, notes=notes))

        return replace(opened, load=load)

    def sign(self, call: Call) -> str | None:
        body = call.body_value
        if call.url.endswith("/responses") or "/responses?" in call.url:
            return "the request went to /responses"
        if call.body is None and call.response is not None:
            return "a response object"
        if call.list_key == "output" and "output" in body:
            return "the object response.compaction"
        known = _sign_of_items(call.messages)
        if "input" not in body or call.list_key != "input":
            return known
        if any(key in body for key in _NOT_ITEMS) or "embed" in str(body.get("model")):
            return None
        if known:
            return known
        if not all(isinstance(item, str) or _is_message(item) for item in call.messages):
            return None
        for key in ("instructions", "previous_response_id", "model"):
            if isinstance(body.get(key), str):
                return f"input beside {key}"
        return None

    def thinking(self, body: dict[str, Any]) -> bool | None:
        reasoning = body.get("reasoning")
        effort = reasoning.get("effort") if isinstance(reasoning, dict) else None
        return None if effort is None else effort != "none"

    def pieces(self, raw: dict[str, Any]) -> list[Piece]:
        return items.pieces(raw)

    def field_pieces(self, field: str, value: Any) -> list[Piece]:
        if field == "tools":
            return items.definitions(value)
        if isinstance(value, str):
            return [((), items.content_part(value))]
        if isinstance(value, list):
            return [
                ((at, *path), part)
                for at, item in enumerate(value)
                if isinstance(item, dict)
                for path, part in items.pieces(item)
            ]
        return [((), opaque(value))]

    def _read(self, raw: Any, line: int) -> Message | str:
        if isinstance(raw, str):
            part = items.content_part(raw)
            return Message(Role.USER, (part,), source_role="user", line=line or None, raw=raw)
        if not isinstance(raw, dict):
            return super()._read(raw, line)
        word = raw.get("role")
        role = ROLES.get(word) if isinstance(word, str) else items.role_of(raw)
        kind = string(raw.get("type"))
        if role is None and (kind is None or word is not None):
            return super()._read(raw, line)
        return Message(
            # What kind of item is not known is the provider's: a person's would have a role.
            role or Role.ASSISTANT,
            tuple([part for _, part in items.pieces(raw)]),
            source_role=string(word) or kind or "",
            id=string(raw.get("id")),
            line=line or None,
            tags={"phase": raw["phase"]} if isinstance(raw.get("phase"), str) else {},
            raw=raw,
        )

    def response(self, text: str, node: Node) -> Response | None:
        output = member(text, node, "output")
        if output is None or not output.value:
            return None
        return Response(
            tuple(verbatim(text, item) for item in elements(text, output)),
            _usage(node.value.get("usage")),
            string(node.value.get("model")),
            string(node.value.get("id")),
        )

    def answers(self, response: dict[str, Any]) -> int:
        output = response.get("output")
        return len(output) if isinstance(output, list) else 0

    def words(self, raw: Any) -> str | None:
        return raw if isinstance(raw, str) else super().words(raw)

    def finished(self, messages: list[Message]) -> list[Message]:
        """Bind reasoning to the item that follows: the API refuses the one without the other."""
        bound = list(messages)
        for at in range(len(messages) - 2, -1, -1):
            if not _is_reasoning(messages[at]):
                continue
            after = bound[at + 1]
            if after.role is Role.ASSISTANT:
                key = after.lock or f"reasoning {at}"
                bound[at] = structs.replace(messages[at], lock=key)
                bound[at + 1] = structs.replace(after, lock=key)
        return bound

    def notes(self, call: Call) -> list[str]:
        body = call.body_value
        notes = []
        before = body.get("previous_response_id") or body.get("conversation")
        if before:
            what = before.get("id") if isinstance(before, dict) else before
            notes.append(
                f"Partial: what was said before is kept by the provider ({str(what)[:80]}); this "
                "file holds only what this request adds to it."
            )
        reply = call.record.value.get("response") if isinstance(call.record.value, dict) else None
        reply = reply.get("body", reply) if isinstance(reply, dict) else None
        if isinstance(reply, dict) and reply.get("object") == "response.compaction":
            notes.append("This request asked for a compaction; what came of it is not shown here.")
        if call.list_key == "data" and body.get("has_more") is True:
            notes.append("The list goes on: has_more is true, and this file holds one page of it.")
        return notes

    def replaced(self, raw: dict[str, Any], text: str) -> Changes:
        if raw.get("type") in (None, "message"):
            return {("content",): dumps(text)}
        role = items.role_of(raw) or Role.ASSISTANT
        said = Role.USER if role is Role.TOOL else role
        return {(): dumps({"role": said.value, "content": text})}

    def result_changes(self, raw: dict[str, Any], path: Path, text: str) -> Changes:
        return items.result_changes(raw, path, text)

    def dropped(self, raw: dict[str, Any], pieces: Sequence[Piece], parts: set[int]) -> Changes:
        """Of a record that is call and result in one, only the result can go."""
        changes: dict[Path, str | None] = {}
        for part in parts:
            path = pieces[part][0]
            if raw.get("type") in (None, "message", "mcp_list_tools", "additional_tools"):
                changes[path] = None
            elif pieces[part][1].kind is PartKind.TOOL_RESULT and path != ("action",):
                changes[path] = "null"
        return changes

    def cleaned(self, text: str, body: Node) -> str:
        tools = body.value.get("tools")
        secrets: dict[Path, str | None] = {
            ("tools", at, key): None
            for at, tool in enumerate(tools if isinstance(tools, list) else ())
            if isinstance(tool, dict)
            for key in ("headers", "authorization")
            if key in tool
        }
        return rewrite(text, body, secrets)


def _is_reasoning(message: Message) -> bool:
    return any(part.source_type == "reasoning" for part in message.parts)


def _sign_of_items(messages: Sequence[Any]) -> str | None:
    for item in messages:
        if items.is_item(item):
            return f"items of the type {str(item['type'])[:60]}"
        content = item.get("content") if isinstance(item, dict) and "role" in item else None
        for part in content if isinstance(content, list) else ():
            kind = part.get("type") if isinstance(part, dict) else None
            if kind in ("input_text", "output_text", "input_image", "input_file"):
                return f"parts of the type {kind}"
    return None


def _usage(usage: Any) -> Usage | None:
    """Cached tokens are part of ``input_tokens`` at this API."""
    if not isinstance(usage, dict):
        return None
    details = usage.get("input_tokens_details")
    cached = details.get("cached_tokens") if isinstance(details, dict) else None
    return Usage(
        _number(usage.get("input_tokens")), _number(usage.get("output_tokens")), _number(cached)
    )


def _number(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None
