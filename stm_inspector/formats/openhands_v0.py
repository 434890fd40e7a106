"""Events of OpenHands before version 1. See formats.md section 14c."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from stm_inspector.conversation.model import Message, Part, Role, Usage
from stm_inspector.formats import openai_parts
from stm_inspector.formats.parts import counted, opaque, string
from stm_inspector.formats.transcript import (
    Reading,
    call,
    list_of,
    number,
    object_of,
    result,
    system_message,
    text_parts,
    tools_message,
    when,
)

_OWN = frozenset(("change_agent_state", "agent_state_changed", "null", "recall_failure"))
"""Events between the program and its window; the model never sees them."""

_ANSWERED = "tool_call_metadata"


def is_log(value: Any) -> bool:
    """A list that holds events with a source and an action or observation."""
    return isinstance(value, list) and any(
        isinstance(event, dict)
        and isinstance(event.get("source"), str)
        and (isinstance(event.get("action"), str) or isinstance(event.get("observation"), str))
        for event in value
    )


def read(events: Sequence[Any]) -> Reading:
    """The messages that the events amount to."""
    forgotten, notes = _forgotten(events)
    messages: list[Message] = []
    own = 0
    written: set[str] = set()
    for event in events:
        if not isinstance(event, dict):
            messages.append(_kept(event))
            continue
        kind = string(event.get("action")) or string(event.get("observation")) or ""
        if kind in _OWN:
            own += 1
            continue
        unused = "forgotten by a condensation" if event.get("id") in forgotten else None
        messages += _messages(event, kind, unused, written)
    if own:
        notes.append(f"{counted(own, 'event')} about the agent's state: never sent, left out.")
    if not any(message.source_field for message in messages):
        notes.append("The system prompt and the tool definitions are not in this file.")
    model = next((_response(e).get("model") for e in events if _response(e).get("model")), None)
    return Reading(messages, notes, model=string(model))


def _forgotten(events: Sequence[Any]) -> tuple[set[Any], list[str]]:
    """The ids of the events that condensations took out, listed or as a range."""
    gone: set[Any] = set()
    for event in events:
        if not isinstance(event, dict) or event.get("action") != "condensation":
            continue
        args = object_of(event.get("args"))
        listed = list_of(args.get("forgotten_event_ids"))
        gone |= {id for id in listed if isinstance(id, int | str)}
        start = number(args.get("forgotten_events_start_id"))
        end = number(args.get("forgotten_events_end_id"))
        if start is not None and end is not None:
            known = (one.get("id") for one in events if isinstance(one, dict))
            gone |= {id for id in known if isinstance(id, int) and start <= id <= end}
    notes = [f"Condensed: {counted(len(gone), 'event')} forgotten."] if gone else []
    return gone, notes


def _messages(
    event: dict[str, Any], kind: str, unused: str | None, written: set[str]
) -> Iterator[Message]:
    args = object_of(event.get("args"))
    if event.get("action") == "system":
        yield from system_message(args.get("content"), "system")
        yield from tools_message(args.get("tools"))
        return
    if event.get("action") == "condensation":
        if args.get("summary"):
            parts = text_parts(args["summary"])
            tags = {"compaction": "summary"}
            yield Message(Role.USER, tuple(parts), kind, injected=True, tags=tags, raw=event)
        return
    if "observation" in event:
        yield _observation(event, kind, unused)
    elif event.get("source") == "agent":
        yield from _action(event, kind, args, unused, written)
    else:
        content = args.get("content", event.get("content"))
        person = event.get("source") == "user" and kind == "message"
        parts = text_parts(content) or [opaque(event)]
        parts += [openai_parts.content_part(_image(url)) for url in list_of(args.get("image_urls"))]
        yield _message(Role.USER, parts, event, kind, unused, injected=not person)


def _image(url: Any) -> dict[str, Any]:
    return {"type": "image_url", "image_url": {"url": url}}


def _observation(event: dict[str, Any], kind: str, unused: str | None) -> Message:
    told = object_of(event.get(_ANSWERED))
    content = event.get("content")
    id = string(told.get("tool_call_id"))
    name = string(told.get("function_name"))
    failed = kind == "error" or object_of(event.get("extras")).get("error") is True
    if id is None and event.get("cause") is not None:
        id, name = f"event-{event['cause']}", name or None
    if id is None:
        parts = text_parts(content) or [opaque(event)]
        return _message(Role.USER, parts, event, kind, unused, injected=True)
    part = result(name, content, id, event, kind, is_error=failed)
    return _message(Role.TOOL, [part], event, kind, unused)


def _action(
    event: dict[str, Any], kind: str, args: dict[str, Any], unused: str | None, written: set[str]
) -> Iterator[Message]:
    """What the agent did. A response that made several calls stands in each of their events."""
    response = _response(event)
    id = string(response.get("id"))
    choices = list_of(response.get("choices"))
    raw = object_of(object_of(choices[0] if choices else None).get("message"))
    if raw.get("tool_calls"):
        if id is not None and id in written:
            return
        written.add(id or "")
        thought = text_parts(string(raw.get("content")))
        parts = [*thought, *(part for _, part in openai_parts.calls_and_more(raw))]
        yield _message(Role.ASSISTANT, parts, event, kind, unused, usage=_usage(response))
        return
    said = text_parts(args.get("content") if kind == "message" else args.get("thought"))
    told = object_of(event.get(_ANSWERED))
    if kind not in ("message", "finish") or told:
        at = string(told.get("tool_call_id")) or f"event-{event.get('id')}"
        more = {key: value for key, value in args.items() if key != "thought"}
        said.append(call(told.get("function_name") or kind, more, at, event, kind))
    yield _message(Role.ASSISTANT, said or [opaque(event)], event, kind, unused)


def _response(event: Any) -> dict[str, Any]:
    told = object_of(event.get(_ANSWERED)) if isinstance(event, dict) else {}
    return object_of(told.get("model_response"))


def _usage(response: dict[str, Any]) -> Usage | None:
    usage = object_of(response.get("usage"))
    cached = number(object_of(usage.get("prompt_tokens_details")).get("cached_tokens"))
    sent, made = number(usage.get("prompt_tokens")), number(usage.get("completion_tokens"))
    return None if sent is None and made is None else Usage(sent, made, cached)


def _kept(event: Any) -> Message:
    return Message(Role.USER, (opaque(event),), injected=True, unused="it is no event", raw=event)


def _message(
    role: Role,
    parts: Sequence[Part],
    event: dict[str, Any],
    kind: str,
    unused: str | None,
    *,
    injected: bool = False,
    usage: Usage | None = None,
) -> Message:
    return Message(
        role,
        tuple(parts),
        source_role=kind,
        id=None if event.get("id") is None else str(event["id"]),
        time=when(event.get("timestamp")),
        injected=injected,
        unused=unused,
        usage=usage,
        raw=event,
    )
