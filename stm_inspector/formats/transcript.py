"""What the formats have in common that are no request of an API.

Exports of chat programs, states of frameworks, data sets: each has its own shape, and all of them
are written as the request body of the API that they record.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from stm_inspector.conversation.edit import Edit
from stm_inspector.conversation.errors import InputError
from stm_inspector.conversation.model import (
    Conversation,
    Message,
    Origin,
    Part,
    PartKind,
    Role,
    Skipped,
)
from stm_inspector.formats.base import Entry, Format, Opened
from stm_inspector.formats.claude_tree import seconds
from stm_inspector.formats.compose import compose
from stm_inspector.formats.document import Document
from stm_inspector.formats.parts import as_text, opaque, string
from stm_inspector.formats.rewrite import dumps

_TITLE = 60
"""Characters of a title that is made of a message's first words."""

_SAMPLE = 256
"""Elements of a long list that are looked at to tell what it is."""

_MILLISECONDS = 1e11
"""Numbers above are milliseconds since the epoch; in seconds that would be the year 5138."""


@dataclass(frozen=True, slots=True)
class Reading:
    """A conversation that was read.

    Attributes:
        notes: what is particular about this one, one sentence each.
        api: id of the API it is written for; "" for the usual one of the format.
    """

    messages: Sequence[Message]
    notes: Sequence[str] = ()
    skipped: Sequence[Skipped] = ()
    api: str = ""
    model: str | None = None


@dataclass(frozen=True, slots=True)
class Talk:
    """A conversation of a file before it is read. ``messages``: how many ``read`` will give."""

    read: Callable[[], Reading]
    title: str = ""
    model: str | None = None
    messages: int | None = None
    time: float | None = None


class TranscriptFormat(Format):
    """A recording that is no request: written by ``compose``.

    Attributes:
        api: id of the API that the conversations are written for.
        not_here: what no file of this kind holds, one sentence each.
    """

    api: ClassVar[str] = "openai-chat"
    not_here: ClassVar[tuple[str, ...]] = ()

    @abstractmethod
    def talks(self, document: Document) -> Sequence[Talk]:
        """The conversations in ``document``, the one to show first at the front."""

    def open(self, document: Document) -> Opened:
        talks = self.talks(document)
        if not talks:
            raise InputError(f"{document.name} holds no conversation of the kind {self.title}.")
        entries = tuple(
            Entry(number, talk.title, talk.model, talk.messages, talk.time)
            for number, talk in enumerate(talks)
        )
        return Opened(entries, lambda number: self._load(document, talks[number]))

    def _load(self, document: Document, talk: Talk) -> Conversation:
        reading = talk.read()
        if not reading.messages:
            raise InputError(
                f"{document.name} holds no messages in {talk.title or 'this conversation'!r}: "
                "open another conversation."
            )
        return Conversation(
            format=self.id,
            api=reading.api or self.api,
            messages=tuple(reading.messages),
            model=reading.model or talk.model,
            title=talk.title,
            origin=Origin(skipped=tuple(reading.skipped), notes=(*self.not_here, *reading.notes)),
            source=document.path,
        )

    def write(self, conversation: Conversation, edit: Edit, *, reply_tokens: int) -> str:
        messages = conversation.messages
        kept = [index for index in edit.kept if not messages[index].unused]
        asked = replace(edit, kept=kept)
        return compose(conversation, asked, conversation.api, reply_tokens=reply_tokens).text


def objects(document: Document) -> Iterator[dict[str, Any]]:
    """The objects of a file: the one it holds, those of the list it holds, or one a line."""
    for record in document.records:
        values = record.value if isinstance(record.value, list) else [record.value]
        yield from (value for value in values if isinstance(value, dict))


def some_objects(document: Document) -> Iterator[dict[str, Any]]:
    """Enough of the objects of a file to see what it is of."""
    for record in sampled(document.records):
        values = sampled(record.value) if isinstance(record.value, list) else [record.value]
        yield from (value for value in values if isinstance(value, dict))


def lists(document: Document) -> Iterator[list[Any]]:
    """The bare lists of a file; where it has an object a line, those as one list."""
    many = len(document.records) > 1
    if many and all(isinstance(record.value, dict) for record in document.records):
        yield [record.value for record in document.records]
    for record in document.records:
        if isinstance(record.value, list):
            yield record.value


