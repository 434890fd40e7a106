"""From a policy's decision to the numbers of a plan, and what to say when the budget is missed."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from stm_inspector.buffer.layout import Layout
from stm_inspector.buffer.plan import Amount, Decision, Totals, Verdict, Zone
from stm_inspector.buffer.policies.base import Policy, Situation
from stm_inspector.tokens.counts import UNKNOWN, Exactness, TokenCounts

_GONE = np.array([False, True, False, False, True])
"""Whether a message with that ``Verdict`` leaves the buffer."""


def tokens_after(counts: TokenCounts, decision: Decision) -> NDArray[np.int64]:
    """Tokens of each message as sent, 0 where it is not sent: int64[n]."""
    after = counts.messages.copy()
    after[_GONE[decision.verdicts]] = 0
    for index, replacement in decision.truncated.items():
        after[index] = replacement.tokens
    for (index, part), replacement in decision.cleared.items():
        before = int(counts.parts[counts.part_starts[index] + part])
        after[index] += replacement.tokens - (0 if before == UNKNOWN else before)
    return after


def totals_of(situation: Situation, decision: Decision, after: NDArray[np.int64]) -> Totals:
    """Add up a plan. Both amounts contain the overhead of the request."""
    counts = situation.counts
    n = len(after)
    by_verdict = np.bincount(decision.verdicts, minlength=len(Verdict)).tolist()
    inserted = sum(item.tokens for item in decision.inserted)
    worst = max([int(counts.worst), *(int(item.exactness) for item in decision.inserted)])
    tokens = int(after.sum()) + counts.overhead + inserted
    gone = by_verdict[Verdict.EVICT] + by_verdict[Verdict.SUMMARISE]
    return Totals(
        before=Amount(n, situation.total),
        after=Amount(n - gone + len(decision.inserted), tokens),
        kept=by_verdict[Verdict.KEEP],
        evicted=by_verdict[Verdict.EVICT],
        cleared=by_verdict[Verdict.CLEAR],
        truncated=by_verdict[Verdict.TRUNCATE],
        summarised=by_verdict[Verdict.SUMMARISE],
        over_budget=max(0, tokens - situation.budget),
        exactness=Exactness(worst),
    )


def miss(
    policy: Policy,
    layout: Layout,
    decision: Decision,
    after: NDArray[np.int64],
    totals: Totals,
    budget: int,
) -> str:
    """By how much the budget is missed, what holds it, and what can be done about it."""
    by_zone = np.bincount(layout.zones.shown, weights=after, minlength=len(Zone))
    held = sorted(((int(by_zone[zone]), zone) for zone in Zone if by_zone[zone]), reverse=True)
    holders = [f"{zone.word} {tokens:,}" for tokens, zone in held]
    inserted = sum(item.tokens for item in decision.inserted)
    if inserted:
        holders.append(f"summaries {inserted:,}")
    text = f"The budget of {budget:,} tokens is missed by {totals.over_budget:,}"
    return f"{text}. It is held by: {', '.join(holders)}. {_remedy(policy, layout, after)}"


def _remedy(policy: Policy, layout: Layout, after: NDArray[np.int64]) -> str:
    if not policy.uses_budget:
        return (
            "This policy does not look at the budget: choose one that does, or change its settings"
        )
    protected = [zone for zone in Zone if zone.word in layout.protect]
    remedies = ["raise the budget"]
    if layout.pinned.any():
        remedies.append("unpin")
    if protected:
        weights = {zone: int(after[layout.zones.members[zone]].sum()) for zone in protected}
        heaviest = max(protected, key=lambda zone: weights[zone])
        remedies.append(f"take '{heaviest.word}' out of what is always kept")
    return f"To meet it, {' or '.join(remedies)}"
