"""Which rows the block list has: messages, folded runs of summarised ones, synthetic messages.

Arrays throughout: the rows of 100,000 messages cost a few array operations. No Qt here.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum

import numpy as np
from numpy.typing import ArrayLike, NDArray

from stm_inspector.buffer.plan import Inserted, Plan, Verdict

SHORTEST_FOLD = 2
"""A single summarised message stays a row of its own."""

NONE = -1


class RowKind(IntEnum):
    """What a row shows."""

    MESSAGE = 0
    FOLD = 1
    INSERTED = 2


@dataclass(frozen=True, eq=False, slots=True)
class Rows:
    """The rows of the list, top to bottom.

    Attributes:
        kinds: uint8[rows], a ``RowKind`` for each row.
        first, last: int32[rows], the messages a row shows, both included; of an inserted row
            both are the message it stands before.
        stand_in: int32[rows], the synthetic message of the row: an index into ``inserted``; of
            a fold the one that stands for all of it and nothing else; else ``NONE``.
        folded: bool[rows], a fold that hides its messages.
        row_of: int32[n], the row that shows each message, ``NONE`` for those filtered out.
        inserted: the plan's synthetic messages.
    """

    kinds: NDArray[np.uint8]
    first: NDArray[np.int32]
    last: NDArray[np.int32]
    stand_in: NDArray[np.int32]
    folded: NDArray[np.bool_]
    row_of: NDArray[np.int32]
    inserted: tuple[Inserted, ...]

    def __len__(self) -> int:
        return len(self.kinds)

    def same_as(self, other: Rows) -> bool:
        """The same rows in the same places, whatever has become of their messages."""
        return (
            len(self.row_of) == len(other.row_of)
            and self.inserted == other.inserted
            and np.array_equal(self.kinds, other.kinds)
            and np.array_equal(self.first, other.first)
            and np.array_equal(self.last, other.last)
            and np.array_equal(self.folded, other.folded)
        )


def build_rows(
    length: int,
    plan: Plan | None,
    listed: NDArray[np.int64] | None = None,
    unfolded: frozenset[int] = frozenset(),
) -> Rows:
    """The rows for ``length`` messages under ``plan``.

    ``listed`` are the only messages to list, ascending, or None for all; a list that is filtered
    shows messages and nothing else. ``unfolded`` are first messages of runs that stay open.
    """
    shown = np.arange(length, dtype=np.int64) if listed is None else listed
    if plan is None or listed is not None:
        return _only_messages(length, shown)
    starts, ends = summarised_runs(plan)
    inserted = plan.decision.inserted
    if not len(starts) and not inserted:
        return _only_messages(length, shown)
    homes = _homes(inserted, starts, ends)
    stand_ins = np.full(len(starts), NONE, dtype=np.int64)
    stand_ins[homes[homes != NONE]] = np.flatnonzero(homes != NONE)
    closed = np.array([int(start) not in unfolded for start in starts], dtype=bool)
    shown = shown[~_covered(length, starts[closed], ends[closed])]
    extra = [k for k in range(len(inserted)) if homes[k] == NONE or not closed[homes[k]]]
    before = np.array([inserted[k].before for k in extra], dtype=np.int64)
    # Order: what is inserted before a message, the head of its fold, the message itself, and
    # last what stands in for an open run.
    after_run = np.array([homes[k] != NONE for k in extra], dtype=bool)
    places = before * 4
    run_ends = np.array([ends[homes[k]] if homes[k] != NONE else 0 for k in extra], dtype=np.int64)
    places[after_run] = run_ends[after_run] * 4 + 3
    order = np.argsort(np.concatenate([shown * 4 + 2, starts * 4 + 1, places]), kind="stable")

    def merge(messages: ArrayLike, folds: ArrayLike, others: ArrayLike) -> NDArray[np.int32]:
        columns = (
            np.broadcast_to(messages, len(shown)),
            np.broadcast_to(folds, len(starts)),
            np.broadcast_to(others, len(extra)),
        )
        return np.concatenate(columns)[order].astype(np.int32)

    kinds = merge(RowKind.MESSAGE, RowKind.FOLD, RowKind.INSERTED).astype(np.uint8)
    first, last = merge(shown, starts, before), merge(shown, ends, before)
    return Rows(
        kinds=kinds,
        first=first,
        last=last,
        stand_in=merge(NONE, stand_ins, np.array(extra, dtype=np.int64)),
        folded=merge(False, closed, False).astype(bool),
        row_of=_row_of(length, kinds, first, last),
        inserted=inserted,
    )


def summarised_runs(plan: Plan) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """First and last message (included) of every run of summarised messages long enough."""
    flags = np.zeros(plan.length + 2, dtype=np.int8)
    flags[1:-1] = plan.decision.verdicts == Verdict.SUMMARISE
    steps = np.diff(flags)
    starts, ends = np.flatnonzero(steps == 1), np.flatnonzero(steps == -1) - 1
    long = ends - starts + 1 >= SHORTEST_FOLD
    return starts[long], ends[long]


def _homes(
    inserted: tuple[Inserted, ...], starts: NDArray[np.int64], ends: NDArray[np.int64]
) -> NDArray[np.int64]:
    """For each synthetic message the run that it stands for and nothing else, or ``NONE``."""
    homes = np.full(len(inserted), NONE, dtype=np.int64)
    for number, entry in enumerate(inserted):
        if not entry.stands_for:
            continue
        run = int(np.searchsorted(starts, entry.stands_for[0], side="right")) - 1
        if run >= 0 and entry.stands_for[-1] <= ends[run] and run not in homes:
            homes[number] = run
    return homes


def _covered(length: int, starts: NDArray[np.int64], ends: NDArray[np.int64]) -> NDArray[np.bool_]:
    steps = np.zeros(length + 1, dtype=np.int8)
    steps[starts] = 1
    steps[ends + 1] -= 1
    return np.cumsum(steps[:-1]).astype(bool)


def _only_messages(length: int, shown: NDArray[np.int64]) -> Rows:
    first = shown.astype(np.int32)
    count = len(first)
    row_of = np.full(length, NONE, dtype=np.int32)
    row_of[first] = np.arange(count, dtype=np.int32)
    return Rows(
        kinds=np.full(count, RowKind.MESSAGE, dtype=np.uint8),
        first=first,
        last=first,
        stand_in=np.full(count, NONE, dtype=np.int32),
        folded=np.zeros(count, dtype=bool),
        row_of=row_of,
        inserted=(),
    )


def _row_of(
    length: int, kinds: NDArray[np.uint8], first: NDArray[np.int32], last: NDArray[np.int32]
) -> NDArray[np.int32]:
    """Folds first, so that a message with a row of its own is found there."""
    rows = np.arange(len(kinds), dtype=np.int32)
    row_of = np.full(length, NONE, dtype=np.int32)
    for row in np.flatnonzero(kinds == RowKind.FOLD):
        row_of[first[row] : last[row] + 1] = row
    own = kinds == RowKind.MESSAGE
    row_of[first[own]] = rows[own]
    return row_of
