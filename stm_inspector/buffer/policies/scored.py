"""What matters least goes first, wherever it stands."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from stm_inspector.buffer.plan import Decision
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
from stm_inspector.buffer.scores import Scoring
from stm_inspector.buffer.settings import setting
from stm_inspector.conversation.model import Conversation

_HOUR = 3_600  # seconds
_DECIMALS = 9  # of a score: sums that are the same on paper are ties


@dataclass(frozen=True, slots=True)
class SalienceSettings(ActingSettings):
    """Settings of ``salience``."""

    scoring: Scoring = setting(
        Scoring.CONTENT,
        "The rule for messages that neither you nor the file gave a score.",
        label="Scores by",
    )
    decay_per_hour: float = setting(
        0.0,
        "What a message's score loses with each hour of its age, from the recorded times. A "
        "message without a time is as old as the one before it.",
        label="Decay",
        unit="per hour",
        low=0,
    )


@dataclass(frozen=True, slots=True)
class ImportanceSettings(SalienceSettings):
    """Settings of ``importance``."""

    decay_per_hour: float = setting(
        0.1,
        "What a message's score loses with each hour of its age, from the recorded times. A "
        "message without a time is as old as the one before it.",
        label="Decay",
        unit="per hour",
        low=0,
    )


@dataclass(frozen=True, slots=True)
class Salience:
    """The policy ``salience``, and with other settings ``importance``."""

    id: str = "salience"
    title: str = "Salience"
    idea: str = "What matters stays"
    help: str = (
        "Drops what has the lowest score first, the oldest of equals, until the buffer fits; "
        "what stays need not be contiguous. A score from 0 to 1 is yours, or the file's "
        "(importance, salience, priority), or comes from a rule: 0.5, for a system prompt 0.9; a "
        "question +0.1, a code block +0.2, an error +0.15, fewer than 20 characters -0.1. A lock "
        "group scores as its best member. Right where single old messages matter more than "
        "recent chatter. Wrong where sense depends on neighbours: it tears holes into the talk, "
        "and a score by rule is a guess."
    )
    basis: Basis = Basis.OURS
    emulates: str | None = None
    settings: type[SalienceSettings] = SalienceSettings
    uses_budget: bool = True
    uses_watermark: bool = True
    uses_target: bool = True

    def decide(self, situation: Situation, options: SalienceSettings) -> Decision:
        """Drop the units of the lowest score until the buffer fits."""
        trigger = at_most(situation.watermark, situation.limit)
        if situation.total <= trigger:
            return keep_all(situation, f"The buffer does not exceed {trigger:,} tokens")
        goal = at_most(situation.target, situation.limit)
        return worthwhile(situation, options, _dropped(situation, options, goal))


IMPORTANCE = Salience(
    id="importance",
    title="Importance with decay",
    help=(
        "As salience, but a score fades with age: it loses 0.1 for each hour, so an old message "
        "must matter more than a new one to stay. Right for long sessions with breaks in them, "
        "where yesterday's detail is rarely needed. Wrong where the file has no times (then "
        "nothing fades), or where a decision of the morning still binds in the evening. The "
        "textbook protects the first message alone: pin it and empty 'Always keep'."
    ),
    settings=ImportanceSettings,
)
"""The policy ``importance``."""


def _dropped(situation: Situation, options: SalienceSettings, goal: int) -> Decision:
    layout = situation.layout
    units = layout.unit_newest[::-1]
    sizes = np.diff(layout.unit_sums, prepend=0)[::-1]
    scores = _unit_scores(situation, options)[units]
    order = np.argsort(scores, kind="stable")
    if not len(units):
        return keep_all(situation, "Nothing is left to drop")
    need = situation.total - goal
    if need <= 0:
        return keep_all(situation, f"Fits into {goal:,} tokens")
    dropped = order[: int(sizes[order].cumsum().searchsorted(need)) + 1]
    gone = np.zeros(situation.length, dtype=np.bool_)
    gone[units[dropped]] = True
    edge = f"{scores[dropped[-1]]:.2f}"
    score = "score, less its age," if options.decay_per_hour else "score"
    return by_cases(
        situation,
        f"Its {score} is above {edge}, or it is newer than what went at that",
        Case(
            gone[layout.newest],
            f"Among the lowest: its {score} is at most {edge}, and {goal:,} tokens had to be met",
        ),
    )


def _unit_scores(situation: Situation, options: SalienceSettings) -> NDArray[np.float64]:
    scores = situation.scores(options.scoring)[: situation.length] - _ages(situation, options)
    return best_of_unit(situation, scores.round(_DECIMALS))


def best_of_unit(situation: Situation, scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """At the place of each unit's newest member the score of its best member: float64[n]."""
    best = scores.copy()
    newest = situation.layout.newest
    grouped = np.flatnonzero(newest != np.arange(len(newest)))
    np.maximum.at(best, newest[grouped], scores[grouped])
    return best


def _ages(situation: Situation, options: SalienceSettings) -> NDArray[np.float64]:
    """What each score has lost with age: float64[n]."""
    n = situation.length
    if not options.decay_per_hour or not n:
        return np.zeros(n)
    times: NDArray[np.float64] = situation.remember("times", lambda: _times(situation.log))[:n]
    ages: NDArray[np.float64] = (times.max() - times) / _HOUR * options.decay_per_hour
    return ages


def _times(conversation: Conversation) -> NDArray[np.float64]:
    """Seconds since the first recorded time: float64[n]. One without is as old as the one
    before it, and what stands before all as old as the first."""
    known = [(i, m.time) for i, m in enumerate(conversation.messages) if m.time is not None]
    times = np.zeros(len(conversation.messages))
    stops = [*(i for i, _ in known), len(times)][1:]
    for (index, time), stop in zip(known, stops, strict=True):
        times[index:stop] = time - known[0][1]
    return times
