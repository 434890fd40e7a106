"""From a policy's decision to the numbers of a plan, and what to say when the budget is missed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from stm_inspector.buffer.layout import Layout
from stm_inspector.buffer.plan import Amount, Decision, Totals, Verdict, Zone
from stm_inspector.tokens.counts import UNKNOWN, Exactness, TokenCounts

if TYPE_CHECKING:
    from stm_inspector.buffer.policies.base import Policy, Situation


def left_out(verdicts: NDArray[np.uint8]) -> NDArray[np.bool_]:
    """bool[n], the messages that leave the buffer."""
    evicted, summarised = int(Verdict.EVICT), int(Verdict.SUMMARISE)
    gone: NDArray[np.bool_] = (verdicts == evicted) | (verdicts == summarised)
    return gone


def tokens_after(counts: TokenCounts, decision: Decision) -> NDArray[np.int64]:
    """Tokens of each message as sent, 0 where it is not sent: int64[n]."""
    after = counts.messages.copy()
    after[left_out(decision.verdicts)] = 0
    for index, replacement in decision.truncated.items():
        after[index] = replacement.tokens
    for (index, part), replacement in decision.cleared.items():
        before = int(counts.parts[counts.part_starts[index] + part])
        after[index] += replacement.tokens - (0 if before == UNKNOWN else before)
    return after


def changed_tokens(counts: TokenCounts, decision: Decision, end: int) -> int:
    """By how many tokens shortened messages and cleared results before ``end`` change it all."""
    change = 0
    for index, replacement in decision.truncated.items():
        if index < end:
            change += replacement.tokens - int(counts.messages[index])
    for (index, part), replacement in decision.cleared.items():
        if index < end:
            before = int(counts.parts[counts.part_starts[index] + part])
            change += replacement.tokens - (0 if before == UNKNOWN else before)
    return change


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


def misses(
    policy: Policy,
    situation: Situation,
    decision: Decision,
    after: NDArray[np.int64],
    totals: Totals,
) -> tuple[str, ...]:
    """By how much the budget, or the target within it, is missed, and what holds it: at most
    one text. For the budget also what can be done about it."""
    goal = situation.limit if situation.target is None else situation.target
    over = totals.after.tokens - goal
    own_limit = situation.limit < situation.budget
    aims = (policy.uses_target or own_limit) and decision.fired and over > 0
    if not totals.over_budget and not aims:
        return ()
    held = f"It is held by: {_holders(situation.layout, decision, after)}"
    if totals.over_budget:
        return (
            f"The budget of {situation.budget:,} tokens is missed by {totals.over_budget:,}. "
            f"{held}. {_remedy(policy, situation.layout, after)}",
        )
    return (f"The target of {goal:,} tokens is missed by {over:,}. {held}",)


def _holders(layout: Layout, decision: Decision, after: NDArray[np.int64]) -> str:
    """Zones by the tokens that they hold, most first."""
    by_zone = np.bincount(layout.zones.shown, weights=after, minlength=len(Zone))
    held = sorted(((int(by_zone[zone]), zone.word) for zone in Zone if by_zone[zone]), reverse=True)
    holders = [f"{zone} {tokens:,}" for tokens, zone in held]
    inserted = sum(item.tokens for item in decision.inserted)
    if inserted:
        holders.append(f"inserted messages {inserted:,}")
    return ", ".join(holders) or "the overhead of the request"


def _remedy(policy: Policy, layout: Layout, after: NDArray[np.int64]) -> str:
    if not policy.uses_budget:
        return (
            "This policy does not look at the budget: change its settings, choose one that does, "
            "or raise the budget"
        )
    remedies = ["raise the budget"]
    if after[layout.pinned].any():
        remedies.append("remove pins")
    heaviest = _heaviest(layout, after)
    if heaviest is not None:
        remedies.append(f"take '{heaviest.word}' out of what is always kept")
    return f"To meet it, {' or '.join(remedies)}"


def _heaviest(layout: Layout, after: NDArray[np.int64]) -> Zone | None:
    """The protected zone that holds most. Not the system prompt: nobody wants to lose that."""
    tokens = {
        zone: int(after[layout.zones.members[zone]].sum())
        for zone in Zone
        if zone.word in layout.protect and zone is not Zone.SYSTEM
    }
    heaviest = max(tokens, key=lambda zone: tokens[zone], default=None)
    return heaviest if heaviest is not None and tokens[heaviest] else None
