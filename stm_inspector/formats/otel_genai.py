"""Spans by the semantic conventions for generative AI. See formats.md section 20.

https://opentelemetry.io/docs/specs/semconv/gen-ai/gen-ai-spans/ and, for older ones, OpenLLMetry's
``gen_ai.prompt.<n>`` and the events ``gen_ai.user.message`` and the like.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any, NamedTuple

from stm_inspector.conversation.errors import InputError
from stm_inspector.conversation.model import Message, Part, PartKind, Role, Usage
from stm_inspector.formats import media
from stm_inspector.formats.chat_messages import WindowsFormat, chat_message
from stm_inspector.formats.document import Document
from stm_inspector.formats.parts import AT_PROVIDER, ONLY_ADDRESS, counted, opaque, string
from stm_inspector.formats.spans import Span, is_otlp, is_sdk, numbered, spans_of, unpacked
from stm_inspector.formats.transcript import (
    Reading,
    Talk,
    api_of,
    call,
    number,
    object_of,
    objects,
    result,
    text_parts,
    thinking,
    tools_message,
)

_INPUT = "gen_ai.input.messages"
_WHOLE = "pydantic_ai.all_messages"
"""Of an agent's span: the run as a whole, which is no window but better than nothing."""

_EVENTS = {
    "gen_ai.system.message": "system",
    "gen_ai.user.message": "user",
    "gen_ai.assistant.message": "assistant",
    "gen_ai.tool.message": "tool",
    "gen_ai.choice": "assistant",
}


class OTelGenAI(WindowsFormat):
    """Traces of calls of models: each span of a call is what that call sent and got."""

    id = "otel-genai"
    title = "OpenTelemetry GenAI spans"
    recognised_by = "resourceSpans, or spans with context and start_time, with gen_ai attributes."
    lacks = "Messages where the tracer was not told to record content; long values may be cut."
    section = "20"
    help = (
        "Reads each span of a call as one exact window: system instructions, tool definitions, "
        "input messages, and the output as the last message. Writes the request body of the API "
        "that the model belongs to."
    )

    def detect(self, document: Document) -> str | None:
        for value in objects(document):
            if is_otlp(value):
                return "resourceSpans"
            if is_sdk(value):
                return "spans with context, attributes and start_time"
        return None

    def talks(self, document: Document) -> Sequence[Talk]:
        spans = spans_of(document)
        windows = [span for span in spans if _holds_messages(span)]
        calls = [span for span in windows if not _is_agent(span)]
        if not windows:
            raise InputError(
                f"{document.name} holds {counted(len(spans), 'span')} without messages: let the "
                "tracer record the content of messages, or open another log."
            )
        return [_talk(span) for span in calls or windows]


class _Window(NamedTuple):
    """What a span holds. Only ``before`` is read: the rest is, when somebody asks for it."""

    before: list[Message]
    said: list[Any]
    answers: list[Any]
    usage: Usage | None
    notes: list[str]
    api: str
    model: str | None


def _talk(span: Span) -> Talk:
    window = _window(span)
    count = len(window.before) + len(window.said) + len(window.answers)
    return Talk(partial(_read, window), span.name, window.model, count, span.start)


def _holds_messages(span: Span) -> bool:
    return (
        bool(span.attributes.get(_INPUT) or span.attributes.get(_WHOLE))
        or any(key.startswith("gen_ai.prompt.") for key in span.attributes)
        or any(name in _EVENTS or event.get(_INPUT) for name, event in span.events)
    )


def _is_agent(span: Span) -> bool:
    asked = span.attributes.get("gen_ai.operation.name")
    return asked in ("invoke_agent", "invoke_workflow", "create_agent")


def _window(span: Span) -> _Window:
    told = dict(span.attributes)
    for _, event in span.events:
        if event.get(_INPUT):
            told |= event
    notes: list[str] = []
    model = string(told.get("gen_ai.response.model")) or string(told.get("gen_ai.request.model"))
    answers = _list(told.get("gen_ai.output.messages"), "assistant", notes)
    if told.get(_INPUT):
        said = _list(told[_INPUT], "user", notes)
    elif told.get(_WHOLE):
        said = _list(told[_WHOLE], "user", notes)
        notes.append("This is the run of an agent as a whole, not what one call sent.")
    else:
        said = [_flat(raw) for raw in numbered(told, "gen_ai.prompt.")]
        said += [_of_event(name, event) for name, event in span.events if name in _EVENTS]
        answers = [_flat(raw) for raw in numbered(told, "gen_ai.completion.")]
    system = _instructions(told.get("gen_ai.system_instructions"))
    tools = tools_message(unpacked(told.get("gen_ai.tool.definitions")))
    if answers:
        notes.append("The last message is the recorded response; it was not part of the request.")
    if not tools:
        notes.append("Tool definitions are not in this span.")
    api = api_of(told.get("gen_ai.provider.name"), told.get("gen_ai.system"), model)
    return _Window([*system, *tools], said, answers, _usage(told), notes, api, model)


