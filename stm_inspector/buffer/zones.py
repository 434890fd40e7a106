"""Zones: where each message sits in the buffer, and what a policy may not touch."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from stm_inspector.buffer.plan import Zone
from stm_inspector.conversation.model import Conversation, PartKind, Role

Mask = NDArray[np.bool_]


@dataclass(frozen=True, eq=False, slots=True)
class Zones:
    """The zones of one conversation.

    The zones overlap (the task may stand in the current turn, a search hit in the tail).
    ``shown`` holds the one that a message is drawn in; ``members`` all that it belongs to.

    Attributes:
        shown: uint8[n], a ``Zone`` for each message: system before anchor before retrieved
            before current before tail before middle.
        members: zone -> bool[n].
        anchor: the task: the first message that a person wrote, or None. A message that the
            user marked as retrieved is no task. Where nobody wrote any, the first one in a
            user's place: a session that goes on after a compaction has its task in there.
        current: the first message of the current turn; n in an empty conversation.
    """

    shown: NDArray[np.uint8]
    members: Mapping[Zone, Mask]
    anchor: int | None
    current: int


def zones_of(
    conversation: Conversation, retrieved: Mask, marks: Mapping[int, bool], tail_turns: int
) -> Zones:
    """Divide the conversation into zones.

    ``retrieved`` is what the rules recognise, ``marks`` what the user says of single messages,
    and ``tail_turns`` how many turns before the current one count as the tail. Where nobody
    opened a turn, the newest message beside the system prompt counts as the current one.
    """
    n = len(conversation.messages)
    places = np.arange(n)
    system = np.fromiter(
        (
            message.role in (Role.SYSTEM, Role.DEVELOPER) or message.source_field is not None
            for message in conversation.messages
        ),
        dtype=np.bool_,
        count=n,
    )
    brought_in = retrieved.copy()
    for index, mark in marks.items():
        if 0 <= index < n:
            brought_in[index] = mark
    brought_in &= ~system
    starts = conversation.structure.turn_starts
    anchor = _task(conversation, marks)
    current, tail = _recent(starts, system, tail_turns)
    members = {
        Zone.SYSTEM: system,
        Zone.ANCHOR: places == (-1 if anchor is None else anchor),
        Zone.RETRIEVED: brought_in,
        Zone.CURRENT: (places >= current) & ~system,
        Zone.TAIL: (places >= tail) & (places < current) & ~system,
    }
    shown = np.full(n, Zone.MIDDLE, dtype=np.uint8)
    for zone in (Zone.TAIL, Zone.CURRENT, Zone.RETRIEVED, Zone.ANCHOR, Zone.SYSTEM):
        shown[members[zone]] = zone
    return Zones(shown, {**members, Zone.MIDDLE: shown == Zone.MIDDLE}, anchor, current)


def _task(conversation: Conversation, marks: Mapping[int, bool]) -> int | None:
    own = conversation.structure.turn_starts.tolist()
    candidates = own or (
        index
        for index, message in enumerate(conversation.messages)
        if message.role is Role.USER
        and any(part.kind is not PartKind.TOOL_RESULT for part in message.parts)
    )
    return next((index for index in candidates if not marks.get(index, False)), None)


def _recent(starts: NDArray[np.int32], system: Mask, tail_turns: int) -> tuple[int, int]:
    """Where the current turn begins, and where the tail before it does."""
    if len(starts):
        return int(starts[-1]), int(starts[max(0, len(starts) - 1 - tail_turns)])
    others = np.flatnonzero(~system)
    newest = int(others[-1]) if len(others) else len(system)
    return newest, newest
