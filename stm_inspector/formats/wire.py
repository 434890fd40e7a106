"""What the formats that are request bodies of an API have in common."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from msgspec import Struct, structs

from stm_inspector.conversation.edit import Edit
from stm_inspector.conversation.errors import InputError
from stm_inspector.conversation.model import (
    NO_TAGS,
    Conversation,
    Message,
    Origin,
    Part,
    Role,
    Skipped,
    Usage,
)
from stm_inspector.formats.base import Entry, Format, Opened
from stm_inspector.formats.calls import MESSAGES, Call, Shape, calls_of, node_at
from stm_inspector.formats.document import Document, parse
from stm_inspector.formats.edits import EditsByMessage, MessageEdit, steps
from stm_inspector.formats.parts import counted, string
from stm_inspector.formats.rewrite import Changes, Path, dumps, join, rewrite, verbatim
from stm_inspector.formats.values import Node, elements, member, opened

Piece = tuple[Path, Part]
"""A part and its place in the message it was read from."""

ROLES = {
    "system": Role.SYSTEM,
    "developer": Role.DEVELOPER,
    "user": Role.USER,
    "assistant": Role.ASSISTANT,
    "tool": Role.TOOL,
    "function": Role.TOOL,
}
"""The files' words for who speaks, and ours."""

_TAGS = frozenset(
    ("metadata", "importance", "salience", "priority", "sticky", "pinned", "source", "tags")
)
"""Members of a message that harnesses put marks in."""

_SYSTEM_FIELDS = frozenset(("system", "instructions", "systemInstruction", "system_instruction"))
"""Members of a body that are the system prompt; the other fields define tools."""

_TITLE = 60
"""Characters of a title that is made of a message's first words."""

_USER_IDS: tuple[Path, ...] = (("metadata", "user_id"), ("user",), ("safety_identifier",))
"""Members of a body that name a person; a body that comes out of a log is written without."""


@dataclass(frozen=True, slots=True)
class Response:
    """What a format found in a response: its messages as JSON text, and what they cost."""

    messages: tuple[str, ...]
    usage: Usage | None = None
    model: str | None = None
    id: str | None = None


class Spot(Struct, frozen=True, gc=False):
    """Where a message stands: in the member ``field`` of the body, or in the message list.

    ``place`` is its element of the list; None for a member of the body or an added message.
    ``own`` is its node; None where only the place in the list is known so far.
    """

    text: str
    value: Any
    own: Node | None = None
    field: str | None = None
    place: int | None = None
    line: int = 0


@dataclass(frozen=True, slots=True)
class WireSource:
    """The text that a conversation was read from, for writing it again.

    ``body`` and ``messages`` are None where the file has none; ``lines``: a message a line.
    """

    text: str
    spots: tuple[Spot, ...]
    body: Node | None = None
    messages: Node | None = None
    lines: bool = False
    wrapped: bool = False
    list_key: str = "messages"

    def node(self, spot: Spot) -> Node:
        """The message of ``spot`` with its place."""
        if spot.own is not None:
            return spot.own
        assert self.messages is not None
        assert spot.place is not None
        return elements(spot.text, self.messages)[spot.place]