def _read(window: _Window) -> Reading:
    heard = [_message(raw) for raw in window.answers]
    if heard:
        heard[-1] = _message(window.answers[-1], model=window.model, usage=window.usage)
    messages = [*window.before, *(_message(raw) for raw in window.said), *heard]
    return Reading(messages, window.notes, api=window.api, model=window.model)


def _list(value: Any, role: str, notes: list[str]) -> list[Any]:
    """Messages; a text that a limit of the tracer cut stays a text."""
    value = unpacked(value)
    if isinstance(value, str):
        notes.append("The messages are no valid JSON, perhaps cut by the tracer: kept as text.")
        return [{"role": role, "parts": [{"type": "text", "content": value}]}]
    return [
        unpacked(item) for item in (value if isinstance(value, list) else [value] if value else [])
    ]


def _instructions(value: Any) -> list[Message]:
    value = unpacked(value)
    items = value if isinstance(value, list) else [value] if value else []
    parts = tuple(part for item in items for part in _part(item))
    if not parts:
        return []
    role = "system_instructions"
    return [Message(Role.SYSTEM, parts, source_role=role, source_field="system", raw=value)]


def _usage(told: dict[str, Any]) -> Usage | None:
    def of(*keys: str) -> int | None:
        found = (number(told.get(f"gen_ai.usage.{key}")) for key in keys)
        return next((count for count in found if count is not None), None)

    sent = of("input_tokens", "prompt_tokens")
    written = of("output_tokens", "completion_tokens")
    read = of("cache_read.input_tokens", "details.cache_read_tokens")
    created = of("cache_creation.input_tokens", "details.cache_write_tokens")
    return None if sent is None and written is None else Usage(sent, written, read, created)


def _flat(raw: dict[str, Any]) -> dict[str, Any]:
    """OpenLLMetry: the members of a message in attributes of their own."""
    message = {key: unpacked(value) for key, value in raw.items() if "." not in key}
    calls = [
        {
            "type": "function",
            "id": found.get("id"),
            "function": {"name": found.get("name"), "arguments": found.get("arguments")},
        }
        for found in numbered(raw, "tool_calls.")
    ]
    return message | {"tool_calls": calls} if calls else message


def _of_event(name: str, event: dict[str, Any]) -> dict[str, Any]:
    body = object_of(unpacked(event.get("gen_ai.event.content"))) or event
    inner = object_of(unpacked(body.get("message"))) or body
    message = {key: unpacked(value) for key, value in inner.items()}
    message.setdefault("role", _EVENTS[name])
    if name == "gen_ai.tool.message":
        message.setdefault("tool_call_id", message.get("id"))
    return message


def _message(raw: Any, *, model: str | None = None, usage: Usage | None = None) -> Message:
    if not isinstance(raw, dict) or not isinstance(raw.get("parts"), list):
        return chat_message(raw, model=model, usage=usage)
    read = partial(_parts, raw["parts"])
    answers = all(_kind(part) == "tool_call_response" for part in raw["parts"]) and raw["parts"]
    word = string(raw.get("role")) or ""
    role = {"model": "assistant"}.get(word, word)
    adapted = {**raw, "role": "tool" if answers else role}
    return chat_message(raw, adapted=adapted, parts_of=lambda _: read(), model=model, usage=usage)


def _kind(part: Any) -> str | None:
    return string(part.get("type")) if isinstance(part, dict) else None


def _parts(items: Sequence[Any]) -> list[Part]:
    return [part for item in items for part in _part(item)]


def _part(item: Any) -> list[Part]:
    if not isinstance(item, dict):
        return text_parts(item)
    kind = _kind(item)
    if kind == "text" and isinstance(item.get("content"), str):
        return [Part(PartKind.TEXT, item["content"], source_type=kind, raw=item)]
    if kind in ("reasoning", "thinking"):
        return [thinking(string(item.get("content")) or "", item, kind)]
    if kind == "tool_call":
        return [call(item.get("name"), item.get("arguments"), item.get("id"), item, kind)]
    if kind == "tool_call_response":
        content = item.get("response", item.get("result"))
        return [result(item.get("name"), content, item.get("id"), item, kind)]
    if kind in ("blob", "uri", "file"):
        return [_media(kind, item)]
    return [opaque(item)]


def _media(kind: str, item: dict[str, Any]) -> Part:
    said = string(item.get("mime_type"))
    what = PartKind.IMAGE if "image" in (said or string(item.get("modality")) or "") else None
    data, address = string(item.get("content")), string(item.get("uri"))
    if kind == "blob" and data:
        found, hidden = media.from_base64(data, said), None
    elif kind == "uri" and address:
        found = media.from_url(address)
        hidden = ONLY_ADDRESS if found.url else None
    else:
        found, hidden = None, AT_PROVIDER
    if what is None:
        return opaque(item, media=found, hidden=hidden)
    return Part(what, media=found, hidden=hidden, source_type=kind, raw=item)
