"""The replay: what a policy does at every call of a recording, as arrays."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from stm_inspector.tokens.counts import Exactness

ALERT = 0.9
"""Of the budget: a buffer that is fuller leaves little room for a surprise."""

NEVER = -1

Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class ReplayTotals:
    """A replay in a few numbers; tokens but for calls and shares.

    Attributes:
        peak, mean: of the tokens sent; ``utilisation`` and ``peak_utilisation`` are their shares
            of the budget, None where that is 0.
        alerts: how many calls fill more than ``ALERT`` of the budget.
        missed: how many calls exceed it.
        first_eviction: the first call at which a message is not sent, or None.
        firings: how many calls the policy acts at.
        summarised_per_firing: tokens that go into summaries for the first time, over the number
            of calls at which any do; None where none ever do.
        same_prefix: the share of all tokens sent that the call before had sent already, in the
            same place; None for a single call.
    """

    peak: int
    mean: float
    utilisation: float | None
    peak_utilisation: float | None
    alerts: int
    missed: int
    first_eviction: int | None
    firings: int
    summarised_per_firing: float | None
    same_prefix: float | None


@dataclass(frozen=True, eq=False, slots=True)
class Replay:
    """What one policy does at every call. All arrays but two have the length of the calls.

    Attributes:
        policy: its id.
        budget, watermark, target: in tokens; the marks None where unset.
        lengths: int64, how many messages there are at each call, and how many after the policy
            has acted (``messages``), with ``before`` and ``after`` their tokens.
        kept, evicted, cleared, truncated, summarised: int64, messages by verdict.
        inserted: int64, tokens of the synthetic messages.
        newly_summarised: int64, tokens of messages that were not yet summarised a call earlier.
        fired: bool; ``why``: in one sentence why it did, "" where it did not.
        over_budget, over_target: int64, by how many tokens they are missed, else 0.
        same_messages, same_tokens: int64, how much of the beginning of what is sent is the same,
            byte by byte, as at the call before.
        first_lost: int64[n], the first call at which each message is not sent, or ``NEVER``.
        lost_because: int64[n], why, as an index into ``reasons``, or ``NEVER``.
        exactness: the worst of all numbers.
    """

    policy: str
    budget: int
    watermark: int | None
    target: int | None
    lengths: Ints
    messages: Ints
    before: Ints
    after: Ints
    kept: Ints
    evicted: Ints
    cleared: Ints
    truncated: Ints
    summarised: Ints
    inserted: Ints
    newly_summarised: Ints
    fired: Bools
    why: tuple[str, ...]
    over_budget: Ints
    over_target: Ints
    same_messages: Ints
    same_tokens: Ints
    first_lost: Ints
    lost_because: Ints
    reasons: tuple[str, ...]
    exactness: Exactness

    def __len__(self) -> int:
        return len(self.lengths)

    @property
    def alerts(self) -> Bools:
        """bool[calls], the buffer fills more than ``ALERT`` of the budget."""
        return self.after > ALERT * self.budget

    def totals(self) -> ReplayTotals:
        """The replay in a few numbers."""
        peak, mean = int(self.after.max()), float(self.after.mean())
        lost = np.flatnonzero(self.evicted + self.summarised)
        firings = int(np.count_nonzero(self.newly_summarised))
        later = int(self.after[1:].sum())
        return ReplayTotals(
            peak=peak,
            mean=mean,
            utilisation=mean / self.budget if self.budget else None,
            peak_utilisation=peak / self.budget if self.budget else None,
            alerts=int(np.count_nonzero(self.alerts)),
            missed=int(np.count_nonzero(self.over_budget)),
            first_eviction=int(lost[0]) if len(lost) else None,
            firings=int(np.count_nonzero(self.fired)),
            summarised_per_firing=int(self.newly_summarised.sum()) / firings if firings else None,
            same_prefix=int(self.same_tokens[1:].sum()) / later if later else None,
        )
