"""Summarise at the watermark: what stands between the task and the newest messages."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum

import numpy as np

from stm_inspector.buffer.plan import Decision, Inserted, Verdict, Zone
from stm_inspector.buffer.policies.base import (
    Basis,
    Loss,
    Situation,
    TriggerSettings,
    keep_all,
    lose,
)
from stm_inspector.buffer.settings import setting
from stm_inspector.buffer.zones import Mask
from stm_inspector.summaries.summary import Summary
from stm_inspector.tokens.counts import Exactness


class SummaryRole(StrEnum):
    """Who speaks the summary."""

    USER = "user"
    ASSISTANT = "assistant"
    SYSTEM = "system"


@dataclass(frozen=True, slots=True)
class SummarySettings(TriggerSettings):
    """Settings of ``summary``."""

    keep_recent: int = setting(
        6,
        "How many of the newest messages stay as they are.",
        label="Keep recent",
        unit="messages",
        low=0,
    )
    max_summary_tokens: int = setting(
        1_000,
        "The summary is at most that long; it leaves lines out evenly and says how many.",
        label="Longest summary",
        unit="tokens",
        low=1,
    )
    role: SummaryRole = setting(
        SummaryRole.USER,
        "Who speaks the summary. As the first message, Anthropic accepts only the user's.",
        label="Summary speaks as",
    )


@dataclass(frozen=True, slots=True)
class SummaryAtWatermark:
    """The policy ``summary``."""

    id: str = "summary"
    title: str = "Summary at watermark"
    idea: str = "Summarise"
    help: str = (
        "Above the watermark, what stands between the task and the newest messages becomes one "
        "summary. Right for long work in which the gist of earlier steps still matters. Wrong "
        "where exact details do (numbers, code, names): they are gone and cannot come back, and "
        "a changed prefix makes the prompt cache cold."
    )
    basis: Basis = Basis.OURS
    emulates: str | None = None
    settings: type[SummarySettings] = SummarySettings
    uses_budget: bool = True
    uses_watermark: bool = True
    uses_target: bool = False

    def decide(self, situation: Situation, options: SummarySettings) -> Decision:
        """Replace the middle by one summary if the watermark is exceeded."""
        trigger = situation.watermark or 0
        if situation.total <= trigger:
            return keep_all(
                situation, f"The buffer does not exceed the trigger, {trigger:,} tokens"
            )
        middle = _middle(situation, options.keep_recent)
        indices = np.flatnonzero(middle)
        if not len(indices):
            note = (
                f"The trigger of {trigger:,} tokens is exceeded, but nothing is left to summarise"
            )
            return keep_all(situation, "Not part of what is summarised", (note,))
        summary = situation.summarise(indices, options.max_summary_tokens)
        return _replaced(situation, options, middle, summary)


def _middle(situation: Situation, keep_recent: int) -> Mask:
    """What is summarised: free, after the protected task, older than the newest messages.

    A lock group that begins before the newest messages goes into the summary whole.
    """
    layout = situation.layout
    n = len(layout.held)
    begin = -1
    if Zone.ANCHOR.word in layout.protect and layout.zones.anchor is not None:
        begin = layout.zones.anchor
    middle: Mask = (layout.oldest > begin) & (layout.oldest < n - keep_recent) & ~layout.protected
    return middle


def _replaced(
    situation: Situation, options: SummarySettings, middle: Mask, summary: Summary
) -> Decision:
    indices = np.flatnonzero(middle)
    layout = situation.layout
    n = len(middle)
    recent = f"the newest {options.keep_recent:,} messages"
    decision = lose(
        situation,
        f"Among {recent}",
        Loss(middle, f"Older than {recent}: the summary stands for it", Verdict.SUMMARISE),
        Loss(
            middle & (layout.newest >= n - options.keep_recent),
            f"Its lock group begins before {recent} and goes into the summary whole",
            Verdict.SUMMARISE,
        ),
    )
    inserted = Inserted(
        before=_place(situation, middle, int(indices[0])),
        role=options.role.value,
        kind="summary",
        text=summary.text,
        tokens=summary.tokens,
        exactness=_exactness(situation),
        stands_for=tuple(indices.tolist()),
    )
    return replace(decision, inserted=(inserted,), notes=_notes(situation, middle, summary))


def _place(situation: Situation, middle: Mask, first: int) -> int:
    """Where the summary goes: where its first message stood, but not into a lock group that
    stays, between a call and its result."""
    layout = situation.layout
    while True:
        around = ~middle & (layout.oldest < first) & (layout.newest >= first)
        if not around.any():
            return first
        first = int(layout.oldest[around].min())


def _exactness(situation: Situation) -> Exactness:
    """Of a text that we count ourselves: no better than the best message, never recorded."""
    exactness = situation.counts.exactness
    exact = len(exactness) and int(exactness.min()) == Exactness.EXACT
    return Exactness.EXACT if exact else Exactness.ESTIMATE


def _notes(situation: Situation, middle: Mask, summary: Summary) -> tuple[str, ...]:
    replaced = int(situation.counts.messages[middle].sum())
    if summary.tokens <= replaced:
        return ()
    return (
        f"The summary ({summary.tokens:,} tokens) is larger than the messages it stands for "
        f"({replaced:,} tokens)",
    )
