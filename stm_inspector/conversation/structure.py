"""Turns, call/result links and lock groups of a conversation, as arrays."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from stm_inspector.conversation.model import Message
from stm_inspector.conversation.pairing import Link, Place, pair

__all__ = ["Link", "Place", "Structure", "derive"]


@dataclass(frozen=True, eq=False, slots=True)
class Structure:
    """What follows from the messages alone, whatever the budget or policy.

    Attributes:
        turns: int32[n], the turn each message belongs to, -1 before the first.
        turn_starts: int32[turns], the message that opens each turn (written by a person).
        links: every answered call with its result, in order of the results.
        orphans: results without a call. ``unanswered``: calls without a result (client tools
            only). ``duplicates``: results for a call that already has one.
        reused_ids: call ids that stand on more than one call.
        group_of: int32[n], the lock group of each message, -1 where it stands alone.
        groups: the members of each lock group, ascending; the groups by their first member.
    """

    turns: NDArray[np.int32]
    turn_starts: NDArray[np.int32]
    links: tuple[Link, ...]
    orphans: tuple[Place, ...]
    unanswered: tuple[Place, ...]
    duplicates: tuple[Place, ...]
    reused_ids: tuple[str, ...]
    group_of: NDArray[np.int32]
    groups: tuple[tuple[int, ...], ...]


def derive(messages: Sequence[Message]) -> Structure:
    """Derive the structure of ``messages``. Linear in their number."""
    starts = [index for index, message in enumerate(messages) if message.by_person]
    opens = np.zeros(len(messages), dtype=np.int32)
    opens[starts] = 1
    pairs = pair(messages, starts)
    bonds = [(link.call[0], link.result[0]) for link in pairs.links]
    # A surplus result without its call would be an orphan: it goes where the call goes.
    bonds += [(link.call[0], link.result[0]) for link in pairs.duplicates]
    bonds += _bonds_by_key(messages)
    groups = _groups(bonds)
    group_of = np.full(len(messages), -1, dtype=np.int32)
    for number, members in enumerate(groups):
        for member in members:
            group_of[member] = number
    return Structure(
        turns=np.cumsum(opens, dtype=np.int32) - np.int32(1),
        turn_starts=np.asarray(starts, dtype=np.int32),
        links=tuple(pairs.links),
        orphans=tuple(pairs.orphans),
        unanswered=tuple(pairs.unanswered),
        duplicates=tuple(link.result for link in pairs.duplicates),
        reused_ids=tuple(pairs.reused_ids),
        group_of=group_of,
        groups=groups,
    )


def _bonds_by_key(messages: Sequence[Message]) -> list[tuple[int, int]]:
    """Bonds between neighbours that carry the same ``Message.lock``."""
    last: dict[str, int] = {}
    bonds = []
    for index, message in enumerate(messages):
        key = message.lock
        if key:
            if key in last:
                bonds.append((last[key], index))
            last[key] = index
    return bonds


def _groups(bonds: Iterable[tuple[int, int]]) -> tuple[tuple[int, ...], ...]:
    """Join bonds into groups: union-find with path halving, the oldest member as the root."""
    parent: dict[int, int] = {}

    def root(node: int) -> int:
        while parent[node] != node:
            parent[node] = parent[parent[node]]
            node = parent[node]
        return node

    for left, right in bonds:
        if left != right:
            one = root(left) if left in parent else parent.setdefault(left, left)
            other = root(right) if right in parent else parent.setdefault(right, right)
            if one < other:
                parent[other] = one
            else:
                parent[one] = other
    members: dict[int, list[int]] = {}
    for node in sorted(parent):
        members.setdefault(root(node), []).append(node)
    return tuple(tuple(group) for group in members.values())
