"""Which tool result answers which call, where ids repeat, are empty or are missing.

The rule: a result answers the nearest preceding unanswered call with the same id; where either
side has no id, the tool's name decides, and without a name the order. Real logs need all three:
agents reuse one id for every call, the OpenAI-compatible endpoint of Gemini sends empty ids, and
Ollama and Gemini send none.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from stm_inspector.conversation.model import Message, Part, PartKind

Place = tuple[int, int]
"""(message index, part index)."""


class Link(NamedTuple):
    """A tool call and the result that answers it."""

    call: Place
    result: Place


@dataclass(slots=True)
class Pairs:
    """The outcome. ``duplicates`` links each surplus result to the call that had its answer."""

    links: list[Link] = field(default_factory=list)
    orphans: list[Place] = field(default_factory=list)
    unanswered: list[Place] = field(default_factory=list)
    duplicates: list[Link] = field(default_factory=list)
    reused_ids: list[str] = field(default_factory=list)
    reused_since: list[int] = field(default_factory=list)


class _Waiting:
    """Open calls in runs: the newest run answers first, and its oldest call before the others.

    Newest run first, because a call that was interrupted long ago must not take the results of
    all later ones; in order within it, because parallel results come in order.
    """

    def __init__(self) -> None:
        self._runs: list[tuple[int, list[int]]] = []
        self._heads: list[int] = []

    def add(self, call: int, run: int) -> None:
        if self._runs and self._runs[-1][0] == run:
            self._runs[-1][1].append(call)
        else:
            self._runs.append((run, [call]))
            self._heads.append(0)

    def take(self, answered: bytearray) -> int | None:
        """Take out the call that answers next; those answered by another way are skipped."""
        while self._runs:
            calls = self._runs[-1][1]
            while self._heads[-1] < len(calls):
                call = calls[self._heads[-1]]
                self._heads[-1] += 1
                if not answered[call]:
                    return call
            self._runs.pop()
            self._heads.pop()
        return None


class _Matcher:
    """Reads calls and results in order; calls are numbered as they come.

    Every step depends on what came before only, so the pairs of the first k messages are those
    of the whole log that lie within them. Each call is looked at a fixed number of times.
    """

    def __init__(self, *, by_name: bool) -> None:
        self.pairs = Pairs()
        self.places: list[Place] = []
        self.answered = bytearray()
        self._index_names = by_name
        self._newest: dict[str, int] = {}
        self._reused: dict[str, _Waiting] = {}
        self._by_name: defaultdict[tuple[bool, bool, str | None], _Waiting] = defaultdict(_Waiting)

    def add_call(self, place: Place, part: Part, run: int) -> None:
        call = len(self.places)
        self.places.append(place)
        self.answered.append(0)
        key = part.call_id
        if key:
            if key in self._newest:
                self._reuse(key, call)
            self._newest[key] = call
        if self._index_names:
            for name in {part.name, None}:
                self._by_name[False, part.server, name].add(call, run)
                if not key:
                    self._by_name[True, part.server, name].add(call, run)

    def _reuse(self, key: str, call: int) -> None:
        """Calls with one id answer the newest message first, and in order within it."""
        if key not in self._reused:
            earlier = self._newest[key]
            self.pairs.reused_ids.append(key)
            self.pairs.reused_since.append(self.places[call][0])
            self._reused[key] = _Waiting()
            self._reused[key].add(earlier, self.places[earlier][0])
        self._reused[key].add(call, self.places[call][0])

    def add_result(self, place: Place, part: Part) -> None:
        call = self._find(part)
        if call is None:
            self.pairs.orphans.append(place)
        elif self.answered[call]:
            self.pairs.duplicates.append(Link(self.places[call], place))
        else:
            self.answered[call] = 1
            self.pairs.links.append(Link(self.places[call], place))

    def _find(self, part: Part) -> int | None:
        """The call that a result answers; one answered already if the result is surplus."""
        key = part.call_id
        if key and key in self._newest:
            again = self._reused[key].take(self.answered) if key in self._reused else None
            return self._newest[key] if again is None else again
        # Without an id any open call may be meant; with an unknown one, calls that have none.
        return self._by_name[bool(key), part.server, part.name].take(self.answered)


def pair(messages: Sequence[Message], turn_starts: Sequence[int]) -> Pairs:
    """Pair the calls and results of ``messages``. Linear in the number of parts.

    ``turn_starts`` are the messages that open a turn: a result without an id rather answers a
    call of its own turn. ``unanswered`` lists calls of client tools only: providers accept a
    server tool's call without its result.
    """
    call, result = PartKind.TOOL_CALL, PartKind.TOOL_RESULT
    matcher = _Matcher(by_name=_misses_ids(messages))
    opens_turn = frozenset(turn_starts)
    run = 0
    for index, message in enumerate(messages):
        if index in opens_turn:
            run += 1
        number = 0
        for part in message.parts:
            kind = part.kind
            if kind is call:
                matcher.add_call((index, number), part, run)
            elif kind is result:
                matcher.add_result((index, number), part)
                run += 1
            number += 1  # noqa: SIM113  (enumerate costs a tuple a part)
    matcher.pairs.unanswered = [
        place
        for place, answered in zip(matcher.places, matcher.answered, strict=True)
        if not answered and not messages[place[0]].parts[place[1]].server
    ]
    return matcher.pairs


def _misses_ids(messages: Sequence[Message]) -> bool:
    """Whether any call or result is without an id, so that names have to be looked at."""
    kinds = (PartKind.TOOL_CALL, PartKind.TOOL_RESULT)
    for message in messages:
        for part in message.parts:
            if not part.call_id and part.kind in kinds:
                return True
    return False
