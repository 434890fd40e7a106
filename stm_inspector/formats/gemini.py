"""Gemini generateContent, and what Gemini CLI saves of it. See formats.md section 6."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from stm_inspector.conversation.model import Message, Role, Usage
from stm_inspector.formats import gemini_parts
from stm_inspector.formats.calls import Call, Shape
from stm_inspector.formats.parts import opaque, string
from stm_inspector.formats.rewrite import Changes, Path, dumps, verbatim
from stm_inspector.formats.values import Node, elements, member
from stm_inspector.formats.wire import Piece, Response, WireFormat

_ROLES = {
    "user": Role.USER,
    "model": Role.ASSISTANT,
    "function": Role.TOOL,
    "tool": Role.TOOL,
    "system": Role.SYSTEM,
}
_SYSTEM = ("systemInstruction", "system_instruction")


def _is_message(value: Any) -> bool:
    return isinstance(value, dict) and (
        isinstance(value.get("parts"), list)
        and all(isinstance(part, str) or gemini_parts.is_part(part) for part in value["parts"])
    )


def _is_response(value: Any) -> bool:
    return isinstance(value, dict) and (
        isinstance(value.get("candidates"), list) or "usageMetadata" in value
    )


class Gemini(WireFormat):
    """The Gemini API, and the histories that Gemini CLI exports."""

    id = "gemini"
    title = "Gemini contents"
    recognised_by = (
        "contents beside nothing or a systemInstruction, a list of role and parts where the parts "
        "have no type, history or context with such a list, or a response with candidates."
    )
    lacks = (
        "The model stands in the address of the request; exports of Gemini CLI hold neither the "
        "system prompt nor the tools; of cachedContent only the name is there."
    )
    section = "6"
    help = (
        "Reads a request body, a bare list of contents (Gemini CLI: /chat share), a checkpoint, an "
        "error report, a content a line, a log of requests and responses, and a response alone, in "
        "camelCase and snake_case. Writes what it read: body as body, list as list."
    )
    shape = Shape(("contents", "history", "context"), _is_message, _is_response)
    fields = (*_SYSTEM, "tools")
    without_tools = ("toolConfig", "tool_config")

    def sign(self, call: Call) -> str | None:
        if ":generateContent" in call.url or ":streamGenerateContent" in call.url:
            return "the request went to generateContent"
        if call.body is None and call.response is not None:
            return "a response with candidates" if "candidates" in call.response_value else None
        if not any(_is_message(content) for content in call.messages):
            return None
        # Parts of texts alone are no sign where the role is one that Gemini has not.
        if any(isinstance(c, dict) and c.get("role") == "assistant" for c in call.messages):
            return None
        if call.body is None:
            return "contents with role and parts"
        return f"{call.list_key} with role and parts"

    def thinking(self, body: dict[str, Any]) -> bool | None:
        config = body.get("generationConfig", body.get("generation_config"))
        config = config if isinstance(config, dict) else {}
        thinking = config.get("thinkingConfig", config.get("thinking_config"))
        if not isinstance(thinking, dict):
            return None
        budget = thinking.get("thinkingBudget", thinking.get("thinking_budget"))
        return budget != 0

    def pieces(self, raw: dict[str, Any]) -> list[Piece]:
        return gemini_parts.pieces(raw)

    def field_pieces(self, field: str, value: Any) -> list[Piece]:
        if field == "tools":
            return gemini_parts.definitions(value)
        if isinstance(value, dict):
            return gemini_parts.pieces(value)
        return [((), gemini_parts.part_of(value) if isinstance(value, str) else opaque(value))]

    def _read(self, raw: Any, line: int) -> Message | str:
        if not isinstance(raw, dict | list):
            return "is no object"
        word = raw.get("role") if isinstance(raw, dict) else None
        parts = tuple([part for _, part in gemini_parts.pieces(raw)])
        # The role may be left out: the API then takes the content as the user's.
        role = _ROLES.get(word) if isinstance(word, str) else Role.USER if parts else None
        if role is None:
            return f"has no role that is known: {str(word)[:40]!r}" if word else "has no parts"
        return Message(role, parts, source_role=string(word) or "", line=line or None, raw=raw)

    def response(self, text: str, node: Node) -> Response | None:
        candidates = member(text, node, "candidates")
        for candidate in elements(text, candidates) if candidates else ():
            content = member(text, candidate, "content")
            if content is not None and isinstance(content.value, dict):
                written = verbatim(text, content)
                if "role" not in content.value:
                    written = dumps({"role": "model", **content.value})
                return Response(
                    (written,),
                    _usage(node.value.get("usageMetadata")),
                    self._model(node.value),
                    string(node.value.get("responseId")),
                )
        return None

    def answers(self, response: dict[str, Any]) -> int:
        candidates = response.get("candidates")
        first = candidates[0] if isinstance(candidates, list) and candidates else None
        return int(isinstance(first, dict) and isinstance(first.get("content"), dict))

    def _model(self, response: dict[str, Any]) -> str | None:
        return string(response.get("modelVersion")) or string(response.get("model_version"))

    def model_of(self, call: Call) -> str | None:
        asked = call.url.partition("/models/")[2].partition(":")[0]
        return asked or super().model_of(call) or self._model(call.response_value)

    def notes(self, call: Call) -> list[str]:
        body = call.body_value
        cached = body.get("cachedContent", body.get("cached_content"))
        notes = []
        if isinstance(cached, str):
            notes.append(
                f"Partial: a cache ({cached[:80]}) stands before these messages; what is in it is "
                "kept by the provider."
            )
        if call.list_key != "contents" or (call.body is None and call.response is None):
            notes.append("The system prompt and the tool definitions are not in this file.")
        if call.list_key == "context" and isinstance(body.get("error"), dict):
            reason = str(body["error"].get("message"))[:120]
            notes.append(f"This is the report of a request that failed: {reason}")
        return notes

    def words(self, raw: Any) -> str | None:
        if not isinstance(raw, dict) or raw.get("role", "user") != "user":
            return None
        parts = raw.get("parts")
        texts = [
            part["text"]
            for part in (parts if isinstance(parts, list) else ())
            if isinstance(part, dict) and isinstance(part.get("text"), str)
        ]
        return texts[0] if texts else None

    def inserted(self, role: str, text: str) -> str:
        known = "model" if role == "assistant" else "user"
        return dumps({"role": known, "parts": [{"text": text}]})

    def replaced(self, raw: dict[str, Any], text: str) -> Changes:
        if isinstance(raw, list):
            return {(): dumps([{"text": text}])}
        return {("parts",): dumps([{"text": text}])}

    def replaced_field(self, field: str, text: str) -> str:
        return dumps({"parts": [{"text": text}]})

    def result_changes(self, raw: dict[str, Any], path: Path, text: str) -> Changes:
        part: Any = raw
        for key in path:
            part = part[key]
        return gemini_parts.result_changes(part, path, text)

    def dropped(self, raw: dict[str, Any], pieces: Sequence[Piece], parts: set[int]) -> Changes:
        return {pieces[part][0]: None for part in parts}


def _usage(usage: Any) -> Usage | None:
    """Cached tokens are part of ``promptTokenCount``, thoughts no part of the answer's count."""
    if not isinstance(usage, dict):
        return None
    answer = _number(usage.get("candidatesTokenCount"))
    thoughts = _number(usage.get("thoughtsTokenCount"))
    output = None if answer is None and thoughts is None else (answer or 0) + (thoughts or 0)
    return Usage(
        _number(usage.get("promptTokenCount")),
        output,
        _number(usage.get("cachedContentTokenCount")),
    )


def _number(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None
