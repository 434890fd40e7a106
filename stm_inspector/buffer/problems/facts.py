"""What the rules need to know of a conversation, as arrays made once."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from stm_inspector.buffer.problems.rule import Ints
from stm_inspector.conversation.model import Conversation, Message, Part, PartKind, Role
from stm_inspector.conversation.structure import Place

Bools = NDArray[np.bool_]
SYSTEM, USER, ASSISTANT, TOOL = range(4)
_ROLE_CODES = {
    Role.SYSTEM: SYSTEM,
    Role.DEVELOPER: SYSTEM,
    Role.USER: USER,
    Role.ASSISTANT: ASSISTANT,
    Role.TOOL: TOOL,
}


def role_code(role: str) -> int:
    """Code of a role in our words; developer counts as system."""
    return _ROLE_CODES[Role(role)]


@dataclass(frozen=True, eq=False, slots=True)
class Facts:
    """Static facts of a conversation of n messages; see ``Part`` and ``Structure`` for the words.

    Attributes:
        roles: int8[n], ``SYSTEM``, ``USER``, ``ASSISTANT`` or ``TOOL``.
        listed: bool[n], stands in the message list (not in a field beside it).
        speaks: bool[n], a user message with more than tool results.
        answers: bool[n], holds results of client tools.
        opens_with_thinking, thinks, signed, compacts, unused: bool[n].
        empty: bool[n], has no content at all.
        markers: int64[n], cache markers in it.
        links, server_links: int64[k, 4], call message and part, result message and part;
            tools that the client runs, and that the provider runs.
        duplicates: int64[k, 4], the same for results of a call that has one already.
        orphans, server_orphans, unanswered: int64[k, 2], message and part.
        empty_texts, marked_empty_texts, late_results, empty_compactions: int64[k, 2].
        prompt: int64[k], the messages of the system prompt that opens the conversation.
    """

    conversation: Conversation
    roles: NDArray[np.int8]
    listed: Bools
    speaks: Bools
    answers: Bools
    opens_with_thinking: Bools
    thinks: Bools
    signed: Bools
    compacts: Bools
    unused: Bools
    empty: Bools
    markers: Ints
    links: Ints
    server_links: Ints
    duplicates: Ints
    orphans: Ints
    server_orphans: Ints
    unanswered: Ints
    empty_texts: Ints
    marked_empty_texts: Ints
    late_results: Ints
    empty_compactions: Ints
    prompt: Ints

    def part(self, place: Place) -> Part:
        """The part at a place."""
        return self.conversation.messages[place[0]].parts[place[1]]


# Python 3.11 takes longer to look a member up than to look at a part.
_USER = Role.USER
_TEXT = PartKind.TEXT
_RESULT = PartKind.TOOL_RESULT
_THINKING = PartKind.THINKING
_COMPACTION = PartKind.COMPACTION


class _Walk:
    """What one walk over all messages collects, a list per array of ``Facts``."""

    def __init__(self) -> None:
        self.empty_texts: list[Place] = []
        self.marked_empty_texts: list[Place] = []
        self.late_results: list[Place] = []
        self.empty_compactions: list[Place] = []
        self.speaks: list[int] = []
        self.answers: list[int] = []
        self.opens_with_thinking: list[int] = []
        self.thinks: list[int] = []
        self.signed: list[int] = []
        self.compacts: list[int] = []
        self.empty: list[int] = []
        self.markers: list[int] = []

    def look_at(self, index: int, message: Message) -> None:
        parts = message.parts
        if not parts:
            self.empty.append(index)
            return
        if parts[0].kind is _THINKING:
            self.opens_with_thinking.append(index)
        results = 0
        for number, part in enumerate(parts):
            kind = part.kind
            if kind is _TEXT:
                if not part.text and part.hidden is None:
                    self._empty_text((index, number), part, alone=len(parts) == 1)
            elif kind is _RESULT:
                results += 1
                self._result((index, number), part, late=results <= number)
            elif kind is _THINKING:
                self.thinks.append(index)
                if part.signed:
                    self.signed.append(index)
            elif kind is _COMPACTION:
                self.compacts.append(index)
                if not part.text and part.hidden is None:
                    self.empty_compactions.append((index, number))
            if part.cache_marker:
                self.markers.append(index)
        if message.role is _USER and results < len(parts):
            self.speaks.append(index)

    def _empty_text(self, place: Place, part: Part, *, alone: bool) -> None:
        """An empty string that is all of a message makes it empty; a block breaks a rule itself."""
        if alone and not isinstance(part.raw, dict):
            self.empty.append(place[0])
        else:
            (self.marked_empty_texts if part.cache_marker else self.empty_texts).append(place)

    def _result(self, place: Place, part: Part, *, late: bool) -> None:
        if part.parts:
            self.markers += [place[0]] * sum(inner.cache_marker for inner in part.parts)
            if any(
                inner.kind is _TEXT and not inner.text and inner.hidden is None
                for inner in part.parts
            ):
                self.empty_texts.append(place)
        if not part.server:
            self.answers.append(place[0])
            if late:
                self.late_results.append(place)


def gather(conversation: Conversation) -> Facts:
    """Walk all messages once."""
    messages, structure = conversation.messages, conversation.structure
    walk = _Walk()
    for index, message in enumerate(messages):
        walk.look_at(index, message)
    links = np.array(
        [(*link.call, *link.result) for link in structure.links], dtype=np.int64
    ).reshape(-1, 4)
    orphans = _pairs(structure.orphans)
    by_server, orphan_of_server = _by_server(messages, links), _by_server(messages, orphans)
    total = len(messages)

    def flags(indices: list[int]) -> Bools:
        result = np.zeros(total, dtype=bool)
        result[indices] = True
        return result

    return Facts(
        conversation=conversation,
        roles=np.array([_ROLE_CODES[message.role] for message in messages], dtype=np.int8),
        listed=np.array([message.source_field is None for message in messages], dtype=bool),
        unused=np.array([message.unused is not None for message in messages], dtype=bool),
        speaks=flags(walk.speaks),
        answers=flags(walk.answers),
        opens_with_thinking=flags(walk.opens_with_thinking),
        thinks=flags(walk.thinks),
        signed=flags(walk.signed),
        compacts=flags(walk.compacts),
        empty=flags(walk.empty),
        markers=np.bincount(np.array(walk.markers, dtype=np.int64), minlength=total),
        links=links[~by_server],
        server_links=links[by_server],
        duplicates=_duplicates(conversation),
        orphans=orphans[~orphan_of_server],
        server_orphans=orphans[orphan_of_server],
        unanswered=_pairs(structure.unanswered),
        empty_texts=_pairs(walk.empty_texts),
        marked_empty_texts=_pairs(walk.marked_empty_texts),
        late_results=_pairs(walk.late_results),
        empty_compactions=_pairs(walk.empty_compactions),
        prompt=np.array(list(_prompt(messages)), dtype=np.int64),
    )


def _pairs(places: Sequence[Place]) -> Ints:
    return np.array(places, dtype=np.int64).reshape(-1, 2)


def _by_server(messages: Sequence[Message], rows: Ints) -> Bools:
    """bool[k]: the result at the end of each row is that of a server tool."""
    return np.array([messages[row[-2]].parts[row[-1]].server for row in rows.tolist()], dtype=bool)


def _duplicates(conversation: Conversation) -> Ints:
    """Each surplus result with the call that it answers once more: the last before it of its id."""
    messages, structure = conversation.messages, conversation.structure
    if not structure.duplicates:
        return np.empty((0, 4), dtype=np.int64)
    calls: dict[str | None, list[Place]] = {}
    for call in sorted(link.call for link in structure.links):
        calls.setdefault(messages[call[0]].parts[call[1]].call_id, []).append(call)
    rows = []
    for index, number in structure.duplicates:
        same_id = calls.get(messages[index].parts[number].call_id, [])
        behind = bisect_left(same_id, (index, number))
        if behind:
            rows.append((*same_id[behind - 1], index, number))
    return np.array(rows, dtype=np.int64).reshape(-1, 4)


def _prompt(messages: Sequence[Message]) -> Iterable[int]:
    for index, message in enumerate(messages):
        if message.source_field == "tools":
            continue
        if _ROLE_CODES[message.role] != SYSTEM:
            return
        yield index
