"""Completed topics are summarised, the open one stays."""

from __future__ import annotations

from dataclasses import dataclass

from stm_inspector.buffer.plan import Decision
from stm_inspector.buffer.policies.base import Basis, Situation, TriggerSettings, carry
from stm_inspector.buffer.policies.folding import (
    Folded,
    SummaryRole,
    Wording,
    folded,
    grown,
    older_than,
    shown,
    tokens_now,
)
from stm_inspector.buffer.settings import setting
from stm_inspector.summaries.segments import topic_changes


@dataclass(frozen=True, slots=True)
class SegmentsSettings(TriggerSettings):
    """Settings of ``segments``."""

    depth: float = setting(
        0.4,
        "How far the words before and after a gap must differ, against those around it, for a "
        "change of topic. Lower finds more topics.",
        label="Depth of a change",
        unit="of 2",
        low=0,
        high=2,
    )
    max_summary_tokens: int = setting(
        300,
        "The summary of a topic is at most that long.",
        label="Longest summary",
        unit="tokens",
        low=1,
    )
    role: SummaryRole = setting(
        SummaryRole.USER,
        "Who speaks the summaries. As the first message, Anthropic accepts only the user's.",
        label="Summaries speak as",
    )


@dataclass(frozen=True, slots=True)
class Segments:
    """The policy ``segments``."""

    id: str = "segments"
    title: str = "Topics"
    idea: str = "Summarise"
    help: str = (
        "Finds where the topic changes, by the words that turns have in common (lexical "
        "cohesion). Above the watermark each completed topic becomes a summary of its own, and "
        "the open topic stays as it is. Right for talk that goes from one matter to the next. "
        "Wrong for work on one matter, where no change is found and nothing is summarised, and "
        "for very short messages: too few words to compare."
    )
    basis: Basis = Basis.OURS
    emulates: str | None = None
    settings: type[SegmentsSettings] = SegmentsSettings
    uses_budget: bool = True
    uses_watermark: bool = True
    uses_target: bool = False

    def decide(self, situation: Situation, options: SegmentsSettings) -> Decision:
        """What all calls so far have left."""
        return carry(self, situation, options)

    def advance(
        self, state: Folded | None, situation: Situation, options: SegmentsSettings
    ) -> Folded:
        """Summarise each completed topic if the watermark is exceeded."""
        state = grown(state, situation)
        if tokens_now(state, situation) <= (situation.watermark or 0):
            return state
        after, first = state, 0
        for stop in _changes(situation, options.depth):
            topic = older_than(after, situation, stop)
            topic &= situation.layout.oldest >= first
            if topic.any():
                after = folded(after, situation, topic, options.max_summary_tokens, rewrite=False)
            first = stop
        freed = tokens_now(state, situation) - tokens_now(after, situation)
        return after if freed >= options.min_freed or not options.min_freed else state

    def decided(self, state: Folded, situation: Situation, options: SegmentsSettings) -> Decision:
        """The live messages and a summary of each completed topic."""
        trigger = situation.watermark or 0
        notes: tuple[str, ...] = ()
        idle = f"The buffer does not exceed the trigger, {trigger:,} tokens"
        if tokens_now(state, situation) > trigger and not state.fired:
            idle = "No topic is completed"
            note = (
                f"The trigger of {trigger:,} tokens is exceeded, but no further topic is complete"
            )
            notes = (note,)
        wording = Wording(
            kept="Belongs to the open topic, or to one completed after the last summary",
            summarised="Belongs to a completed topic, which its summary stands for",
            idle=idle,
        )
        return shown(state, situation, wording, role=options.role, notes=notes)


def _changes(situation: Situation, depth: float) -> tuple[int, ...]:
    """Where new topics begin, as far as that is known by now."""
    every: tuple[tuple[int, int], ...] = situation.remember(
        ("topics", depth), lambda: topic_changes(situation.log, depth)
    )
    return tuple(first for first, known in every if known <= situation.length)
