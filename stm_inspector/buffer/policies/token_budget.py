"""Fill the budget: what is protected, then the newest lock groups that fit."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from stm_inspector.buffer.layout import Held
from stm_inspector.buffer.plan import Decision, Replacement, Verdict
from stm_inspector.buffer.policies.base import (
    ActingSettings,
    Basis,
    Case,
    Situation,
    at_most,
    by_cases,
    keep_all,
)
from stm_inspector.buffer.policies.worth import worthwhile
from stm_inspector.conversation.model import Message, PartKind

TASK_CHARACTERS = 200
"""How much of a task is left when it is cut down to one line."""


def task_line(message: Message) -> str:
    """The task in one line: its first 200 characters, white space joined."""
    text = " ".join(part.text for part in message.parts if part.kind is PartKind.TEXT)
    return f"[original task: {' '.join(text.split())[:TASK_CHARACTERS]}…]"


def _shortened_task(situation: Situation) -> tuple[int, Replacement] | None:
    """The task as one line, or None where it may not or need not be shortened.

    A task that stands in the protected current turn is what the model has to answer now; like
    a pinned one, and one that holds tool results, it is never cut.
    """
    layout = situation.layout
    anchor = layout.zones.anchor
    if anchor is None or layout.held[anchor] != Held.ANCHOR or layout.oldest[anchor] != anchor:
        return None
    if "current" in layout.protect and anchor >= layout.zones.current:
        return None
    if layout.newest[anchor] != anchor:
        return None
    message = situation.conversation.messages[anchor]
    if not any(part.kind is PartKind.TEXT and part.text.strip() for part in message.parts):
        return None
    text = task_line(message)
    tokens = situation.counts.of_message(text)
    if tokens >= situation.counts.messages[anchor]:
        return None
    return anchor, Replacement(text, tokens)


@dataclass(frozen=True, slots=True)
class TokenBudget:
    """The policy ``token-budget``."""

    id: str = "token-budget"
    title: str = "Token budget (head + tail)"
    idea: str = "Fill the budget"
    help: str = (
        "Keeps the system prompt, the task and the current turn, and fills the rest of the "
        "budget with the newest lock groups, up to the first that does not fit. Right as a "
        "first choice for most agents: it meets the budget and leaves no orphan. Wrong where "
        "the middle holds decisions that still bind: they leave without a trace. With a "
        "watermark it acts only above it; with a target below it, it trims further than it "
        "must, but less often, which keeps the prompt cache warm."
    )
    basis: Basis = Basis.OURS
    emulates: str | None = None
    settings: type[ActingSettings] = ActingSettings
    uses_budget: bool = True
    uses_watermark: bool = True
    uses_target: bool = True

    def decide(self, situation: Situation, options: ActingSettings) -> Decision:
        """Keep what is protected and the newest units that fit."""
        trigger = at_most(situation.watermark, situation.limit)
        if situation.total <= trigger:
            return keep_all(situation, f"The buffer does not exceed {trigger:,} tokens")
        goal = at_most(situation.target, situation.limit)
        held = situation.layout.protected_tokens + situation.counts.overhead
        task = _shortened_task(situation) if held > situation.limit else None
        if task is not None:
            held += task[1].tokens - int(situation.counts.messages[task[0]])
        decision = _with_task(_fill(situation, goal, goal - held), task)
        return worthwhile(situation, options, decision)


def _fill(situation: Situation, goal: int, room: int) -> Decision:
    """Keep the newest free units, up to the first that does not fit into ``room`` tokens."""
    layout = situation.layout
    fitting = int(np.searchsorted(layout.unit_sums, room, side="right"))
    if fitting == len(layout.unit_newest):
        return keep_all(situation, f"Fits into {goal:,} tokens")
    first_out = int(layout.unit_newest[fitting])
    return by_cases(
        situation,
        f"Among the newest that fit into {goal:,} tokens",
        Case(layout.newest < first_out, f"Older than what fits into {goal:,} tokens"),
        Case(
            layout.newest == first_out,
            f"The first, going back, that no longer fits into {goal:,} tokens",
        ),
    )


def _with_task(decision: Decision, task: tuple[int, Replacement] | None) -> Decision:
    if task is None:
        return decision
    index, line = task
    verdicts, reason_of = decision.verdicts.copy(), decision.reason_of.copy()
    verdicts[index] = Verdict.TRUNCATE
    reason_of[index] = len(decision.reasons)
    reason = "The task is cut to one line: with it, what is always kept exceeds the budget"
    return replace(
        decision,
        verdicts=verdicts,
        reason_of=reason_of,
        reasons=(*decision.reasons, reason),
        truncated={index: line},
        fired=True,
    )
