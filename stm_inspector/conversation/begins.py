"""The structure of a log when it was shorter, cut out of the structure of the whole.

A result answers a call before it, and a lock key binds to the message before that has it: what a
message is bound to depends on what came before only. So the links of the first messages are those
of the whole log that lie within them. Only lock groups that were still growing look different.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from stm_inspector.conversation.model import Message
from stm_inspector.conversation.pairing import Place
from stm_inspector.conversation.structure import Structure, make_groups


class Begins:
    """What ``structure`` was at every length of the log.

    Attributes:
        crossing: int32[n + 1], how many lock groups have a member before each message and one at
            or behind it: where it is 0, no group is cut in two.
    """

    def __init__(self, structure: Structure) -> None:
        self._whole = structure
        n = len(structure.group_of)
        groups = structure.groups
        self._first = np.fromiter((group[0] for group in groups), np.int32, len(groups))
        self._last = np.fromiter((group[-1] for group in groups), np.int32, len(groups))
        steps = np.zeros(n + 2, dtype=np.int32)
        np.add.at(steps, self._first + 1, 1)
        np.add.at(steps, self._last + 1, -1)
        self.crossing: NDArray[np.int32] = np.cumsum(steps[:-1], dtype=np.int32)
        self._oldest, self._newest = np.arange(n, dtype=np.int32), np.arange(n, dtype=np.int32)
        inside = structure.group_of >= 0
        self._oldest[inside] = self._first[structure.group_of[inside]]
        self._newest[inside] = self._last[structure.group_of[inside]]
        self._members: dict[int, NDArray[np.int32]] = {}
        self._chained = self._which_are_chained()

    def _which_are_chained(self) -> NDArray[np.bool_]:
        """bool[groups]: every member but the first is bound to an earlier one.

        Then the members that exist at any length are one group; else they may be several.
        """
        bound = np.zeros(len(self._whole.group_of), dtype=np.bool_)
        older, newer = self._whole.bonds
        bound[newer[older != newer]] = True
        loose = np.flatnonzero(~bound & (self._whole.group_of >= 0))
        of = self._whole.group_of[loose]
        return np.bincount(of, minlength=len(self._first)) <= 1

    def ends(self, length: int) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """The oldest and the newest member of the group of each of the first messages.

        int32[length] each, not to be changed; a message that stands alone is both.
        """
        oldest, newest = self._oldest[:length], self._newest[:length]
        if self.crossing[length]:
            oldest, newest = oldest.copy(), newest.copy()
            for group in np.flatnonzero((self._first < length) & (self._last >= length)).tolist():
                self._cut(group, length, oldest, newest)
        return oldest, newest

    def _cut(
        self, group: int, length: int, oldest: NDArray[np.int32], newest: NDArray[np.int32]
    ) -> None:
        if group not in self._members:
            self._members[group] = np.asarray(self._whole.groups[group], dtype=np.int32)
        members = self._members[group]
        there = members[: int(np.searchsorted(members, length))]
        if self._chained[group]:
            newest[there] = there[-1]
            return
        bonds = self._whole.bonds[:, : int(np.searchsorted(self._whole.bonds[1], length))]
        bonds = bonds[:, self._whole.group_of[bonds[0]] == group]
        _, pieces = make_groups(length, bonds)
        oldest[there] = newest[there] = there
        for piece in pieces:
            oldest[list(piece)], newest[list(piece)] = piece[0], piece[-1]

    def structure(self, messages: Sequence[Message], length: int) -> Structure:
        """The structure of the first ``length`` messages of the whole log, ``messages``."""
        whole = self._whole
        starts = whole.turn_starts
        answered = bisect_left(whole.links, length, key=lambda link: link.result[0])
        group_of, groups = self._groups(length)
        reused = bisect_left(whole.reused_since, length)
        return replace(
            whole,
            turns=whole.turns[:length],
            turn_starts=starts[: int(np.searchsorted(starts, length))],
            links=whole.links[:answered],
            orphans=_before(whole.orphans, length),
            unanswered=self._unanswered(messages, length, answered),
            duplicates=_before(whole.duplicates, length),
            reused_ids=whole.reused_ids[:reused],
            reused_since=whole.reused_since[:reused],
            group_of=group_of,
            groups=groups,
            bonds=whole.bonds[:, : int(np.searchsorted(whole.bonds[1], length))],
        )

    def _unanswered(
        self, messages: Sequence[Message], length: int, answered: int
    ) -> tuple[Place, ...]:
        """Calls without a result, among them those that were answered later."""
        later = [
            call
            for call, _ in self._whole.links[answered:]
            if call[0] < length and not messages[call[0]].parts[call[1]].server
        ]
        return tuple(sorted([*_before(self._whole.unanswered, length), *later]))

    def _groups(self, length: int) -> tuple[NDArray[np.int32], tuple[tuple[int, ...], ...]]:
        whole = self._whole
        if self.crossing[length]:
            bonds = whole.bonds[:, : int(np.searchsorted(whole.bonds[1], length))]
            return make_groups(length, bonds)
        return whole.group_of[:length], whole.groups[: int(np.searchsorted(self._first, length))]


def _before(places: tuple[Place, ...], length: int) -> tuple[Place, ...]:
    return places[: bisect_left(places, (length, 0))]
