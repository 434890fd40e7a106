"""What every plan over one conversation shares until pins, marks or protection change.

A slider tick must not walk the messages: everything that does not depend on the budget is laid
out here once, as arrays, with the running token sums that a policy then only searches.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import IntEnum

import numpy as np
from numpy.typing import NDArray

from stm_inspector.buffer.plan import Zone
from stm_inspector.buffer.scores import is_sticky
from stm_inspector.buffer.zones import Mask, Zones, Zoning
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
    STICKY = 10


# To be compared with array elements a thousand times: a member of an enum costs a look-up.
_TAIL, _CURRENT = np.uint8(Held.TAIL), np.uint8(Held.CURRENT)

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
    "Sticky: the file marks it as one that always stays",
)
"""The first reasons of every decision, in the order of ``Held``: the stronger, the later."""

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
    sticky: bool


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


class Layouts:
    """The layouts of one conversation under one key, at every length that it once had.

    ``retrieved`` is what the rules recognise: bool[n]. Most lengths are a matter of slices: as
    long as what is always kept at the end begins between two lock groups, everything before it
    is laid out as in the whole log.
    """

    def __init__(
        self, conversation: Conversation, counts: TokenCounts, retrieved: Mask, key: LayoutKey
    ) -> None:
        n = len(conversation.messages)
        self._conversation, self._key = conversation, key
        self._tokens = counts.messages
        self._sums = _running(counts.messages)
        self._zoning = Zoning(conversation, retrieved, dict(key.marks), key.tail_turns)
        self._begins = conversation.structure.begins
        self._alone = np.arange(n, dtype=np.int32)
        self._tools = np.zeros(n, dtype=np.bool_)
        self._tools[[
            index
            for index, message in enumerate(conversation.messages)
            if message.source_field == "tools"
        ]] = True  # fmt: skip
        self._sticky = np.zeros(n, dtype=np.bool_)
        if key.sticky:
            self._sticky[:] = [is_sticky(message) for message in conversation.messages]
        self._pins = np.asarray(sorted(pin for pin in key.pins if 0 <= pin < n), dtype=np.int64)
        self._unpinned = np.zeros(n, dtype=np.bool_)
        self._bases: dict[int | None, _Base] = {}
        keeps = {zone: zone.word in key.protect for zone in Zone}
        self._keeps_current, self._keeps_tail = keeps[Zone.CURRENT], keeps[Zone.TAIL]
        self._gaps = keeps[Zone.MIDDLE] or (
            not keeps[Zone.SYSTEM] if keeps[Zone.CURRENT] else keeps[Zone.TAIL]
        )

    def at(self, length: int) -> Layout:
        """The layout of the first ``length`` messages."""
        zones = self._zoning.at(length)
        kept_from = self._kept_from(zones, length)
        if kept_from is None or (self._key.locks and self._begins.crossing[kept_from]):
            return self._made(zones, length)
        return self._sliced(zones, length, kept_from)

    def _kept_from(self, zones: Zones, length: int) -> int | None:
        """Where what is always kept at the end begins; None where it has gaps."""
        if self._gaps:
            return None
        if not self._keeps_current:
            return length
        return zones.tail if self._keeps_tail else zones.current

    def _ends(self, length: int) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        if self._key.locks:
            return self._begins.ends(length)
        return self._alone[:length], self._alone[:length]

    def _pinned(self, newest: NDArray[np.int32]) -> Mask:
        pinned: Mask = self._unpinned[: len(newest)]
        if len(self._pins):
            pinned = pinned.copy()
            pinned[self._pins[: int(self._pins.searchsorted(len(newest)))]] = True
            pinned = _whole_units(pinned, newest)
        return pinned

    def _held(self, zones: Zones, pinned: Mask) -> NDArray[np.uint8]:
        held = np.zeros(len(pinned), dtype=np.uint8)
        for zone, reason in _BY_STRENGTH:
            if zone.word in self._key.protect:
                held[zones.members[zone]] = reason
        if Zone.SYSTEM.word in self._key.protect:
            held[self._tools[: len(held)]] = Held.TOOLS
        held[self._sticky[: len(held)]] = Held.STICKY
        held[pinned] = Held.PIN
        return held

    def _made(self, zones: Zones, length: int) -> Layout:
        """The layout of whatever length, from the messages on."""
        oldest, newest = self._ends(length)
        pinned = self._pinned(newest)
        held = self._held(zones, pinned)
        _hold_partners(held, newest)
        protected = held != Held.FREE
        tokens = self._tokens[:length]
        unit_newest, unit_sums = _free_units(tokens, protected, newest)
        return Layout(
            zones=zones,
            pinned=pinned,
            held=held,
            protected=protected,
            protect=self._key.protect,
            locks=self._key.locks,
            oldest=oldest,
            newest=newest,
            unit_newest=unit_newest,
            unit_sums=unit_sums,
            protected_tokens=int(tokens[protected].sum()),
            total_tokens=int(self._sums[length]),
        )

    def _sliced(self, zones: Zones, length: int, kept_from: int) -> Layout:
        """The layout where everything from ``kept_from`` on is kept, and no group crosses it."""
        base = self._base(zones)
        oldest, newest = self._ends(length)
        pinned = self._pinned(newest)
        held = base.held[:length].copy()
        # What holds a message in the whole log may be a partner that came later.
        end = held[kept_from:]
        np.maximum(base.own[kept_from:length], _TAIL, out=end)
        end = end[zones.current - kept_from :]
        np.maximum(end, _CURRENT, out=end)
        if len(self._pins):
            held[kept_from:][pinned[kept_from:]] = Held.PIN
        first = len(base.ascending) - int(base.ascending.searchsorted(kept_from))
        before = int(base.unit_sums[first - 1]) if first else 0
        return Layout(
            zones=zones,
            pinned=pinned,
            held=held,
            protected=held != 0,
            protect=self._key.protect,
            locks=self._key.locks,
            oldest=oldest,
            newest=newest,
            unit_newest=base.unit_newest[first:],
            unit_sums=base.unit_sums[first:] - before,
            protected_tokens=int(
                base.protected_sums[kept_from] + self._sums[length] - self._sums[kept_from]
            ),
            total_tokens=int(self._sums[length]),
        )

    def _base(self, zones: Zones) -> _Base:
        """The whole log without what is kept at its end, given the task of ``zones``."""
        if zones.anchor not in self._bases:
            self._bases[zones.anchor] = self._make_base(zones.anchor)
        return self._bases[zones.anchor]

    def _make_base(self, anchor: int | None) -> _Base:
        n = len(self._alone)
        whole = replace(self._zoning.at(n), anchor=anchor, tail=n, current=n)
        newest = self._ends(n)[1]
        own = self._held(whole, np.zeros(n, dtype=np.bool_))
        held = own.copy()
        held[self._pinned(newest)] = Held.PIN
        _hold_partners(held, newest)
        protected = held != Held.FREE
        unit_newest, unit_sums = _free_units(self._tokens, protected, newest)
        return _Base(
            own=own,
            held=held,
            unit_newest=unit_newest,
            unit_sums=unit_sums,
            ascending=unit_newest[::-1].copy(),
            protected_sums=_running(np.where(protected, self._tokens, 0)),
        )


@dataclass(frozen=True, eq=False, slots=True)
class _Base:
    """What does not change as the log grows.

    Attributes:
        own: uint8[n], a ``Held`` by the message's own zone; ``held`` with pins and partners too.
        unit_newest, unit_sums: as in ``Layout``; ``ascending`` is the first of them turned round.
        protected_sums: int64[n + 1], tokens of the protected messages before each one.
    """

    own: NDArray[np.uint8]
    held: NDArray[np.uint8]
    unit_newest: NDArray[np.int64]
    unit_sums: NDArray[np.int64]
    ascending: NDArray[np.int64]
    protected_sums: NDArray[np.int64]


def _running(tokens: NDArray[np.int64]) -> NDArray[np.int64]:
    """int64[n + 1], the tokens before each message."""
    sums = np.zeros(len(tokens) + 1, dtype=np.int64)
    np.cumsum(tokens, out=sums[1:])
    return sums


def _whole_units(mask: Mask, newest: NDArray[np.int32]) -> Mask:
    """Spread a mask from any member to its whole unit."""
    touched = np.zeros(len(mask), dtype=np.bool_)
    touched[newest[mask]] = True
    return touched[newest]


def _hold_partners(held: NDArray[np.uint8], newest: NDArray[np.int32]) -> None:
    """Hold what is locked to something that is held."""
    held[_whole_units(held != Held.FREE, newest) & (held == Held.FREE)] = Held.PARTNER


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
    sticky: bool,
) -> LayoutKey:
    """The key under which a layout is cached."""
    return LayoutKey(pins, tuple(sorted(marks.items())), protect, locks, tail_turns, sticky)
