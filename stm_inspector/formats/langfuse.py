"""Traces exported from Langfuse. See formats.md section 22.

https://langfuse.com/docs/observability/data-model
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from msgspec import structs

from stm_inspector.conversation.errors import InputError
from stm_inspector.conversation.model import Message, Part, Role, Usage
from stm_inspector.formats.chat_messages import WindowsFormat, chat_message
from stm_inspector.formats.document import Document, parse
from stm_inspector.formats.parts import counted, opaque, string
from stm_inspector.formats.rewrite import dumps
from stm_inspector.formats.spans import unpacked
from stm_inspector.formats.transcript import (
    Reading,
    Talk,
    api_of,
    call,
    list_of,
    number,
    object_of,
    objects,
    text_parts,
    tools_message,
    when,
)


class Langfuse(WindowsFormat):
    """A trace and its observations: each generation without another in it is one call."""

    id = "langfuse"
    title = "Langfuse trace"
    recognised_by = "trace and observations."
    lacks = "Tool definitions, unless the library that logged put them into the metadata."
    section = "22"
    help = (
        "Reads each generation that holds no other as one exact window: its input, in the shape "
        "of whatever library logged it, and its output as the last message. Writes the request "
        "body of the API that the input was for."
    )

    def detect(self, document: Document) -> str | None:
        for value in objects(document):
            if "trace" in value and isinstance(value.get("observations"), list):
                return "trace and observations"
        return None

    def talks(self, document: Document) -> Sequence[Talk]:
        talks, without = [], 0
        for value in objects(document):
            leaves = _leaves(list_of(value.get("observations")))
            known = [leaf for leaf in leaves if leaf.get("input") not in (None, "")]
            without += len(leaves) - len(known)
            talks += [_talk(leaf) for leaf in known]
        if not talks:
            raise InputError(
                f"{document.name} holds {counted(without, 'generation')} and none with an input: "
                "the content was not logged."
            )
        return talks


def _leaves(observations: Sequence[Any]) -> list[dict[str, Any]]:
    """The generations in which no other stands, by the time at which they began."""
    every = [one for one in observations if isinstance(one, dict)]
    parents = {str(one.get("id")): str(one.get("parentObservationId")) for one in every}
    calls = [one for one in every if one.get("type") == "GENERATION"]
    holders = set()
    for one in calls:
        above = parents[str(one.get("id"))]
        while above in parents and above not in holders:
            holders.add(above)
            above = parents[above]
    leaves = [one for one in calls if str(one.get("id")) not in holders]
    return sorted(leaves, key=lambda one: when(one.get("startTime")) or 0)


def _talk(leaf: dict[str, Any]) -> Talk:
    read = _read(leaf)
    name = string(leaf.get("name")) or ""
    return Talk(lambda: read, name, read.model, len(read.messages), when(leaf.get("startTime")))


def _read(leaf: dict[str, Any]) -> Reading:
    model = string(leaf.get("model"))
    said, api, notes = _sent(unpacked(leaf.get("input")), model)
    tools = [unpacked(tool) for tool in list_of(unpacked(_metadata(leaf).get("tools")))]
    if not any(message.source_field == "tools" for message in said):
        said = [*tools_message(tools), *said]
    answer = _answer(unpacked(leaf.get("output")))
    if answer is None:
        notes.append("The response is not in this observation.")
        return Reading(said, notes, api=api, model=model)
    notes.append("The last message is the recorded response; it was not part of the request.")
    said.append(structs.replace(answer, model=model, usage=_usage(leaf)))
    return Reading(said, notes, api=api, model=model)


def _metadata(leaf: dict[str, Any]) -> dict[str, Any]:
    return object_of(unpacked(leaf.get("metadata")))


def _sent(value: Any, model: str | None) -> tuple[list[Message], str, list[str]]:
    """The messages of an input of any shape, the API they are for, and notes."""
    # registry knows this module; what is logged can be of any format.
    from stm_inspector.formats.registry import recording_of

    if isinstance(value, dict | list):
        try:
            read = recording_of(parse(dumps(value), "the input")).load()
        except InputError:
            part = opaque(value)
            said = Message(Role.USER, (part,), source_role="input", injected=True, raw=value)
            return [said], api_of(model), ["The input is no list of messages: kept as it is."]
        notes = [f"The input is read as {read.format}.", *read.origin.notes]
        return list(read.messages), read.api, notes
    return [Message(Role.USER, tuple(text_parts(value)), "input", raw=value)], api_of(model), []


def _answer(value: Any) -> Message | None:
    if value is None or value == "" or value == []:
        return None
    if isinstance(value, dict) and isinstance(value.get("role"), str):
        return chat_message(value)
    if isinstance(value, list) and isinstance(value[0], dict) and value[0].get("role"):
        return chat_message(value[0])
    raw = value if isinstance(value, dict) else {}
    parts = text_parts(raw["text"]) if isinstance(raw.get("text"), str) else []
    calls = [call for call in list_of(unpacked(raw.get("toolCalls", value))) if _is_call(call)]
    parts += [_call(call) for call in calls]
    parts = parts or (text_parts(value) if isinstance(value, str) else [opaque(value)])
    return Message(Role.ASSISTANT, tuple(parts), source_role="output", raw=value)


def _is_call(value: Any) -> bool:
    return isinstance(value, dict) and "toolCallId" in value


def _call(value: dict[str, Any]) -> Part:
    """A tool call as the AI SDK reports it."""
    arguments = value.get("input", value.get("args"))
    return call(value.get("toolName"), arguments, value["toolCallId"], value)


def _usage(leaf: dict[str, Any]) -> Usage | None:
    details = object_of(leaf.get("usageDetails")) or object_of(leaf.get("usage"))
    sent, written = number(details.get("input")), number(details.get("output"))
    cached = number(details.get("input_cached_tokens"))
    if sent is None and written is None:
        return None
    # Langfuse takes the cached tokens out of "input" where it names them apart.
    # https://langfuse.com/docs/observability/features/token-and-cost-tracking
    total = sent + cached if sent is not None and cached is not None else sent
    return Usage(total, written, cached)
