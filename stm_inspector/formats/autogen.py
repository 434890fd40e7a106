"""AutoGen: states of agents and teams, and logs of their messages. See formats.md section 19."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from typing import Any, NamedTuple

from stm_inspector.conversation.model import Message, Part, PartKind, Role, Skipped, Usage
from stm_inspector.formats import media
from stm_inspector.formats.document import Document
from stm_inspector.formats.parts import counted, opaque, string
from stm_inspector.formats.transcript import (
    Reading,
    Talk,
    TranscriptFormat,
    call,
    list_of,
    lists,
    number,
    object_of,
    objects,
    result,
    sampled,
    some_objects,
    text_parts,
    thinking,
    when,
)

_CONTEXT = {
    "SystemMessage": Role.SYSTEM,
    "UserMessage": Role.USER,
    "AssistantMessage": Role.ASSISTANT,
    "FunctionExecutionResultMessage": Role.TOOL,
}
"""What an agent sends to its model."""

_CALLS = "ToolCallRequestEvent"
_RESULTS = "ToolCallExecutionEvent"
_THOUGHT = "ThoughtEvent"
_CHUNK = "ModelClientStreamingChunkEvent"
_TALK = frozenset(("TextMessage", "MultiModalMessage", "StopMessage", "HandoffMessage"))
_EVENTS = _TALK | {_CALLS, _RESULTS, _THOUGHT, "ToolCallSummaryMessage", "MemoryQueryEvent"}
"""What a team writes down while it works."""

_A_COPY = "a summary for the team that repeats the results of the tools"


class _Log(NamedTuple):
    name: str
    messages: list[Any]
    is_context: bool


class AutoGen(TranscriptFormat):
    """What ``save_state`` of an agent or team gives, and lists of a run's messages."""

    id = "autogen"
    title = "AutoGen state or messages"
    recognised_by = (
        "llm_context or agent_states; or messages of a type such as TextMessage and "
        "ToolCallRequestEvent with a source."
    )
    lacks = "The system messages, the tool definitions and the model."
    section = "19"
    help = (
        "The model context of each agent is a conversation, and so is the thread of a team. In a "
        "run's messages a thought belongs to the call behind it, and a tool summary counts as a "
        "copy. Writes an OpenAI Chat request body."
    )
    not_here = ("System messages and tool definitions are not in what AutoGen saves.",)

    def detect(self, document: Document) -> str | None:
        found = list(_logs(document, some_objects(document)))
        if not found:
            return None
        contexts = sum(log.is_context for log in found)
        if contexts:
            return f"the model context of {counted(contexts, 'agent')}"
        return "messages of AutoGen's types with a source"

    def talks(self, document: Document) -> Sequence[Talk]:
        found = sorted(
            _logs(document, objects(document)),
            key=lambda log: (not log.is_context, -len(log.messages)),
        )
        return [
            Talk(
                partial(_of_context if log.is_context else _of_events, log.messages),
                log.name,
                time=_last_time(log.messages),
            )
            for log in found
        ]


def _types(messages: Any) -> set[str]:
    return {str(raw.get("type")) for raw in sampled(list_of(messages)) if isinstance(raw, dict)}


def _logs(document: Document, values: Iterable[dict[str, Any]]) -> Iterator[_Log]:
    for found in lists(document):
        yield from _log("", found)
    for value in values:
        yield from _states(value, "")
        for name, state in object_of(value.get("agent_states")).items():
            yield from _states(object_of(state), name)
        yield from _log("", value.get("messages"))


def _states(state: dict[str, Any], name: str) -> Iterator[_Log]:
    """The logs in the state of an agent, however it is wrapped."""
    inner = object_of(state.get("agent_state")) or state
    context = object_of(inner.get("llm_context") or inner.get("model_context")).get("messages")
    yield from _log(name, context)
    yield from _log(f"{name}: message thread".removeprefix(": "), state.get("message_thread"))


def _log(name: str, messages: Any) -> Iterator[_Log]:
    types = _types(messages)
    if not types.isdisjoint(_CONTEXT):
        yield _Log(name, list_of(messages), True)
    elif not types.isdisjoint(_EVENTS):
        yield _Log(name, list_of(messages), False)


def _last_time(messages: Sequence[Any]) -> float | None:
    last = messages[-1]
    return when(last.get("created_at")) if isinstance(last, dict) else None


