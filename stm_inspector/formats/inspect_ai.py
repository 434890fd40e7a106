"""Logs of Inspect. See formats.md section 13. https://inspect.aisi.org.uk/eval-logs.html"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

from stm_inspector.conversation.errors import InputError
from stm_inspector.conversation.model import Message, Usage
from stm_inspector.formats.chat_messages import WindowsFormat, chat_message
from stm_inspector.formats.document import Document
from stm_inspector.formats.inspect_messages import parts_of
from stm_inspector.formats.parts import counted, string
from stm_inspector.formats.transcript import (
    Reading,
    Talk,
    api_of,
    list_of,
    number,
    object_of,
    objects,
    tools_message,
    when,
)

_ATTACHED = re.compile(r"attachment://([0-9a-f]+)")


class InspectAI(WindowsFormat):
    """A log of an evaluation: its samples, and in each the calls of the model."""

    id = "inspect-ai"
    title = "Inspect log"
    recognised_by = "version and eval beside samples or status; in a zip (.eval) their members."
    lacks = "Old logs hold the messages of a sample alone, without its calls and tools."
    section = "13"
    help = (
        "Reads the messages of each sample and epoch, and each call of the model as one exact "
        "window: tools, input, and the output as the last message. Attachments and pooled "
        "messages are put in place. Zips are read with Zstandard, also unfinished ones. Writes "
        "the request body of the API that the model belongs to."
    )

    def detect(self, document: Document) -> str | None:
        for value in objects(document):
            if _is_log(value):
                return "version, status and eval" if "status" in value else "version and eval"
        return None

    def talks(self, document: Document) -> Sequence[Talk]:
        talks: list[Talk] = []
        for value in objects(document):
            for sample in list_of(value.get("samples")):
                if isinstance(sample, dict):
                    talks += _talks(sample, string(object_of(value.get("eval")).get("model")))
        if not talks:
            raise InputError(
                f"{document.name} holds the head of an Inspect log and no sample with messages: "
                "open it again when a sample is done."
            )
        return talks


def _is_log(value: dict[str, Any]) -> bool:
    return (
        "version" in value
        and isinstance(value.get("eval"), dict)
        and ("status" in value or isinstance(value.get("samples"), list))
    )


def _talks(sample: dict[str, Any], model: str | None) -> Iterator[Talk]:
    name = f"sample {str(sample.get('id'))[:60]}, epoch {str(sample.get('epoch'))[:20]}"
    messages = list_of(sample.get("messages"))
    end = when(sample.get("completed_at"))
    if messages:
        yield Talk(partial(_final, sample, messages, model), name, model, len(messages), end)
    events = [
        event
        for event in list_of(sample.get("events"))
        if isinstance(event, dict) and event.get("event") == "model"
    ]
    for place, event in enumerate(events, 1):
        sent = _sent(sample, event)
        if not sent:
            continue
        count = len(sent) + bool(event.get("tools")) + (_answer(event) is not None)
        title = f"{name}: call {place} of {len(events)}"
        asked = string(event.get("model")) or model
        read = partial(_window, sample, event, sent, asked)
        yield Talk(read, title, asked, count, when(event.get("timestamp")))


def _sent(sample: dict[str, Any], event: dict[str, Any]) -> list[Any]:
    """The input of a call, out of the pool of the sample's messages where it stands there."""
    listed = list_of(event.get("input"))
    if listed or not event.get("input_refs"):
        return listed
    pool = list_of(sample.get("message_pool")) or list_of(
        object_of(sample.get("events_data")).get("messages")
    )
    found: list[Any] = []
    for span in list_of(event["input_refs"]):
        places = [number(place) for place in list_of(span)]
        if len(places) == 2 and places[0] is not None and places[1] is not None:
            found += pool[max(0, places[0]) : max(0, places[1])]
    return found


def _answer(event: dict[str, Any]) -> dict[str, Any] | None:
    choices = list_of(object_of(event.get("output")).get("choices"))
    return object_of(object_of(choices[0] if choices else None).get("message")) or None


def _final(sample: dict[str, Any], messages: Sequence[Any], model: str | None) -> Reading:
    missing: set[str] = set()
    read = [_message(raw, sample, missing) for raw in messages]
    notes = ["These are the messages of the sample in the end; what each call sent may differ."]
    return _reading(read, notes, missing, model, "Tool definitions stand at the calls alone.")


def _window(
    sample: dict[str, Any], event: dict[str, Any], sent: Sequence[Any], model: str | None
) -> Reading:
    missing: set[str] = set()
    tools = tools_message(event.get("tools"))
    read = [*tools, *(_message(raw, sample, missing) for raw in sent)]
    answer = _answer(event)
    notes = []
    if answer is not None:
        usage = _usage(object_of(event.get("output")))
        said = string(object_of(event.get("output")).get("model"))
        read.append(_message(answer, sample, missing, model=said or model, usage=usage))
        notes.append("The last message is the recorded response; it was not part of the request.")
    elif event.get("error"):
        notes.append(f"The call failed: {str(event['error'])[:200]}")
    return _reading(read, notes, missing, model, "")


def _reading(
    read: Sequence[Message], notes: list[str], missing: set[str], model: str | None, more: str
) -> Reading:
    if missing:
        notes.append(f"{counted(len(missing), 'attachment')} not in the log: the references stay.")
    if more:
        notes.append(more)
    return Reading(read, notes, api=api_of(model), model=model)


def _message(
    raw: Any,
    sample: dict[str, Any],
    missing: set[str],
    *,
    model: str | None = None,
    usage: Usage | None = None,
) -> Message:
    whole = _resolved(raw, object_of(sample.get("attachments")), missing)
    if isinstance(whole, dict) and model is None:
        model = string(whole.get("model"))
    return chat_message(whole, parts_of=parts_of, model=model, usage=usage)


def _resolved(value: Any, attached: dict[str, Any], missing: set[str]) -> Any:
    """``value`` with every reference to an attachment replaced by what it refers to."""
    if isinstance(value, str):
        if "attachment://" not in value:
            return value

        def content(found: re.Match[str]) -> str:
            text = attached.get(found[1])
            if isinstance(text, str):
                return text
            missing.add(found[1])
            return found[0]

        return _ATTACHED.sub(content, value)
    if isinstance(value, list):
        return [_resolved(item, attached, missing) for item in value]
    if isinstance(value, dict):
        return {key: _resolved(item, attached, missing) for key, item in value.items()}
    return value


def _usage(output: dict[str, Any]) -> Usage | None:
    """Inspect keeps cached tokens apart from ``input_tokens``, whatever the provider."""
    usage = object_of(output.get("usage"))
    sent, written = number(usage.get("input_tokens")), number(usage.get("output_tokens"))
    read = number(usage.get("input_tokens_cache_read"))
    made = number(usage.get("input_tokens_cache_write"))
    if sent is None and written is None:
        return None
    total = None if sent is None else sent + (read or 0) + (made or 0)
    return Usage(total, written, read, made)
