"""Events of OpenHands from version 1 on. See formats.md section 14d.

https://docs.openhands.dev/sdk/arch/events and, for condensations, /sdk/arch/condenser
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from msgspec import structs

from stm_inspector.conversation.model import Message, Part, PartKind, Role
from stm_inspector.formats import blocks, openai_parts
from stm_inspector.formats.parts import counted, first_and_rest, opaque, string
from stm_inspector.formats.transcript import (
    Reading,
    call,
    list_of,
    number,
    object_of,
    result,
    system_message,
    text_parts,
    thinking,
    tools_message,
    when,
)

_FORGOTTEN = "forgotten by a condensation"
_UNKNOWN = "an event of a kind that is not known here"
_OWN = frozenset(
    ("ConversationStateUpdateEvent", "CondensationRequest", "PauseEvent", "TokenEvent")
)
"""Events between the program and its window; the model never sees them."""

_ERROR = "ConversationErrorEvent"
_ROLES = {"user": Role.USER, "assistant": Role.ASSISTANT, "system": Role.SYSTEM, "tool": Role.TOOL}


def is_log(value: Any) -> bool:
    """A list that holds events with a kind, a source and a time."""
    return isinstance(value, list) and any(
        isinstance(event, dict)
        and isinstance(event.get("kind"), str)
        and isinstance(event.get("source"), str)
        and "timestamp" in event
        for event in value
    )


def read(events: Sequence[Any]) -> Reading:
    """The messages that the events amount to: what was forgotten is marked, not left out."""
    forgotten: set[str] = set()
    summaries: list[tuple[int, Message]] = []
    messages: list[Message] = []
    notes: list[str] = []
    own = 0
    for event in events:
        kind = event.get("kind") if isinstance(event, dict) else None
        if kind in _OWN:
            own += 1
        elif kind == "Condensation":
            gone = {str(id) for id in list_of(event.get("forgotten_event_ids"))}
            forgotten |= gone
            notes.append(f"Condensed: {counted(len(gone), 'event')} forgotten.")
            summaries += _summary(event)
        elif kind == _ERROR:
            notes.append(f"The conversation failed: {str(event.get('detail'))[:200]}")
        else:
            _add(messages, event)
    if own:
        notes.append(f"{counted(own, 'event')} about the agent's state: never sent, left out.")
    if not any(message.source_field for message in messages):
        notes.append("The system prompt and the tool definitions are not in this file.")
    marked = [_marked(message, forgotten) for message in messages]
    return Reading(_with_summary(marked, summaries), notes)


def _summary(event: dict[str, Any]) -> Iterator[tuple[int, Message]]:
    """The summary and how many events of what is left stand before it."""
    parts = text_parts(event.get("summary"))
    if parts:
        tags = {"compaction": "summary"}
        offset = number(event.get("summary_offset")) or 0
        yield (
            offset,
            Message(
                Role.USER,
                tuple(parts),
                source_role="Condensation",
                id=string(event.get("id")),
                time=when(event.get("timestamp")),
                injected=True,
                tags=tags,
                raw=event,
            ),
        )


def _marked(message: Message, forgotten: set[str]) -> Message:
    ids = (message.id or "").split(" ")
    if message.source_field or not all(id in forgotten for id in ids):
        return message
    return structs.replace(message, unused=_FORGOTTEN)


def _with_summary(
    messages: list[Message], summaries: Sequence[tuple[int, Message]]
) -> list[Message]:
    """The messages with the last summary in place; those before it were summarised again."""
    if not summaries:
        return messages
    offset, summary = summaries[-1]
    older = [structs.replace(one, unused=_FORGOTTEN) for _, one in summaries[:-1]]
    left = 0
    for at, message in enumerate(messages):
        if left >= offset and (not message.source_field):
            return [*messages[:at], *older, summary, *messages[at:]]
        # System prompt and tools are one event.
        if not message.unused and message.source_field != "tools":
            left += len((message.id or "").split(" "))
    return [*messages, *older, summary]


def _add(messages: list[Message], event: Any) -> None:
    """Add what an event says; calls of one response become one message."""
    if not isinstance(event, dict):
        kept = Message(Role.USER, (opaque(event),), injected=True, unused=_UNKNOWN, raw=event)
        messages.append(kept)
        return
    kind = string(event.get("kind")) or ""
    if kind == "SystemPromptEvent":
        prompt = event.get("system_prompt")
        text = prompt.get("text") if isinstance(prompt, dict) else prompt
        messages += system_message(text, kind)
        messages += tools_message(event.get("tools"))
    elif kind == "MessageEvent":
        messages.append(_said(event, object_of(event.get("llm_message"))))
    elif kind == "ActionEvent":
        read = _message(Role.ASSISTANT, _action(event), event)
        response = string(event.get("llm_response_id"))
        last = messages[-1] if messages else None
        if response and last is not None and last.lock == response:
            ids = " ".join(id for id in (last.id, read.id) if id)
            messages[-1] = structs.replace(last, parts=(*last.parts, *read.parts), id=ids)
        else:
            messages.append(structs.replace(read, lock=response or ""))
    elif kind in ("ObservationEvent", "AgentErrorEvent", "UserRejectObservation"):
        messages.append(_message(Role.TOOL, [_observation(event, kind)], event))
    else:
        messages.append(_unknown(event))


def _said(event: dict[str, Any], raw: dict[str, Any]) -> Message:
    role = _ROLES.get(str(raw.get("role")))
    parts = [*_thoughts(raw), *_content(raw.get("content"))]
    parts += [part for _, part in openai_parts.calls_and_more(raw)]
    if role is None:
        return _unknown(event)
    person = event.get("source") == "user"
    return _message(role, parts, event, injected=role is Role.USER and not person)


def _unknown(event: dict[str, Any]) -> Message:
    read = _message(Role.USER, [opaque(event)], event, injected=True)
    return structs.replace(read, unused=_UNKNOWN)


def _content(value: Any) -> list[Part]:
    if not isinstance(value, list):
        return text_parts(value)
    parts: list[Part] = []
    for item in value:
        urls = item.get("image_urls") if isinstance(item, dict) else None
        if isinstance(urls, list):
            parts += [
                openai_parts.content_part({"type": "image_url", "image_url": {"url": url}})
                for url in urls
            ]
        else:
            parts.append(openai_parts.content_part(item))
    return parts


def _thoughts(raw: dict[str, Any]) -> list[Part]:
    blocks_of = [blocks.part_of(one) for one in list_of(raw.get("thinking_blocks"))]
    text = string(raw.get("reasoning_content"))
    if blocks_of or not text:
        return blocks_of
    return [thinking(text, text, "reasoning_content")]


def _action(event: dict[str, Any]) -> list[Part]:
    told = object_of(event.get("tool_call"))
    inner = object_of(told.get("function")) or told
    name = event.get("tool_name") or inner.get("name")
    arguments = inner.get("arguments", event.get("action"))
    id = event.get("tool_call_id") or told.get("id")
    return [
        *_thoughts(event),
        *_content(event.get("thought")),
        call(name, arguments, id, event, "ActionEvent"),
    ]


def _observation(event: dict[str, Any], kind: str) -> Part:
    seen = object_of(event.get("observation"))
    content = seen.get("content", event.get("error", event.get("rejection_reason")))
    parts = [part for part in _content(content) if part.text or part.kind is not PartKind.TEXT]
    text, rest = first_and_rest(parts)
    failed = seen.get("is_error") is True or kind != "ObservationEvent"
    name, id = event.get("tool_name"), event.get("tool_call_id")
    return result(name, text, id, event, kind, parts=rest, is_error=failed)


def _message(
    role: Role, parts: Sequence[Part], event: dict[str, Any], *, injected: bool = False
) -> Message:
    return Message(
        role,
        tuple(parts),
        source_role=string(event.get("kind")) or "",
        id=string(event.get("id")),
        time=when(event.get("timestamp")),
        injected=injected,
        raw=event,
    )
