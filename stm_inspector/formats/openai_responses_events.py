"""Streams of the OpenAI Responses API: from the events to the response that they tell of.

Event types: https://platform.openai.com/docs/api-reference/responses-streaming
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from stm_inspector.formats.document import Document, parse
from stm_inspector.formats.parts import counted
from stm_inspector.formats.rewrite import dumps, verbatim
from stm_inspector.formats.values import Node, member

_LAST = frozenset(("response.completed", "response.incomplete", "response.failed"))
_DELTAS = {
    "response.output_text.delta": ("message", "output_text"),
    "response.refusal.delta": ("message", "refusal"),
    "response.reasoning_text.delta": ("reasoning", "reasoning_text"),
    "response.reasoning_summary_text.delta": ("reasoning", "summary_text"),
    "response.function_call_arguments.delta": ("function_call", "arguments"),
    "response.custom_tool_call_input.delta": ("custom_tool_call", "input"),
}


def joined(document: Document) -> Document:
    """The responses in a document of events, a line each; any other document as it is."""
    events = [record for record in document.records if _is_event(record.value)]
    if not events:
        return document
    texts, open_events = [], list[Node]()
    for event in events:
        open_events.append(event)
        if event.value["type"] in _LAST:
            response = member(document.text, event, "response")
            if response is not None and isinstance(response.value, dict):
                texts.append(verbatim(document.text, response))
                open_events = []
    notes = [f"The answer was put together from {counted(len(events), 'event')} of a stream."]
    if open_events and (rest := _from_deltas(event.value for event in open_events)):
        texts.append(dumps(rest))
        notes.append("The stream breaks off: the last answer is what had arrived by then.")
    if not texts:
        return document
    lines = "\n".join(text.replace("\n", " ") for text in texts)
    return replace(parse(lines, document.path), notes=tuple(notes))


def _is_event(value: Any) -> bool:
    return (
        isinstance(value, dict)
        and isinstance(value.get("type"), str)
        and value["type"].startswith("response.")
    )


def _from_deltas(events: Iterable[dict[str, Any]]) -> dict[str, Any] | None:
    """What arrived of a response, or None where nothing of its output did."""
    response: dict[str, Any] = {}
    items: dict[Any, dict[str, Any]] = {}
    for event in events:
        place = event.get("output_index", 0)
        place = place if isinstance(place, int) else 0
        if isinstance(event.get("response"), dict):
            response = event["response"]
        if isinstance(event.get("item"), dict):
            items[place] = dict(event["item"])
        elif event["type"] in _DELTAS and isinstance(event.get("delta"), str):
            item = items.setdefault(place, {"type": _DELTAS[event["type"]][0]})
            _append(item, event, _DELTAS[event["type"]][1])
    if not items:
        return None
    output = [items[place] for place in sorted(items)]
    for item in output:
        if item.get("type") == "message":
            item.setdefault("role", "assistant")
    return {**response, "object": "response", "status": "incomplete", "output": output}


def _append(item: dict[str, Any], event: dict[str, Any], kind: str) -> None:
    delta = event["delta"]
    if kind in ("arguments", "input"):
        item[kind] = f"{item.get(kind) or ''}{delta}"
        item.setdefault("name", event.get("name"))
        return
    key = "summary" if kind == "summary_text" else "content"
    parts = item[key] = list(item[key]) if isinstance(item.get(key), list) else []
    at = event.get("summary_index" if key == "summary" else "content_index", 0)
    at = at if isinstance(at, int) and 0 <= at <= len(parts) else len(parts)
    if at == len(parts) or not isinstance(parts[at], dict):
        parts[at:] = [{"type": kind, "text": ""}]
    text = "refusal" if kind == "refusal" else "text"
    parts[at] = {**parts[at], text: f"{parts[at].get(text) or ''}{delta}"}