def _of_context(messages: Sequence[Any]) -> Reading:
    read: list[Message] = []
    unknown: Counter[str] = Counter()
    for raw in messages:
        role = _CONTEXT.get(str(raw.get("type"))) if isinstance(raw, dict) else None
        if role is None:
            unknown["message of an unknown type"] += 1
            continue
        content = raw.get("content")
        thought = string(raw.get("thought"))
        parts = [thinking(thought, raw["thought"], "thought")] if thought else []
        if role is Role.TOOL:
            parts += [_result(item) for item in list_of(content)]
        elif role is Role.ASSISTANT and isinstance(content, list):
            parts += [_call(item) for item in content]
        else:
            parts += _said(content)
        read.append(_message(role, raw, parts))
    return Reading(read, skipped=_skipped(unknown))


def _of_events(messages: Sequence[Any]) -> Reading:
    read: list[Message] = []
    unknown: Counter[str] = Counter()
    thought: list[Part] = []
    for raw in messages:
        kind = str(raw.get("type")) if isinstance(raw, dict) else ""
        if kind == _CHUNK:
            unknown["streamed piece of a message that stands whole behind it"] += 1
        elif kind == _THOUGHT:
            thought = [thinking(string(raw.get("content")) or "", raw, "thought")]
        elif kind == _RESULTS:
            parts = [_result(item) for item in list_of(raw.get("content"))]
            read.append(_message(Role.TOOL, raw, parts))
        elif kind == _CALLS:
            parts = [*thought, *(_call(item) for item in list_of(raw.get("content")))]
            read.append(_message(Role.ASSISTANT, raw, parts))
            thought = []
        elif kind in _EVENTS:
            read.append(_spoken(raw, kind, thought))
            thought = []
        elif kind:
            read.append(_message(Role.USER, raw, [opaque(raw)]))
        else:
            unknown["entry without a type"] += 1
    return Reading(read, skipped=_skipped(unknown))


def _spoken(raw: dict[str, Any], kind: str, thought: Sequence[Part]) -> Message:
    """A message of a person, an agent, or the harness (what its memory found)."""
    person = raw.get("source") == "user"
    parts = [*thought, *_said(raw.get("content"))]
    if kind == "MemoryQueryEvent":
        said = [opaque(item) for item in list_of(raw.get("content"))]
        return Message(
            Role.USER, tuple(said), source_role=kind, injected=True, tags={"source": kind}, raw=raw
        )
    unused = _A_COPY if kind == "ToolCallSummaryMessage" else None
    return _message(Role.USER if person else Role.ASSISTANT, raw, parts, unused)


def _skipped(unknown: Counter[str]) -> list[Skipped]:
    return [Skipped(None, counted(count, what)) for what, count in unknown.items()]


def _message(
    role: Role, raw: dict[str, Any], parts: Sequence[Part], unused: str | None = None
) -> Message:
    source = string(raw.get("source"))
    usage = object_of(raw.get("models_usage"))
    sent, written = number(usage.get("prompt_tokens")), number(usage.get("completion_tokens"))
    return Message(
        role,
        tuple(parts),
        source_role=str(raw.get("type")),
        name=None if role is Role.TOOL or source == role.value else source,
        id=string(raw.get("id")),
        time=when(raw.get("created_at")),
        unused=unused,
        usage=Usage(sent, written) if usage and role is Role.ASSISTANT else None,
        raw=raw,
    )


def _said(content: Any) -> list[Part]:
    """A text, or texts and pictures (base64 in ``data``)."""
    if not isinstance(content, list):
        return text_parts(content)
    parts: list[Part] = []
    for item in content:
        data = item.get("data") if isinstance(item, dict) else None
        if isinstance(data, str):
            found = media.from_base64(data, "image/png")
            parts.append(Part(PartKind.IMAGE, media=found, source_type="image", raw=item))
        else:
            parts += text_parts(item)
    return parts


def _call(item: Any) -> Part:
    if not isinstance(item, dict):
        return opaque(item)
    return call(item.get("name"), item.get("arguments"), item.get("id"), item, "FunctionCall")


def _result(item: Any) -> Part:
    if not isinstance(item, dict):
        return opaque(item)
    return result(
        item.get("name"),
        item.get("content"),
        item.get("call_id"),
        item,
        "FunctionExecutionResult",
        is_error=item.get("is_error") is True,
    )