class WireFormat(Format):
    """A request body, a list of messages, or a log of requests and responses of one API."""

    shape: Shape = MESSAGES
    """What tells requests, their messages and responses from everything else."""

    fields: tuple[str, ...] = ()
    """Members of the body that become messages of their own before all others, in order."""

    without_tools: tuple[str, ...] = ()
    """Members of the body that the API refuses where there are no tools."""

    @abstractmethod
    def sign(self, call: Call) -> str | None:
        """What in ``call`` speaks for this API, or None."""

    @abstractmethod
    def pieces(self, raw: dict[str, Any]) -> list[Piece]:
        """The parts of a message and where in it they stand."""

    def parts(self, raw: dict[str, Any]) -> tuple[Part, ...]:
        """The parts of a message."""
        return tuple([part for _, part in self.pieces(raw)])

    @abstractmethod
    def field_pieces(self, field: str, value: Any) -> list[Piece]:
        """The parts of a member of the body that becomes a message."""

    @abstractmethod
    def response(self, text: str, node: Node) -> Response | None:
        """The message in a response, or None where it holds none (an error)."""

    @abstractmethod
    def thinking(self, body: dict[str, Any]) -> bool | None:
        """Whether the request switches thinking on."""

    @abstractmethod
    def replaced(self, raw: dict[str, Any], text: str) -> Changes:
        """The changes to a message that make ``text`` its whole content."""

    @abstractmethod
    def result_changes(self, raw: dict[str, Any], path: Path, text: str) -> Changes:
        """The changes that make ``text`` the content of the tool result at ``path``."""

    @abstractmethod
    def dropped(self, raw: dict[str, Any], pieces: Sequence[Piece], parts: set[int]) -> Changes:
        """The changes that take ``parts`` out of a message of which something is left."""

    def replaced_field(self, field: str, text: str) -> str:
        """The JSON text of a member of the body that holds ``text`` alone."""
        return dumps(text)

    def inserted(self, role: str, text: str) -> str:
        """The JSON text of a message that is put in."""
        return dumps({"role": role, "content": text})

    def words(self, raw: Any) -> str | None:
        """The first text of a message of the user, for a title; None if it is not the user's."""
        if not isinstance(raw, dict) or raw.get("role") != "user":
            return None
        content = raw.get("content")
        if isinstance(content, list):
            texts = (string(part.get("text")) for part in content if isinstance(part, dict))
            content = next((text for text in texts if text), None)
        return content if isinstance(content, str) else ""

    def answers(self, response: dict[str, Any]) -> int:
        """How many messages a response adds."""
        return int(not response.get("error"))

    def cleaned(self, text: str, body: Node) -> str:
        """A body out of a log, without the credentials in it."""
        return verbatim(text, body)

    def notes(self, call: Call) -> list[str]:
        """What the user should know about this request, one sentence each."""
        return []

    def api_of(self, messages: Sequence[Message]) -> str:
        """The API that the messages belong to."""
        return self.id

    def model_of(self, call: Call) -> str | None:
        """The model, where the request or the response says it."""
        model = call.body_value.get("model") or call.response_value.get("model")
        return model if isinstance(model, str) else None

    def calls(self, document: Document) -> list[Call]:
        """The requests and responses in ``document``."""
        return calls_of(document, self.shape)

    def finished(self, messages: list[Message]) -> list[Message]:
        """The messages with what can only be said once all are read."""
        return messages

    def detect(self, document: Document) -> str | None:
        found = [sign for call in self.calls(document) if (sign := self.sign(call))]
        if not found:
            return None
        return found[0] if len(found) == 1 else f"{len(found)} requests, the first: {found[0]}"

    def open(self, document: Document) -> Opened:
        every = self.calls(document)
        known = [call for call in every if self.sign(call)] if len(every) > 1 else every
        calls = known or every
        if not calls:
            raise InputError(
                f"{document.name} holds no messages: neither a list of them nor a request "
                f"or response of {self.title}."
            )
        entries = tuple(self._entry(number, call) for number, call in enumerate(calls))
        used = sum(len(call.lines) or 1 for call in calls)
        others = max(len(document.records), len(every)) - used
        notes = _notes_on_others(others, self.title)
        default = max(entries, key=lambda entry: (entry.messages or 0, -entry.number)).number
        return Opened(entries, lambda number: self._load(document, calls[number], notes), default)

    def _entry(self, number: int, call: Call) -> Entry:
        body = call.body_value
        count = len(call.messages) + sum(bool(body.get(field)) for field in self.fields)
        if call.response is not None:
            count += self.answers(call.response_value)
        return Entry(number, self._title(call), self.model_of(call), count)

    def _load(self, document: Document, call: Call, notes: Sequence[str]) -> Conversation:
        source, response, more = self._source(document, call)
        reads = [
            self._read_field(spot) if spot.field else self._read(spot.value, spot.line)
            for spot in source.spots
        ]
        messages = [read for read in reads if isinstance(read, Message)]
        spots, skipped = source.spots, list[Skipped]()
        if len(messages) < len(reads):
            both = list(zip(spots, reads, strict=True))
            spots = tuple(spot for spot, read in both if isinstance(read, Message))
            skipped = [
                Skipped(call.record.line or None, f"messages[{spot.place}] {read}")
                for spot, read in both
                if isinstance(read, str)
            ]
        if response is not None and spots and spots[-1] is source.spots[-1]:
            last = messages[-1]
            id = last.id or response.id
            messages[-1] = structs.replace(last, usage=response.usage, model=response.model, id=id)
        if all(message.source_field for message in messages):
            reason = f": {skipped[0].reason}" if skipped else ""
            raise InputError(f"{document.name} holds a request without messages{reason}.")
        body = call.body_value
        return Conversation(
            format=self.id,
            api=self.api_of(messages),
            messages=tuple(self.finished(messages)),
            model=self.model_of(call),
            thinking=self.thinking(body) if body else None,
            origin=Origin(skipped=tuple(skipped), notes=(*notes, *more, *self.notes(call))),
            source=replace(source, spots=spots),
        )

    def _source(
        self, document: Document, call: Call
    ) -> tuple[WireSource, Response | None, list[str]]:
        """The places of the messages of ``call``, its response, and notes on it."""
        text, notes = document.text, []
        body = messages = None
        if call.body is not None:
            body = node_at(text, call.record, call.body)
        elif call.messages and not call.lines:
            messages = call.record
        response, own = None, list[Spot]()
        if call.response is not None:
            answered = node_at(text, call.record, call.response)
            response = self.response(text, answered) if answered else None
            if response is not None:
                nodes = [(one, parse(one).records[0]) for one in response.messages]
                own = [Spot(one, node.value, node) for one, node in nodes]
            notes.append(_note_on_response(call, response))
        if body is not None and call.wrapped:
            # A log holds credentials beside the body: keep nothing of it but the body.
            text = self.cleaned(text, body)
            body = parse(text).records[0]
        spots: list[Spot] = []
        if body is not None:
            opened(text, body)
            messages = member(text, body, call.list_key)
            for name in self.fields:
                node = member(text, body, name)
                if node is not None and node.value:
                    spots.append(Spot(text, node.value, node, name))
        if call.lines:
            spots += [
                Spot(text, node.value, node, None, n, node.line)
                for n, node in enumerate(call.lines)
            ]
        elif messages is not None and isinstance(messages.value, str):
            spots.append(Spot(text, messages.value, messages, None, 0))
        elif messages is not None:
            spots += [Spot(text, one, None, None, n) for n, one in enumerate(messages.value)]
        spots += own
        source = WireSource(
            text, tuple(spots), body, messages, bool(call.lines), call.wrapped, call.list_key
        )
        return source, response, notes

    def _read(self, raw: Any, line: int) -> Message | str:
        """A message, or what is wrong with it."""
        if not isinstance(raw, dict):
            return "is no object"
        word = raw.get("role")
        if not isinstance(word, str) or word not in ROLES:
            return f"has no role that is known: {str(word)[:40]!r}" if word else "has no role"
        role = ROLES[word]
        parts = self.parts(raw)
        if is_bare(raw):
            return Message(role, parts, word, line=line or None, raw=raw)
        name = raw.get("name")
        marks = () if _TAGS.isdisjoint(raw) else _TAGS.intersection(raw)
        return Message(
            role,
            parts,
            source_role=word,
            name=name if isinstance(name, str) else None,
            line=line or None,
            tags={mark: raw[mark] for mark in marks} if marks else NO_TAGS,
            raw=raw,
        )

    def _read_field(self, spot: Spot) -> Message | None:
        field = spot.field or ""
        parts = tuple(part for _, part in self.field_pieces(field, spot.value))
        if not parts:
            return None
        shown = "system" if field in _SYSTEM_FIELDS else "tools"
        return Message(Role.SYSTEM, parts, source_role=field, source_field=shown, raw=spot.value)

    def _title(self, call: Call) -> str:
        """The first words of the first user message."""
        for message in call.messages:
            words = self.words(message)
            if words is not None:
                words = " ".join(words[:200].split())
                return words if len(words) <= _TITLE else f"{words[: _TITLE - 1].rstrip()}…"
        return ""

    def write(self, conversation: Conversation, edit: Edit, *, reply_tokens: int) -> str:
        source: WireSource = conversation.source
        changes: dict[Path, str | None] = {
            (spot.field,): None for spot in source.spots if spot.field is not None
        }
        pieces: list[tuple[int | None, str]] = []
        edits = EditsByMessage(edit)
        for index, insert in steps(edit):
            if insert is not None:
                pieces.append((None, self.inserted(insert.role, insert.text)))
                continue
            spot = source.spots[index]
            node = source.node(spot)
            written = self._written(spot, node, edits.of(index))
            if spot.field is None and written is not None:
                pieces.append((spot.place, written))
            elif spot.field is not None and written == verbatim(spot.text, node):
                del changes[(spot.field,)]
            elif spot.field is not None:
                changes[(spot.field,)] = written
        if not pieces:
            raise InputError("Nothing is left to export: raise the budget or protect something.")
        if source.lines:
            return "\n".join(piece for _, piece in pieces) + "\n"
        if source.messages is None:
            return f"[{', '.join(piece for _, piece in pieces)}]"
        listed = _listed(source.text, source.messages, pieces)
        if source.body is None:
            return listed
        changes |= self._body_changes(source, changes)
        return rewrite(source.text, source.body, {**changes, (source.list_key,): listed})

    def _body_changes(self, source: WireSource, changes: Changes) -> dict[Path, str | None]:
        more: dict[Path, str | None] = {}
        body = source.body.value if source.body else {}
        tools = [name for name in ("tools", "functions") if body.get(name)]
        if tools and all(changes.get((name,), "") is None for name in tools):
            more |= dict.fromkeys([(name,) for name in self.without_tools])
        if source.wrapped:
            for path in _USER_IDS:
                if _holds(body, path):
                    more[path] = None
        if "choices" in body:
            # A stored completion: its answer now stands among the messages.
            more |= dict.fromkeys([("choices",), ("object",), ("usage",), ("id",), ("created",)])
        return more

    def _written(self, spot: Spot, node: Node, edit: MessageEdit) -> str | None:
        """The JSON text of a message under ``edit``; None where nothing is left of it."""
        raw = spot.value
        if edit.text is not None:
            if spot.field is not None:
                return self.replaced_field(spot.field, edit.text)
            if isinstance(raw, str):
                return dumps(edit.text)
            return rewrite(spot.text, node, self.replaced(raw, edit.text))
        if not edit.results and not edit.gone:
            return rewrite(spot.text, node, {})
        if isinstance(raw, str):
            return None
        pieces = self.field_pieces(spot.field, raw) if spot.field else self.pieces(raw)
        if edit.gone and len(edit.gone) == len(pieces):
            return None
        changes: dict[Path, str | None] = {}
        for part, new in edit.results.items():
            if part not in edit.gone:
                changes |= self.result_changes(raw, pieces[part][0], new)
        if spot.field:
            changes |= {pieces[part][0]: None for part in edit.gone}
        else:
            changes |= self.dropped(raw, pieces, edit.gone)
        return rewrite(spot.text, node, changes)


