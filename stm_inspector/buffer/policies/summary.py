"""Summarise at the watermark: what stands between the task and the newest messages."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum

from stm_inspector.buffer.plan import Decision, Inserted, Verdict, Zone
from stm_inspector.buffer.policies.base import (
    Basis,
    Case,
    Situation,
    TriggerSettings,
    by_cases,
    keep_all,
)
from stm_inspector.buffer.settings import setting
from stm_inspector.buffer.zones import Mask
from stm_inspector.summaries.summary import Summary


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
        if not middle.any():
            note = (
                f"The trigger of {trigger:,} tokens is exceeded, but nothing is left to summarise"
            )
            return keep_all(situation, "Not part of what is summarised", (note,))
        return _replaced(situation, options, middle)


def _begin(situation: Situation) -> int:
    """The protected task, behind which the summary begins; -1 if there is none."""
    layout = situation.layout
    anchor = layout.zones.anchor
    return anchor if anchor is not None and Zone.ANCHOR.word in layout.protect else -1


def _middle(situation: Situation, keep_recent: int) -> Mask:
    """What is summarised: free, after the protected task, older than the newest messages.

    A lock group that begins before the newest messages goes into the summary whole.
    """
    layout = situation.layout
    recent = len(layout.held) - keep_recent
    middle: Mask = layout.oldest > _begin(situation)
    return middle & (layout.oldest < recent) & ~layout.protected


def _replaced(situation: Situation, options: SummarySettings, middle: Mask) -> Decision:
    layout = situation.layout
    summary = situation.summarise(middle, options.max_summary_tokens)
    k = options.keep_recent
    recent = f"the newest {k:,} messages" if k != 1 else "the newest message"
    decision = by_cases(
        situation,
        f"Among {recent}",
        Case(layout.oldest < _begin(situation), "Stands before the task", Verdict.KEEP),
        Case(middle, f"Older than {recent}: the summary stands for it", Verdict.SUMMARISE),
        Case(
            middle & (layout.newest >= len(middle) - k),
            f"Its lock group begins before {recent} and goes into the summary whole",
            Verdict.SUMMARISE,
        ),
    )
    inserted = Inserted(
        before=_place(situation, middle),
        role=options.role.value,
        kind="summary",
        text=summary.text,
        tokens=summary.tokens,
        exactness=situation.synthetic_exactness,
        stands_for=summary.stands_for,
    )
    return replace(decision, inserted=(inserted,), notes=_notes(situation, middle, summary))


def _place(situation: Situation, middle: Mask) -> int:
    """Where the summary goes: where its first message stood, but not into a lock group that
    stays, between a call and its result."""
    layout = situation.layout
    place = int(middle.argmax())
    while True:
        around = ~middle & (layout.oldest < place) & (layout.newest >= place)
        if not around.any():
            return place
        place = int(layout.oldest[around].min())


def _notes(situation: Situation, middle: Mask, summary: Summary) -> tuple[str, ...]:
    replaced = int(situation.counts.messages[middle].sum())
    if summary.tokens <= replaced:
        return ()
    return (
        f"The summary ({summary.tokens:,} tokens) is larger than the messages it stands for "
        f"({replaced:,} tokens)",
    )
