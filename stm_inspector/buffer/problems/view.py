"""The trimmed buffer as the rules look at it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from stm_inspector.buffer.plan import Decision, Inserted, Verdict
from stm_inspector.buffer.problems.facts import SYSTEM, Bools, Facts, role_code
from stm_inspector.buffer.problems.rule import NOWHERE, Ints


@dataclass(frozen=True)
class View:
    """One plan over a conversation of n messages; those behind the plan's call are not sent.

    Attributes:
        facts: of the conversation.
        sent: bool[n], the message is in the buffer, changed or not.
        whole: bool[n], it is in the buffer and its content was not replaced by a short text.
        edits: int64[k], messages that are gone or changed and that the model would have read.
        inserted: the synthetic messages, ascending by ``before``.
        cleared: places of results that are replaced by a placeholder.
        length: how many messages existed at the plan's call.
        anchor: the message that states the task, or None.
        over_budget: tokens by which the budget is missed, or 0.
    """

    facts: Facts
    sent: Bools
    whole: Bools
    edits: Ints
    length: int
    inserted: tuple[Inserted, ...] = ()
    cleared: frozenset[tuple[int, int]] = frozenset()
    anchor: int | None = None
    over_budget: int = 0

    @property
    def untouched(self) -> bool:
        """The buffer is sent exactly as it was recorded."""
        return not self.inserted and bool(self.whole[: self.length].all()) and not self.cleared

    @cached_property
    def order(self) -> Ints:
        """int64[k], the messages of the list as sent; ``-1 - i`` is ``inserted[i]``."""
        kept = np.flatnonzero(self.sent & self.facts.listed)
        if not self.inserted:
            return kept
        before = np.array([item.before for item in self.inserted], dtype=np.int64)
        numbers = -1 - np.arange(len(before), dtype=np.int64)
        return np.insert(kept, np.searchsorted(kept, before), numbers)

    @cached_property
    def order_roles(self) -> Ints:
        """int64[k], the role codes of ``order``."""
        # index -1 - i counts from the end, so the inserted roles are appended back to front
        added = [role_code(item.role) for item in reversed(self.inserted)]
        return np.append(self.facts.roles, np.array(added, dtype=np.int8))[self.order].astype(
            np.int64
        )

    @cached_property
    def dialogue(self) -> tuple[Ints, Ints]:
        """``order`` and ``order_roles`` without system messages."""
        talk = self.order_roles != SYSTEM
        if talk.all():
            return self.order, self.order_roles
        return self.order[talk], self.order_roles[talk]

    @cached_property
    def runs(self) -> tuple[Ints, Ints]:
        """Runs of messages in a row with one role, which the API reads as one message.

        Returns:
            int64[n], the run of each message, -1 where it is not sent or not in a run; and
            int64[runs], the message that opens each run (negative for an inserted one).
        """
        order, roles = self.dialogue
        opens = np.ones(len(order), dtype=bool)
        np.not_equal(roles[1:], roles[:-1], out=opens[1:])
        number = np.cumsum(opens) - 1
        run_of = np.full(len(self.sent), -1, dtype=np.int64)
        real = order >= 0
        run_of[order[real]] = number[real]
        return run_of, order[opens]


def view_of(
    facts: Facts,
    decision: Decision | None,
    length: int,
    anchor: int | None = None,
    over_budget: int = 0,
) -> View:
    """The view of a decision over the first ``length`` messages; None keeps them all."""
    total = len(facts.roles)
    sent = np.zeros(total, dtype=bool)
    if decision is None:
        sent[:length] = True
        return View(facts, sent, sent, NOWHERE, length)
    verdicts = decision.verdicts
    sent[:length] = (verdicts != Verdict.EVICT) & (verdicts != Verdict.SUMMARISE)
    whole = sent
    if decision.truncated:
        whole = sent.copy()
        whole[list(decision.truncated)] = False
    changed = np.flatnonzero(verdicts)
    return View(
        facts,
        sent,
        whole,
        changed[~facts.unused[changed]],
        length,
        decision.inserted,
        frozenset(decision.cleared),
        anchor,
        over_budget,
    )
