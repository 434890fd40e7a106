"""Spans by the conventions of OpenInference. See formats.md section 20.

https://arize-ai.github.io/openinference/spec/semantic_conventions.html
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from stm_inspector.conversation.model import Message, Part, PartKind, Usage
from stm_inspector.formats import media
from stm_inspector.formats.chat_messages import WindowsFormat, chat_message
from stm_inspector.formats.document import Document
from stm_inspector.formats.parts import ONLY_ADDRESS, opaque, string
from stm_inspector.formats.spans import Span, numbered, spans_of, unpacked
from stm_inspector.formats.transcript import (
    Reading,
    Talk,
    api_of,
    call,
    number,
    result,
    text_parts,
    tools_message,
)

_INPUT = "llm.input_messages."
_OUTPUT = "llm.output_messages."


class OpenInference(WindowsFormat):
    """Traces of Phoenix and others: each LLM span is what one call sent and got."""

    id = "openinference"
    title = "OpenInference spans"
    recognised_by = "Spans with attributes llm.input_messages."
    lacks = "Parts of messages that the tracer was told to leave out; long values may be cut."
    section = "20"
    help = (
        "Reads each LLM span as one exact window: its tools, its input messages, and the output "
        "as the last message. Writes the request body of the API that the model belongs to."
    )

    def detect(self, document: Document) -> str | None:
        found = sum(_is_window(span) for span in spans_of(document))
        return f"llm.input_messages (spans: {found:,})" if found else None

    def talks(self, document: Document) -> Sequence[Talk]:
        return [_talk(span) for span in spans_of(document) if _is_window(span)]


def _is_window(span: Span) -> bool:
    return any(key.startswith(_INPUT) for key in span.attributes)


def _talk(span: Span) -> Talk:
    read = _read(span.attributes)
    return Talk(lambda: read, span.name, read.model, len(read.messages), span.start)


def _read(told: dict[str, Any]) -> Reading:
    model = string(told.get("llm.model_name"))
    said = [_message(raw) for raw in numbered(told, _INPUT)]
    answers = numbered(told, _OUTPUT)
    heard = [_message(raw) for raw in answers]
    notes = []
    if heard:
        heard[-1] = _message(answers[-1], model=model, usage=_usage(told))
        notes.append("The last message is the recorded response; it was not part of the request.")
    defined = [unpacked(raw.get("tool.json_schema")) for raw in numbered(told, "llm.tools.")]
    tools = tools_message(defined)
    if not tools:
        notes.append("Tool definitions are not in this span.")
    api = api_of(told.get("llm.provider"), told.get("llm.system"), model)
    return Reading([*tools, *said, *heard], notes, api=api, model=model)


def _usage(told: dict[str, Any]) -> Usage | None:
    sent = number(told.get("llm.token_count.prompt"))
    written = number(told.get("llm.token_count.completion"))
    details = "llm.token_count.prompt_details."
    read, created = number(told.get(f"{details}cache_read")), told.get(f"{details}cache_write")
    if sent is None and written is None:
        return None
    return Usage(sent, written, read, number(created))


def _message(
    flat: dict[str, Any], *, model: str | None = None, usage: Usage | None = None
) -> Message:
    members = {key.removeprefix("message."): value for key, value in flat.items()}
    raw = {key: value for key, value in members.items() if "." not in key}
    parts = _parts(members)
    return chat_message(members, adapted=raw, parts_of=lambda _: parts, model=model, usage=usage)


def _parts(members: dict[str, Any]) -> list[Part]:
    said = [part for item in numbered(members, "contents.") for part in _content(item)]
    if not said:
        said = text_parts(members.get("content"))
    if members.get("role") in ("tool", "function"):
        name, id = members.get("name"), members.get("tool_call_id")
        text = "\n".join(part.text for part in said if part.kind is PartKind.TEXT)
        rest = [part for part in said if part.kind is not PartKind.TEXT]
        return [result(name, text, id, members, "tool", parts=rest)]
    return said + [_call(item) for item in numbered(members, "tool_calls.")]


def _call(item: dict[str, Any]) -> Part:
    told = {key.removeprefix("tool_call."): value for key, value in item.items()}
    name, arguments = told.get("function.name"), told.get("function.arguments")
    return call(name, arguments, told.get("id"), item)


def _content(item: dict[str, Any]) -> list[Part]:
    told = {key.removeprefix("message_content."): value for key, value in item.items()}
    if told.get("type") == "text" and isinstance(told.get("text"), str):
        return text_parts(told["text"])
    address = string(told.get("image.image.url"))
    if address:
        found = media.from_url(address)
        hidden = ONLY_ADDRESS if found.url else None
        return [Part(PartKind.IMAGE, media=found, hidden=hidden, source_type="image", raw=address)]
    return [opaque(item)]
