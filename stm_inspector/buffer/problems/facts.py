"""What the rules need to know of a conversation, as arrays made once."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from stm_inspector.buffer.problems.rule import Ints
from stm_inspector.conversation.model import Conversation, Message, Part, PartKind, Role
from stm_inspector.conversation.structure import Place, Structure

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
        anchor: the first message a person wrote, or -1.
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
    anchor: int

    def part(self, place: Place) -> Part:
        """The part at a place."""
        return self.conversation.messages[place[0]].parts[place[1]]


class _Places:
    """Lists that one walk over all messages fills."""

    def __init__(self) -> None:
        self.empty_texts: list[Place] = []
        self.marked_empty_texts: list[Place] = []
        self.late_results: list[Place] = []
        self.empty_compactions: list[Place] = []


def gather(conversation: Conversation) -> Facts:
    """Walk all messages once."""
    messages, structure = conversation.messages, conversation.structure
    places = _Places()
    for index, message in enumerate(messages):
        _look_at(index, message, places)
    links = _links(structure)
    server = np.array([_server(messages, row) for row in links.tolist()], dtype=bool)
    orphans = _pairs(structure.orphans)
    server_orphan = np.array([_server(messages, row) for row in orphans.tolist()], dtype=bool)
    people = (index for index, message in enumerate(messages) if message.by_person)
    return Facts(
        conversation=conversation,
        roles=np.array([_ROLE_CODES[message.role] for message in messages], dtype=np.int8),
        listed=_flags(message.source_field is None for message in messages),
        speaks=_flags(_speaks(message) for message in messages),
        answers=_flags(any(_is_answer(part) for part in message.parts) for message in messages),
        opens_with_thinking=_flags(
            bool(message.parts) and message.parts[0].kind is PartKind.THINKING
            for message in messages
        ),
        thinks=_flags(_any(message, PartKind.THINKING) for message in messages),
        signed=_flags(any(part.signed for part in message.parts) for message in messages),
        compacts=_flags(_any(message, PartKind.COMPACTION) for message in messages),
        unused=_flags(message.unused is not None for message in messages),
        empty=_flags(_is_empty(message) for message in messages),
        markers=np.fromiter(map(_markers, messages), dtype=np.int64, count=len(messages)),
        links=links[~server] if links.size else links,
        server_links=links[server] if links.size else links,
        duplicates=_duplicates(conversation),
        orphans=orphans[~server_orphan] if orphans.size else orphans,
        server_orphans=orphans[server_orphan] if orphans.size else orphans,
        unanswered=_pairs(structure.unanswered),
        empty_texts=_pairs(places.empty_texts),
        marked_empty_texts=_pairs(places.marked_empty_texts),
        late_results=_pairs(places.late_results),
        empty_compactions=_pairs(places.empty_compactions),
        prompt=np.array(list(_prompt(messages)), dtype=np.int64),
        anchor=next(people, -1),
    )


def _flags(values: Iterable[bool]) -> Bools:
    return np.fromiter(values, dtype=bool)


def _pairs(places: Sequence[Place]) -> Ints:
    return np.array(places, dtype=np.int64).reshape(-1, 2)


def _links(structure: Structure) -> Ints:
    rows = [(*link.call, *link.result) for link in structure.links]
    return np.array(rows, dtype=np.int64).reshape(-1, 4)


def _server(messages: Sequence[Message], row: Sequence[int]) -> bool:
    return messages[row[-2]].parts[row[-1]].server


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


def _speaks(message: Message) -> bool:
    return message.role is Role.USER and any(
        part.kind is not PartKind.TOOL_RESULT for part in message.parts
    )


def _is_answer(part: Part) -> bool:
    return part.kind is PartKind.TOOL_RESULT and not part.server


def _any(message: Message, kind: PartKind) -> bool:
    return any(part.kind is kind for part in message.parts)


def _is_empty(message: Message) -> bool:
    """No content, or an empty string that is not a block of its own (that one is rule A8's)."""
    parts = message.parts
    return not parts or (len(parts) == 1 and _is_empty_text(parts[0]) and not _is_block(parts[0]))


def _is_block(part: Part) -> bool:
    return isinstance(part.raw, dict)


def _is_empty_text(part: Part) -> bool:
    return part.kind is PartKind.TEXT and not part.text and part.hidden is None


def _markers(message: Message) -> int:
    return sum(
        part.cache_marker + sum(inner.cache_marker for inner in part.parts)
        for part in message.parts
    )


def _look_at(index: int, message: Message, places: _Places) -> None:
    late = False
    for number, part in enumerate(message.parts):
        place = (index, number)
        if _is_empty_text(part) and _is_block(part):
            (places.marked_empty_texts if part.cache_marker else places.empty_texts).append(place)
        elif part.kind is PartKind.COMPACTION and not part.text and part.hidden is None:
            places.empty_compactions.append(place)
        elif any(_is_empty_text(inner) for inner in part.parts):
            places.empty_texts.append(place)
        if _is_answer(part):
            if late:
                places.late_results.append(place)
        else:
            late = True


def _prompt(messages: Sequence[Message]) -> Iterable[int]:
    for index, message in enumerate(messages):
        if message.source_field == "tools":
            continue
        if _ROLE_CODES[message.role] != SYSTEM:
            return
        yield index
