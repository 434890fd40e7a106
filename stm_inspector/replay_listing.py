"""The replay as text for a terminal: a line a call, then what it all amounts to."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from stm_inspector.buffer.plan import Plan
from stm_inspector.buffer.replay import ALERT, Replay
from stm_inspector.conversation.model import Conversation
from stm_inspector.listing import Style, plan_head, table
from stm_inspector.tokens.counts import TokenCounts

FIRED, MISSED = "▼", "✗"
_VERDICTS = ("evicted", "cleared", "truncated", "summarised")


def replay_lines(
    conversation: Conversation, plan: Plan, replay: Replay, counts: TokenCounts, style: Style
) -> Iterator[str]:
    """The whole replay; ``plan`` is that of the last call."""
    yield from plan_head(conversation, plan, counts, style)
    yield ""
    yield from _calls(replay, style)
    yield ""
    for name, value in _totals(replay):
        yield f"{name:<12} {value}"


def _calls(replay: Replay, style: Style) -> Iterator[str]:
    touched = [name for name in _VERDICTS if getattr(replay, name).any()]
    numbers = {
        "call": np.arange(len(replay)),
        "messages": replay.lengths,
        "before": replay.before,
        "after": replay.after,
        **{name: getattr(replay, name) for name in touched},
        "same prefix": replay.same_tokens,
    }
    names = list(numbers)
    columns = [[f"{value:,}" for value in column.tolist()] for column in numbers.values()]
    widths = [
        max(len(name), *map(len, column)) for name, column in zip(names, columns, strict=True)
    ]
    header = [name.rjust(width) for name, width in zip(names, widths, strict=True)]
    rows = [
        [*(cell.rjust(width) for cell, width in zip(cells, widths, strict=True)), note]
        for cells, note in zip(zip(*columns, strict=True), _notes(replay), strict=True)
    ]
    yield from table([*header, ""], rows, style)


def _notes(replay: Replay) -> Iterator[str]:
    for why, over in zip(replay.why, replay.over_budget.tolist(), strict=True):
        fired = [f"{FIRED} {why}"] if why else []
        missed = [f"{MISSED} {over:,} over the budget"] if over else []
        yield "  ".join(fired + missed)


def _totals(replay: Replay) -> Iterator[tuple[str, str]]:
    totals = replay.totals()
    word = replay.exactness.word
    yield "calls", f"{len(replay):,}"
    yield "peak", f"{totals.peak:,} tokens ({word}){_share(totals.peak_utilisation)}"
    yield "mean", f"{totals.mean:,.0f} tokens ({word}){_share(totals.utilisation)}"
    if totals.alerts:
        yield "alert", f"{totals.alerts:,} calls fill more than {ALERT:.0%} of the budget"
    if totals.missed:
        yield "missed", f"the budget at {totals.missed:,} calls"
    if totals.first_eviction is not None:
        yield "first loss", f"at call {totals.first_eviction:,}"
    yield "firings", f"{totals.firings:,}"
    if totals.summarised_per_firing is not None:
        yield "summarised", f"{totals.summarised_per_firing:,.0f} tokens per firing"
    if totals.same_prefix is not None:
        yield "same prefix", f"{totals.same_prefix:.1%} of all tokens sent, call by call"


def _share(share: float | None) -> str:
    return "" if share is None else f", {share:.1%} of the budget"
