"""Turns, call/result links and lock groups of a conversation, as arrays."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from stm_inspector.conversation.model import Message, Role
from stm_inspector.conversation.pairing import Link, Place, pair

if TYPE_CHECKING:
    from stm_inspector.conversation.begins import Begins

__all__ = ["Link", "Place", "Structure", "derive"]


@dataclass(frozen=True, eq=False)
class Structure:
    """What follows from the messages alone, whatever the budget or policy.

    Attributes:
        turns: int32[n], the turn each message belongs to, -1 before the first.
        turn_starts: int32[turns], the message that opens each turn (written by a person).
        links: every answered call with its result, in order of the results.
        orphans: results without a call. ``unanswered``: calls without a result (client tools
            only). ``duplicates``: results for a call that already has one.
        reused_ids: call ids that stand on more than one call; ``reused_since``: the message in
            which each of them does so first, ascending.
        group_of: int32[n], the lock group of each message, -1 where it stands alone.
        groups: the members of each lock group, ascending; the groups by their first member.
        bonds: int32[2, bonds], the older and the newer message of each bond that makes the
            groups, by the newer one.
    """

    turns: NDArray[np.int32]
    turn_starts: NDArray[np.int32]
    links: tuple[Link, ...]
    orphans: tuple[Place, ...]
    unanswered: tuple[Place, ...]
    duplicates: tuple[Place, ...]
    reused_ids: tuple[str, ...]
    reused_since: tuple[int, ...]
    group_of: NDArray[np.int32]
    groups: tuple[tuple[int, ...], ...]
    bonds: NDArray[np.int32]

    @cached_property
    def begins(self) -> Begins:
        """The structure of the log when it was shorter. Derived once."""
        from stm_inspector.conversation.begins import Begins

        return Begins(self)


def derive(messages: Sequence[Message]) -> Structure:
    """Derive the structure of ``messages``. Linear in their number."""
    n = len(messages)
    user = Role.USER
    starts = [i for i, message in enumerate(messages) if message.role is user and message.by_person]
    opens = np.zeros(n, dtype=np.int32)
    opens[starts] = 1
    pairs = pair(messages, starts)
    # A surplus result without its call would be an orphan: it goes where the call goes.
    links = [*pairs.links, *pairs.duplicates]
    pairs_of = [(link.call[0], link.result[0]) for link in links] + _bonds_by_key(messages)
    bonds = np.asarray(pairs_of, dtype=np.int32).reshape(-1, 2).T
    bonds = bonds[:, np.argsort(bonds[1], kind="stable")]
    group_of, groups = make_groups(n, bonds)
    return Structure(
        turns=np.cumsum(opens, dtype=np.int32) - np.int32(1),
        turn_starts=np.asarray(starts, dtype=np.int32),
        links=tuple(pairs.links),
        orphans=tuple(pairs.orphans),
        unanswered=tuple(pairs.unanswered),
        duplicates=tuple(link.result for link in pairs.duplicates),
        reused_ids=tuple(pairs.reused_ids),
        reused_since=tuple(pairs.reused_since),
        group_of=group_of,
        groups=groups,
        bonds=bonds,
    )


def _bonds_by_key(messages: Sequence[Message]) -> list[tuple[int, int]]:
    """Bonds between messages that carry the same ``Message.lock``, each to the one before."""
    last: dict[str, int] = {}
    bonds = []
    for index, message in enumerate(messages):
        key = message.lock
        if key:
            if key in last:
                bonds.append((last[key], index))
            last[key] = index
    return bonds


def make_groups(
    n: int, bonds: NDArray[np.int32]
) -> tuple[NDArray[np.int32], tuple[tuple[int, ...], ...]]:
    """Join bonds, int32[2, bonds], into groups of two and more of ``n`` messages.

    Each message takes the smallest label among its bonds, then that label's own label, until
    nothing changes: the label is then the group's first member.
    """
    label = np.arange(n, dtype=np.int32)
    one, other = bonds
    while True:
        least = np.minimum(label[one], label[other])
        if np.array_equal(label[one], least) and np.array_equal(label[other], least):
            break
        # The label's owner is told as well, or a chain would take a round for each bond.
        for ends in (one, other, label[one], label[other]):
            np.minimum.at(label, ends, least)
        label = label[label]
    inside = np.flatnonzero(np.bincount(label, minlength=n)[label] > 1)
    order = inside[np.argsort(label[inside], kind="stable")]
    firsts = np.flatnonzero(np.diff(label[order], prepend=-1)) if len(order) else order
    group_of = np.full(n, -1, dtype=np.int32)
    group_of[order] = np.cumsum(np.diff(label[order], prepend=-1) != 0) - 1
    members = order.tolist()
    stops = [*firsts[1:].tolist(), len(members)]
    return group_of, tuple(
        tuple(members[begin:end]) for begin, end in zip(firsts.tolist(), stops, strict=False)
    )
