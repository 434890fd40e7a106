"""LangSmith: runs of a trace, a list or one a line. See formats.md section 7."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from stm_inspector.conversation.edit import Edit
from stm_inspector.conversation.errors import InputError
from stm_inspector.conversation.model import Conversation, Message, Origin, Part, Role, Skipped
from stm_inspector.formats import openai_parts
from stm_inspector.formats.base import Entry, Format, Opened
from stm_inspector.formats.compose import compose
from stm_inspector.formats.document import Document
from stm_inspector.formats.langchain import api_of, message_of, model_in, removals
from stm_inspector.formats.langchain_messages import type_of
from stm_inspector.formats.parts import string
from stm_inspector.formats.values import elements

Run = dict[str, Any]


@dataclass(frozen=True, slots=True)
class _Window:
    """What one call of a model was sent and what it answered."""

    run: Run
    line: int
    sent: Sequence[Any]
    answer: Any

    @property
    def tools(self) -> list[Any]:
        tools = _inside(self.run, "extra", "invocation_params", "tools")
        return tools if isinstance(tools, list) else []

    @property
    def model(self) -> str | None:
        """The model asked, as the call's parameters or the answer say it."""
        asked = _inside(self.run, "extra", "invocation_params")
        asked = asked if isinstance(asked, dict) else {}
        named = string(asked.get("model")) or string(asked.get("model_name"))
        meta = string(_inside(self.run, "extra", "metadata", "ls_model_name"))
        return named or meta or model_in(self.answer)


class LangSmith(Format):
    """Exported runs: each call of a model is one exact context window."""

    id = "langsmith"
    title = "LangSmith runs"
    recognised_by = "Objects with run_type, inputs and dotted_order or trace_id."
    lacks = ""
    section = "7"
    help = (
        "Reads runs as a list or one a line; each run of the type llm is a conversation: what the "
        "model was sent, and its answer. Writes a request body of the API that was called."
    )

    def detect(self, document: Document) -> str | None:
        count = sum(1 for _ in _runs(document))
        return f"{count} objects with run_type and inputs" if count else None

    def open(self, document: Document) -> Opened:
        runs = sorted(_runs(document), key=lambda run: str(run[0].get("dotted_order", "")))
        windows = [window for run, line in runs if (window := _window(run, line)) is not None]
        if not windows:
            raise InputError(
                f"{document.name} holds {len(runs)} runs and none of the type llm with messages: "
                "export the whole trace."
            )
        entries = [_entry(number, window) for number, window in enumerate(windows)]
        default = max(entries, key=lambda entry: (entry.messages or 0, -entry.number)).number
        return Opened(entries, lambda number: _load(windows[number]), default)

    def write(self, conversation: Conversation, edit: Edit, *, reply_tokens: int) -> str:
        return compose(conversation, edit, conversation.api, reply_tokens=reply_tokens).text


def _runs(document: Document) -> Iterator[tuple[Run, int]]:
    for record in document.records:
        if isinstance(record.value, list):
            for item in elements(document.text, record):
                if _is_run(item.value):
                    yield item.value, record.line
        elif _is_run(record.value):
            yield record.value, record.line


def _is_run(value: Any) -> bool:
    return (
        isinstance(value, dict)
        and isinstance(value.get("run_type"), str)
        and "inputs" in value
        and ("dotted_order" in value or "trace_id" in value)
    )


def _window(run: Run, line: int) -> _Window | None:
    """The messages of a run; ``inputs.messages`` is a list of lists, one a prompt."""
    if run.get("run_type") != "llm":
        return None
    sent = _inside(run, "inputs", "messages")
    if isinstance(sent, list) and sent and isinstance(sent[0], list):
        sent = sent[0]
    if not isinstance(sent, list) or not sent:
        return None
    answer = _inside(run, "outputs", "generations")
    while isinstance(answer, list) and answer:
        answer = answer[0]
    answer = answer.get("message") if isinstance(answer, dict) else None
    return _Window(run, line, sent, answer)


def _inside(value: Any, *keys: str) -> Any:
    for key in keys:
        value = value.get(key) if isinstance(value, dict) else None
    return value


def _entry(number: int, window: _Window) -> Entry:
    gone = removals(window.sent)
    count = sum(type_of(raw) is not None and at not in gone for at, raw in enumerate(window.sent))
    count += (type_of(window.answer) is not None) + bool(window.tools)
    return Entry(number, string(window.run.get("name")) or "", window.model, count)


def _load(window: _Window) -> Conversation:
    messages: list[Message] = []
    skipped: list[Skipped] = []
    if window.tools:
        parts: tuple[Part, ...] = tuple(openai_parts.definition(tool) for tool in window.tools)
        messages.append(
            Message(Role.SYSTEM, parts, source_role="tools", source_field="tools", raw=window.tools)
        )
    gone = removals(window.sent)
    for at, raw in enumerate(window.sent):
        read = message_of(raw, window.line)
        if isinstance(read, Message):
            if at not in gone:
                messages.append(read)
        elif at not in gone:
            skipped.append(Skipped(window.line or None, f"messages[{at}] {read}"))
    notes = []
    answer = message_of(window.answer, window.line)
    if isinstance(answer, Message):
        messages.append(answer)
        notes.append("The last message is the recorded response; it was not part of the request.")
    if not window.tools:
        notes.append("The run names no tool definitions.")
    return Conversation(
        format=LangSmith.id,
        api=api_of(messages),
        messages=tuple(messages),
        model=window.model,
        origin=Origin(skipped=tuple(skipped), notes=tuple(notes)),
        source=window,
    )
