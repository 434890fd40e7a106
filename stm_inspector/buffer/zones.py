"""Zones: where each message sits in the buffer, and what a policy may not touch."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from stm_inspector.buffer.plan import Zone
from stm_inspector.conversation.model import Conversation, Message, PartKind, Role

Mask = NDArray[np.bool_]


class Members(dict[Zone, Mask]):
    """Zone -> bool[n], each made when it is first asked for."""

    def __init__(self, zones: Zones) -> None:
        super().__init__()
        self._zones = zones

    def __missing__(self, zone: Zone) -> Mask:
        zones = self._zones
        mask: Mask = np.zeros(len(zones.system), dtype=np.bool_)
        if zone is Zone.SYSTEM:
            mask = zones.system
        elif zone is Zone.RETRIEVED:
            mask = zones.retrieved
        elif zone is Zone.MIDDLE:
            mask = zones.shown == Zone.MIDDLE
        elif zone is Zone.ANCHOR:
            if zones.anchor is not None:
                mask[zones.anchor] = True
        elif zone is Zone.CURRENT:
            mask[zones.current :] = ~zones.system[zones.current :]
        else:
            mask[zones.tail : zones.current] = ~zones.system[zones.tail : zones.current]
        self[zone] = mask
        return mask


@dataclass(frozen=True, eq=False)
class Zones:
    """The zones of one conversation.

    The zones overlap (the task may stand in the current turn, a search hit in the tail).
    ``shown`` holds the one that a message is drawn in; ``members`` all that it belongs to.

    Attributes:
        system, retrieved: bool[n], the members of these two.
        anchor: the task: the first message that a person wrote, or None. A message that the
            user marked as retrieved is no task. Where nobody wrote any, the first one in a
            user's place: a session that goes on after a compaction has its task in there.
        tail, current: the first message of the tail, and of the current turn; n in an empty
            conversation.
    """

    system: Mask
    retrieved: Mask
    anchor: int | None
    tail: int
    current: int

    @cached_property
    def members(self) -> Members:
        """Zone -> bool[n]."""
        return Members(self)

    @cached_property
    def shown(self) -> NDArray[np.uint8]:
        """uint8[n], a ``Zone`` for each message: system before anchor before retrieved before
        current before tail before middle."""
        shown = np.full(len(self.system), Zone.MIDDLE, dtype=np.uint8)
        shown[self.tail : self.current] = Zone.TAIL
        shown[self.current :] = Zone.CURRENT
        shown[self.retrieved] = Zone.RETRIEVED
        if self.anchor is not None:
            shown[self.anchor] = Zone.ANCHOR
        shown[self.system] = Zone.SYSTEM
        return shown


_SYSTEM = (Role.SYSTEM, Role.DEVELOPER)


class Zoning:
    """Divides a conversation, and every beginning of it, into zones.

    ``retrieved`` is what the rules recognise, bool[n], ``marks`` what the user says of single
    messages, and ``tail_turns`` how many turns before the current one count as the tail.

    Where no person opened a turn (a session that goes on after a compaction), the current one
    begins at the newest text in a user's place behind the task, such as a notification; without
    that, the newest message beside the system prompt is the current turn.
    """

    def __init__(
        self,
        conversation: Conversation,
        retrieved: Mask,
        marks: Mapping[int, bool],
        tail_turns: int,
    ) -> None:
        n = len(conversation.messages)
        self._system = np.fromiter(
            (
                message.role in _SYSTEM or message.source_field is not None
                for message in conversation.messages
            ),
            dtype=np.bool_,
            count=n,
        )
        self._retrieved = retrieved.copy()
        for index, mark in marks.items():
            if 0 <= index < n:
                self._retrieved[index] = mark
        self._retrieved &= ~self._system
        self._others = np.flatnonzero(~self._system)
        self._starts = conversation.structure.turn_starts
        self._tail_turns = tail_turns
        own = self._starts.tolist()
        self._task = next((index for index in own if not marks.get(index, False)), None)
        before = own[0] if own else n
        self._stand_ins = _stand_ins(conversation.messages[:before], marks)

    def at(self, length: int) -> Zones:
        """The zones of the first ``length`` messages."""
        starts = int(self._starts.searchsorted(length))
        stand_ins = int(self._stand_ins.searchsorted(length))
        if starts:
            task = self._task
            current = int(self._starts[starts - 1])
            tail = int(self._starts[max(0, starts - 1 - self._tail_turns)])
        else:
            task = int(self._stand_ins[0]) if stand_ins else None
            others = int(self._others.searchsorted(length))
            current = int(self._others[others - 1]) if others else length
            if stand_ins > 1:
                current = int(self._stand_ins[stand_ins - 1])
            tail = current
        return Zones(
            self._system[:length],
            self._retrieved[:length],
            task if task is not None and task < length else None,
            tail,
            current,
        )


def _stand_ins(messages: Sequence[Message], marks: Mapping[int, bool]) -> NDArray[np.intp]:
    """The texts in a user's place, ascending: what opens turns as long as no person wrote any."""
    return np.array(
        [
            index
            for index, message in enumerate(messages)
            if message.role is Role.USER
            and not marks.get(index, False)
            and any(part.kind is not PartKind.TOOL_RESULT for part in message.parts)
        ],
        dtype=np.intp,
    )