def sampled(values: Sequence[Any]) -> Sequence[Any]:
    """Enough of a list to see what it is of: its beginning, and some of all the rest."""
    if len(values) <= _SAMPLE:
        return values
    return [*values[: _SAMPLE // 4], *values[_SAMPLE // 4 :: len(values) // _SAMPLE + 1]]


def when(value: Any) -> float | None:
    """A time in seconds since the epoch: of ISO 8601, seconds or milliseconds; None if none."""
    if isinstance(value, str):
        return seconds(value)
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    if not 0 < value < 1e15:
        return None
    return value / 1000 if value > _MILLISECONDS else float(value)


def latest(values: Iterable[Any]) -> float | None:
    """The last of these times."""
    return max((time for value in values if (time := when(value)) is not None), default=None)


def shortened(text: str) -> str:
    """The first words of a text, for a title."""
    words = " ".join(text[:200].split())
    return words if len(words) <= _TITLE else f"{words[: _TITLE - 1].rstrip()}…"


def api_of(*names: Any) -> str:
    """The API that a model or provider of one of these names is asked by."""
    asked = " ".join(name.lower() for name in names if isinstance(name, str))
    return "anthropic-messages" if "claude" in asked or "anthropic" in asked else "openai-chat"


def number(value: Any) -> int | None:
    """A whole number, or None."""
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def object_of(value: Any) -> dict[str, Any]:
    """``value`` if it is an object, else an empty one."""
    return value if isinstance(value, dict) else {}


def list_of(value: Any) -> list[Any]:
    """``value`` if it is a list, else an empty one."""
    return value if isinstance(value, list) else []


def text_parts(value: Any, kind: str = "text") -> list[Part]:
    """A text as a part; nothing for an empty one; what is no text verbatim."""
    if value is None or value == "":
        return []
    if not isinstance(value, str):
        return [opaque(value)]
    return [Part(PartKind.TEXT, value, source_type=kind, raw=value)]


def thinking(text: str, raw: Any, kind: str = "thinking", *, signed: bool = False) -> Part:
    return Part(PartKind.THINKING, text, signed=signed, source_type=kind, raw=raw)


def call(name: Any, arguments: Any, id: Any, raw: Any, kind: str = "tool_call") -> Part:
    """A tool call; ``arguments`` are JSON already, or a value."""
    text = "{}" if arguments is None else as_text(arguments)
    return Part(PartKind.TOOL_CALL, text, string(name), string(id), source_type=kind, raw=raw)


def result(
    name: Any,
    content: Any,
    id: Any,
    raw: Any,
    kind: str = "tool_result",
    *,
    parts: Sequence[Part] = (),
    is_error: bool = False,
) -> Part:
    """A tool result; ``content`` is its text or a value, ``parts`` what it holds beside."""
    return Part(
        PartKind.TOOL_RESULT,
        "" if content is None else as_text(content),
        string(name),
        string(id),
        tuple(parts),
        is_error=is_error,
        source_type=kind,
        raw=raw,
    )


def system_message(text: Any, source_role: str = "system") -> list[Message]:
    """A system prompt that stands outside the list of messages; nothing where there is none."""
    parts = text_parts(text)
    if not parts:
        return []
    return [
        Message(Role.SYSTEM, tuple(parts), source_role=source_role, source_field="system", raw=text)
    ]


def tools_message(tools: Any) -> list[Message]:
    """The tool definitions; nothing where there are none."""
    parts = [_definition(tool) for tool in list_of(tools)]
    if not parts:
        return []
    return [
        Message(Role.SYSTEM, tuple(parts), source_role="tools", source_field="tools", raw=tools)
    ]


def _definition(tool: Any) -> Part:
    if not isinstance(tool, dict):
        return opaque(tool)
    inner = tool["function"] if isinstance(tool.get("function"), dict) else tool
    return Part(
        PartKind.TOOL_DEFINITION,
        dumps(tool),
        name=string(inner.get("name")),
        source_type=string(tool.get("type")) or "function",
        raw=tool,
    )


def answered(
    parts: Iterable[Part], *, in_turn: bool, make: Callable[[Role, tuple[Part, ...]], Message]
) -> list[Message]:
    """The messages that one record of the assistant with calls and results in it was made of.

    Args:
        in_turn: a call behind a result was made after it; else results stand beside their calls
            although the calls were made together.
        make: makes the message of the assistant, or of the tools.
    """
    messages: list[Message] = []
    said: list[Part] = []
    results: list[Part] = []

    def flush() -> None:
        if said:
            messages.append(make(Role.ASSISTANT, tuple(said)))
        if results:
            messages.append(make(Role.TOOL, tuple(results)))
        said.clear()
        results.clear()

    for part in parts:
        if part.kind is PartKind.TOOL_RESULT:
            results.append(part)
            continue
        if results and (in_turn or part.kind is not PartKind.TOOL_CALL):
            flush()
        said.append(part)
    flush()
    return messages