def is_bare(message: dict[str, Any]) -> bool:
    """It has a role and a content and nothing else, as most messages have."""
    return len(message) == 2 and "content" in message and "role" in message


def _holds(value: Any, path: Path) -> bool:
    for key in path:
        if not isinstance(value, dict) or key not in value:
            return False
        value = value[key]
    return True


def _listed(text: str, messages: Node, pieces: Sequence[tuple[int | None, str]]) -> str:
    """The message list that holds ``pieces``; a single text stays one if nothing joins it."""
    if not isinstance(messages.value, str):
        return join(text, messages, pieces)
    if len(pieces) == 1 and pieces[0][0] == 0:
        return pieces[0][1]
    said = [
        new if place is None else f'{{"role": "user", "content": {new}}}' for place, new in pieces
    ]
    return f"[{', '.join(said)}]"


def _note_on_response(call: Call, response: Response | None) -> str:
    if response is not None and call.body is None:
        return "This is a response alone: the request it answers is not in this file."
    if response is not None and len(response.messages) > 1:
        many = len(response.messages)
        return f"The last {many} messages are the recorded response; they were not in the request."
    if response is not None:
        return "The last message is the recorded response; it was not part of the request."
    error = call.response_value.get("error")
    reason = error.get("message") if isinstance(error, dict) else error
    return f"The recorded response is an error and holds no message: {str(reason)[:200]}"


def _notes_on_others(others: int, title: str) -> list[str]:
    if others <= 0:
        return []
    return [f"{counted(others, 'record')} without a request of {title} in this file: left out."]
