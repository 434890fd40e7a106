"""What every plan over one conversation shares until pins, marks or protection change.

A slider tick must not walk the messages: everything that does not depend on the budget is laid
out here once, as arrays, with the running token sums that a policy then only searches.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import IntEnum

import numpy as np
from numpy.typing import NDArray

from stm_inspector.buffer.plan import Zone
from stm_inspector.buffer.zones import Mask, Zones, zones_of
from stm_inspector.conversation.model import Conversation
from stm_inspector.tokens.counts import TokenCounts


class Held(IntEnum):
    """Why no policy may touch a message; also the index of its reason in ``HELD_REASONS``."""

    FREE = 0
    PARTNER = 1
    MIDDLE = 2
    TAIL = 3
    CURRENT = 4
    RETRIEVED = 5
    ANCHOR = 6
    TOOLS = 7
    SYSTEM = 8
    PIN = 9


HELD_REASONS = (
    "Kept",
    "Kept with a protected message of its lock group",
    "Middle: protected by your settings",
    "Recent turn: protected by your settings",
    "Current turn: always kept",
    "Retrieved context: protected by your settings",
    "The task: always kept",
    "Tool definitions: always kept",
    "System prompt: always kept",
    "Pinned: always kept",
)
"""The first reasons of every decision, in the order of ``Held``."""

_BY_STRENGTH = (
    (Zone.MIDDLE, Held.MIDDLE),
    (Zone.TAIL, Held.TAIL),
    (Zone.CURRENT, Held.CURRENT),
    (Zone.RETRIEVED, Held.RETRIEVED),
    (Zone.ANCHOR, Held.ANCHOR),
    (Zone.SYSTEM, Held.SYSTEM),
)


@dataclass(frozen=True, slots=True)
class LayoutKey:
    """What a layout depends on beside the conversation and its counts."""

    pins: frozenset[int]
    marks: tuple[tuple[int, bool], ...]
    protect: frozenset[str]
    locks: bool
    tail_turns: int


@dataclass(frozen=True, eq=False, slots=True)
class Layout:
    """Zones, protection and lock units of one conversation.

    A unit is a lock group or a message that stands alone; without locks every message is one.
    A unit is as new as its newest member.

    Attributes:
        zones: see ``Zones``.
        pinned: bool[n]; with locks all members of a pinned group.
        held: uint8[n], a ``Held``; ``FREE`` for what a policy may touch.
        protected: bool[n], ``held`` is not ``FREE``.
        protect, locks: as in the policy's settings.
        oldest, newest: int32[n], the oldest and newest member of each message's unit.
        unit_newest: int64[units], the newest member of each free unit, newest unit first.
        unit_sums: int64[units], tokens of the free units up to and including each one.
        protected_tokens, total_tokens: without the overhead of the request.
    """

    zones: Zones
    pinned: Mask
    held: NDArray[np.uint8]
    protected: Mask
    protect: frozenset[str]
    locks: bool
    oldest: NDArray[np.int32]
    newest: NDArray[np.int32]
    unit_newest: NDArray[np.int64]
    unit_sums: NDArray[np.int64]
    protected_tokens: int
    total_tokens: int


def lay_out(
    conversation: Conversation, counts: TokenCounts, retrieved: Mask, key: LayoutKey
) -> Layout:
    """Lay out ``conversation``. ``retrieved`` is what the rules recognise: bool[n]."""
    n = len(conversation.messages)
    zones = zones_of(conversation, retrieved, dict(key.marks), key.tail_turns)
    oldest, newest = _ends(conversation, locks=key.locks)
    pinned = np.zeros(n, dtype=np.bool_)
    pinned[[pin for pin in key.pins if 0 <= pin < n]] = True
    pinned = _whole_units(pinned, newest)
    held = _held(conversation, zones, key.protect, pinned)
    held[_whole_units(held != Held.FREE, newest) & (held == Held.FREE)] = Held.PARTNER
    protected = held != Held.FREE
    unit_newest, unit_sums = _free_units(counts.messages, protected, newest)
    return Layout(
        zones=zones,
        pinned=pinned,
        held=held,
        protected=protected,
        protect=key.protect,
        locks=key.locks,
        oldest=oldest,
        newest=newest,
        unit_newest=unit_newest,
        unit_sums=unit_sums,
        protected_tokens=int(counts.messages[protected].sum()),
        total_tokens=int(counts.messages.sum()),
    )


def _ends(
    conversation: Conversation, *, locks: bool
) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    oldest = np.arange(len(conversation.messages), dtype=np.int32)
    newest = oldest.copy()
    groups = conversation.structure.groups
    if locks and groups:
        group_of = conversation.structure.group_of
        inside = group_of >= 0
        oldest[inside] = np.asarray([members[0] for members in groups])[group_of[inside]]
        newest[inside] = np.asarray([members[-1] for members in groups])[group_of[inside]]
    return oldest, newest


def _whole_units(mask: Mask, newest: NDArray[np.int32]) -> Mask:
    """Spread a mask from any member to its whole unit."""
    touched = np.zeros(len(mask), dtype=np.bool_)
    touched[newest[mask]] = True
    return touched[newest]


def _held(
    conversation: Conversation, zones: Zones, protect: frozenset[str], pinned: Mask
) -> NDArray[np.uint8]:
    held = np.zeros(len(pinned), dtype=np.uint8)
    for zone, reason in _BY_STRENGTH:
        if zone.word in protect:
            held[zones.members[zone]] = reason
    if Zone.SYSTEM.word in protect:
        for index in np.flatnonzero(zones.members[Zone.SYSTEM]):
            if conversation.messages[index].source_field == "tools":
                held[index] = Held.TOOLS
    held[pinned] = Held.PIN
    return held


def _free_units(
    tokens: NDArray[np.int64], protected: Mask, newest: NDArray[np.int32]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The newest member and the running token sum of each free unit, newest unit first."""
    of_unit = np.zeros(len(tokens), dtype=np.int64)
    np.add.at(of_unit, newest, tokens)
    is_newest = newest == np.arange(len(tokens), dtype=np.int32)
    places = np.flatnonzero(is_newest & ~protected)[::-1]
    return places, np.cumsum(of_unit[places])


def key_of(
    pins: frozenset[int],
    marks: Mapping[int, bool],
    protect: frozenset[str],
    *,
    locks: bool,
    tail_turns: int,
) -> LayoutKey:
    """The key under which a layout is cached."""
    return LayoutKey(pins, tuple(sorted(marks.items())), protect, locks, tail_turns)
