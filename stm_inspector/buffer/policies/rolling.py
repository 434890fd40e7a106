"""Summaries by the clock of the turns: rolling, and with a block of facts."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from stm_inspector.buffer.plan import Decision
from stm_inspector.buffer.policies.base import Basis, CommonSettings, Situation, carry
from stm_inspector.buffer.policies.folding import (
    Folded,
    SummaryRole,
    Wording,
    folded,
    grown,
    older_than,
    shown,
    turns_so_far,
)
from stm_inspector.buffer.settings import setting
from stm_inspector.conversation.model import Conversation
from stm_inspector.summaries.facts import Fact, facts_of, merged, note_of


@dataclass(frozen=True, slots=True)
class EveryTurnsSettings(CommonSettings):
    """Settings of a policy that acts every few turns."""

    every_turns: int = setting(
        5,
        "It acts when that many turns have begun since it last did.",
        label="Every",
        unit="turns",
        low=1,
    )
    max_summary_tokens: int = setting(
        1_000,
        "A summary is at most that long; it leaves lines out evenly and says how many.",
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
class RollingSettings(EveryTurnsSettings):
    """Settings of ``rolling-summary``."""

    refresh_turns: int = setting(
        50,
        "After that many turns the summary is made from the raw log again, which shows how far "
        "the summaries of summaries had drifted. 0: never.",
        label="From the log every",
        unit="turns",
        low=0,
    )


@dataclass(frozen=True, slots=True)
class RollingSummary:
    """The policy ``rolling-summary``."""

    id: str = "rolling-summary"
    title: str = "Rolling summary"
    idea: str = "Summarise"
    help: str = (
        "Every few turns the older half of what is left is summarised and dropped, whatever the "
        "budget; each summary is made from the one before it and the new piece, and now and then "
        "from the raw log again. Right for steady talk in which cost should stay flat and "
        "predictable. Wrong where details must survive: a summary of a summary drifts, which the "
        "step back to the log makes visible; and it does not look at tokens."
    )
    basis: Basis = Basis.OURS
    emulates: str | None = None
    settings: type[RollingSettings] = RollingSettings
    uses_budget: bool = False
    uses_watermark: bool = False
    uses_target: bool = False

    def decide(self, situation: Situation, options: RollingSettings) -> Decision:
        """What all calls so far have left."""
        return carry(self, situation, options)

    def advance(
        self, state: Folded | None, situation: Situation, options: RollingSettings
    ) -> Folded:
        """Summarise the older half if enough turns have begun."""
        state, turns = grown(state, situation), turns_so_far(situation)
        if turns - state.turns < options.every_turns:
            return state
        free = np.flatnonzero(older_than(state, situation, situation.length))
        half = len(free) // 2
        if not half:
            return state
        older = older_than(state, situation, int(free[half]))
        if not older.any():
            return state
        refresh = bool(options.refresh_turns) and turns - state.refreshed >= options.refresh_turns
        after = folded(
            state,
            situation,
            older,
            options.max_summary_tokens,
            rewrite=True,
            from_raw=refresh,
        )
        return replace(after, turns=turns, refreshed=turns if refresh else state.refreshed)

    def decided(self, state: Folded, situation: Situation, options: RollingSettings) -> Decision:
        """The live messages and the summary of the others."""
        wording = Wording(
            kept="In the newer half when the last summary was made, or newer than that",
            summarised=f"In the older half, {options.every_turns:,} turns after the last summary",
            idle=f"There is nothing to summarise yet: it acts every {options.every_turns:,} turns",
        )
        return shown(state, situation, wording, role=options.role)


@dataclass(frozen=True, slots=True)
class HybridSettings(EveryTurnsSettings):
    """Settings of ``hybrid``."""

    keep_recent: int = setting(
        6,
        "How many of the newest messages stay as they are.",
        label="Keep recent",
        unit="messages",
        low=0,
    )
    max_facts: int = setting(
        30,
        "The block holds at most that many facts, the newest.",
        label="Most facts",
        unit="facts",
        low=0,
    )


@dataclass(frozen=True, slots=True)
class Hybrid:
    """The policy ``hybrid``."""

    id: str = "hybrid"
    title: str = "Facts, summary, newest"
    idea: str = "Summarise"
    help: str = (
        "Every few turns the buffer becomes a pinned block of facts (name, role, preferences, "
        "constraints, decisions), a running summary, and the newest messages. Facts are "
        "extracted and merged, so they outlive summaries that drift. Right for assistants that "
        "know a person for a long time. Wrong for work whose details are not facts about anybody "
        "(code, tool results), and wherever the rules that find facts miss the one that matters. "
        "It does not look at tokens."
    )
    basis: Basis = Basis.OURS
    emulates: str | None = None
    settings: type[HybridSettings] = HybridSettings
    uses_budget: bool = False
    uses_watermark: bool = False
    uses_target: bool = False

    def decide(self, situation: Situation, options: HybridSettings) -> Decision:
        """What all calls so far have left."""
        return carry(self, situation, options)

    def advance(
        self, state: Folded | None, situation: Situation, options: HybridSettings
    ) -> Folded:
        """Summarise and note facts if enough turns have begun."""
        state, turns = grown(state, situation), turns_so_far(situation)
        if turns - state.turns < options.every_turns:
            return state
        older = older_than(state, situation, situation.length - options.keep_recent)
        if not older.any():
            return state
        after = folded(state, situation, older, options.max_summary_tokens, rewrite=True)
        note = _note(situation, after, options.max_facts)
        tokens = situation.counts.of_message(note) if note else 0
        return replace(after, turns=turns, note=note, note_tokens=tokens)

    def decided(self, state: Folded, situation: Situation, options: HybridSettings) -> Decision:
        """Facts, summary and the live messages."""
        k = options.keep_recent
        wording = Wording(
            kept=f"Among the newest {k:,} messages, or newer than the last summary",
            summarised=f"Older than the newest {k:,} messages: facts and summary stand for it",
            idle=f"There is nothing to summarise yet: it acts every {options.every_turns:,} turns",
        )
        recent = max(0, situation.length - k)
        return shown(state, situation, wording, role=options.role, recent=recent)


def _note(situation: Situation, state: Folded, most: int) -> str:
    """The facts of all that is summarised."""
    every: tuple[tuple[Fact, ...], ...] = situation.remember("facts", lambda: _facts(situation.log))
    gone = np.flatnonzero(~state.live).tolist()
    return note_of(merged((), (fact for index in gone for fact in every[index])), most)


def _facts(conversation: Conversation) -> tuple[tuple[Fact, ...], ...]:
    return tuple(facts_of(message) for message in conversation.messages)
