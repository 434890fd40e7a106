"""Turns, call/result links and lock groups of a conversation, as arrays."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from stm_inspector.conversation.model import Message

Place = tuple[int, int]
"""(message index, part index)."""


@dataclass(frozen=True, slots=True)
class Link:
    """A tool call and the result that answers it."""

    call: Place
    result: Place


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
        groups: the members of each lock group, ascending.
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
    """Derive the structure of ``messages``."""
    raise NotImplementedError
