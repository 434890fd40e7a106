"""Minimal clearing: whether what a policy would do is worth a cold prompt cache."""

from __future__ import annotations

from stm_inspector.buffer.outcome import tokens_after
from stm_inspector.buffer.plan import Decision
from stm_inspector.buffer.policies.base import ActingSettings, Situation, keep_all
from stm_inspector.tokens.counts import TokenCounts


def worthwhile(situation: Situation, options: ActingSettings, decision: Decision) -> Decision:
    """``decision``, or that nothing happens where it frees less than ``min_freed`` tokens."""
    if not options.min_freed or not decision.fired:
        return decision
    freed = situation.total - tokens_of(situation.counts, decision)
    if freed >= options.min_freed:
        return decision
    return keep_all(
        situation,
        f"Nothing is done for less than {options.min_freed:,} tokens",
        (
            f"Acting would free {max(0, freed):,} tokens, and at least {options.min_freed:,} "
            "are asked for",
        ),
    )


def tokens_of(counts: TokenCounts, decision: Decision) -> int:
    """Tokens of the whole request as ``decision`` leaves it."""
    inserted = sum(item.tokens for item in decision.inserted)
    return int(tokens_after(counts, decision).sum()) + counts.overhead + inserted
