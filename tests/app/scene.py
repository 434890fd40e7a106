"""A small conversation with every state that a block can have, and a plan for it, by hand."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from stm_inspector.buffer.budget import Budget
from stm_inspector.buffer.plan import (
    Amount,
    Decision,
    Inserted,
    Plan,
    Problem,
    Severity,
    Totals,
    Verdict,
    Zone,
)
from stm_inspector.conversation.model import Conversation, Message, Part, PartKind, Role
from stm_inspector.tokens.counts import UNKNOWN, Exactness, TokenCounts

K, E, C, T, S = Verdict.KEEP, Verdict.EVICT, Verdict.CLEAR, Verdict.TRUNCATE, Verdict.SUMMARISE

VERDICTS = [K, K, S, S, S, S, E, E, K, C, K, T]
ZONES = [Zone.SYSTEM, Zone.ANCHOR, *[Zone.MIDDLE] * 6, Zone.RETRIEVED, Zone.TAIL, Zone.TAIL]
ZONES.append(Zone.CURRENT)
TOKENS = [900, 40, 100, 200, 100, 200, 120, 8214, 500, 3000, 60, 700]


def text(words: str) -> tuple[Part, ...]:
    """One text part."""
    return (Part(PartKind.TEXT, words),)


def call(key: str, tool: str, arguments: str) -> tuple[Part, ...]:
    """One tool call."""
    return (Part(PartKind.TOOL_CALL, arguments, name=tool, call_id=key),)


def result(key: str, words: str) -> tuple[Part, ...]:
    """One tool result."""
    return (Part(PartKind.TOOL_RESULT, words, call_id=key),)


def conversation() -> Conversation:
    """Twelve messages; 6 and 7, and 9 with its call 2, are locked together."""
    messages = (
        Message(Role.SYSTEM, text("You are a coding agent")),
        Message(Role.USER, text("Make the importer stream large files")),
        Message(Role.ASSISTANT, text("First step")),
        Message(Role.USER, text("Go on")),
        Message(Role.ASSISTANT, text("Second step")),
        Message(Role.USER, text("Go on again")),
        Message(Role.ASSISTANT, call("a", "read_file", '{"path": "importer/reader.py"}')),
        Message(Role.TOOL, result("a", "line\n" * 812)),
        Message(Role.USER, text("<documents> docs/import.md")),
        Message(Role.ASSISTANT, call("b", "bash", '{"command": "pytest -q"}')),
        Message(Role.TOOL, result("b", "3 failed, 118 passed")),
        Message(Role.USER, text("Now do the same for the exporter")),
    )
    return Conversation("openai-chat", "openai-chat", messages)


def counts() -> TokenCounts:
    """Exact but for message 8; something in message 10 is not in the file."""
    tokens = np.array(TOKENS, dtype=np.int64)
    parts = tokens.copy()
    parts[10] = UNKNOWN
    exactness = np.zeros(len(tokens), dtype=np.uint8)
    exactness[8] = Exactness.ESTIMATE
    starts = np.arange(len(tokens) + 1, dtype=np.int64)
    return TokenCounts("unit", tokens, exactness, parts, starts, 0, Exactness.EXACT, len)


def summary(**changes: Any) -> Inserted:
    """The synthetic message for 2 to 5."""
    entry = Inserted(
        6, "user", "summary", "What was done before", 80, Exactness.EXACT, (2, 3, 4, 5)
    )
    return replace(entry, **changes)


def plan(
    verdicts: list[Verdict] | None = None,
    inserted: tuple[Inserted, ...] | None = None,
    *,
    policy: str = "token-budget",
    budget: Budget = Budget(),
    watermark: int | None = None,
    target: int | None = None,
) -> Plan:
    """A plan with these verdicts."""
    chosen = np.array(VERDICTS if verdicts is None else verdicts, dtype=np.uint8)
    extra = (summary(),) if inserted is None and verdicts is None else inserted or ()
    tokens = np.array(TOKENS, dtype=np.int64)
    after = tokens.copy()
    after[(chosen == E) | (chosen == S)] = 0
    after[chosen == C] = 12
    after[chosen == T] = 50
    pinned = np.zeros(len(tokens), dtype=bool)
    pinned[1] = True
    sent = int(after.sum()) + sum(entry.tokens for entry in extra)
    kinds = [int(np.count_nonzero(chosen == verdict)) for verdict in (K, E, C, T, S)]
    return Plan(
        policy=policy,
        options=None,
        decision=Decision(chosen, np.zeros(len(tokens), np.uint8), ("by hand",), inserted=extra),
        zones=np.array(ZONES, dtype=np.uint8),
        tokens=tokens,
        tokens_after=after,
        exactness=counts().exactness,
        pinned=pinned,
        protected=pinned,
        budget=budget,
        watermark=watermark,
        target=target,
        totals=Totals(
            Amount(len(tokens), int(tokens.sum())),
            Amount(int(np.count_nonzero(after)) + len(extra), sent),
            *kinds,
            over_budget=max(0, sent - budget.input),
            exactness=Exactness.ESTIMATE,
        ),
        problems=(
            Problem("A1", Severity.ERROR, 9, "the call has no result", "keep it", recorded=False),
            Problem("A9", Severity.WARNING, 10, "odd", "look", recorded=True),
        ),
        call=0,
        calls=1,
    )
