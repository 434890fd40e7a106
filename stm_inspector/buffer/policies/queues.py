"""Queues: the oldest goes first, by lock group or by whole turn."""

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
from stm_inspector.buffer.settings import setting


@dataclass(frozen=True, slots=True)
class TokenFifo:
    """The policy ``token-fifo``."""

    id: str = "token-fifo"
    title: str = "First in, first out"
    idea: str = "Fill the budget"
    help: str = (
        "Drops the oldest lock group, and again, until the buffer fits; the newest one always "
        "stays. Right for steady talk in which what is old is also stale. Wrong where an early "
        "message still binds: beyond what is always kept, age is all that counts. With a target "
        "below the trigger it acts less often, and the prompt cache stays warm in between."
    )
    basis: Basis = Basis.OURS
    emulates: str | None = None
    settings: type[ActingSettings] = ActingSettings
    uses_budget: bool = True
    uses_watermark: bool = True
    uses_target: bool = True

    def decide(self, situation: Situation, options: ActingSettings) -> Decision:
        """Drop the oldest units until the buffer fits."""
        trigger = at_most(situation.watermark, situation.limit)
        if situation.total <= trigger:
            return keep_all(situation, f"The buffer does not exceed {trigger:,} tokens")
        goal = at_most(situation.target, situation.limit)
        return worthwhile(situation, options, _dropped(situation, goal))


def _dropped(situation: Situation, goal: int) -> Decision:
    layout = situation.layout
    room = goal - layout.protected_tokens - situation.counts.overhead
    units = len(layout.unit_newest)
    fitting = int(layout.unit_sums.searchsorted(room, side="right"))
    if units and int(layout.unit_newest[0]) == situation.length - 1:
        fitting = max(1, fitting)
    if fitting == units:
        return keep_all(situation, "Nothing older is left to drop")
    first_out = int(layout.unit_newest[fitting])
    return by_cases(
        situation,
        f"Younger than what had to go for {goal:,} tokens",
        Case(layout.newest <= first_out, f"Among the oldest, until {goal:,} tokens were met"),
    )


@dataclass(frozen=True, slots=True)
class TurnWindowSettings(ActingSettings):
    """Settings of ``turn-window``."""

    max_turns: int = setting(
        0,
        "How many of the newest turns stay at most, the current one included. 0: as many as fit.",
        label="Newest turns",
        unit="turns",
        low=0,
    )


@dataclass(frozen=True, slots=True)
class TurnWindow:
    """The policy ``turn-window``."""

    id: str = "turn-window"
    title: str = "Turn window"
    idea: str = "Newest messages"
    help: str = (
        "Keeps whole turns, a person's message with everything that answers it, from the newest "
        "backwards until the first that does not fit. Right where half a turn is worse than "
        "none: no question without its answer. Wrong for agents that work for hours on one "
        "turn: the current turn alone may exceed the budget, and a long one lets go of much at "
        "once."
    )
    basis: Basis = Basis.OURS
    emulates: str | None = None
    settings: type[TurnWindowSettings] = TurnWindowSettings
    uses_budget: bool = True
    uses_watermark: bool = True
    uses_target: bool = True

    def decide(self, situation: Situation, options: TurnWindowSettings) -> Decision:
        """Keep the newest turns that fit, and at most ``max_turns``."""
        starts = situation.log.structure.turn_starts
        starts = starts[: int(starts.searchsorted(situation.length))]
        trigger = at_most(situation.watermark, situation.limit)
        fits = situation.total <= trigger
        by_tokens = 0 if fits else _first_that_fits(situation, starts)
        number = len(starts) + 1
        by_turns = max(0, number - options.max_turns) if options.max_turns else 0
        first = max(by_tokens, by_turns)
        if not first:
            return keep_all(
                situation,
                f"The buffer does not exceed {trigger:,} tokens" if fits else "Its turn fits",
            )
        begin = int(starts[first - 1]) if first < number else situation.length
        window = (
            f"the newest {options.max_turns:,} turns"
            if by_turns >= by_tokens
            else f"the newest turns that fit into {at_most(situation.target, situation.limit):,}"
            " tokens"
        )
        layout = situation.layout
        decision = by_cases(
            situation,
            f"Within {window}",
            Case(layout.oldest < begin, f"Older than {window}"),
            Case(
                (layout.oldest < begin) & (layout.newest >= begin),
                f"Its lock group begins before {window} and goes whole",
            ),
        )
        return worthwhile(situation, options, decision)


def _first_that_fits(situation: Situation, starts: NDArray[np.int32]) -> int:
    """The oldest of the newest turns that fit together; 0 is what stands before the first turn.

    A lock group counts for the turn that it begins in.
    """
    layout = situation.layout
    goal = at_most(situation.target, situation.limit)
    room = goal - layout.protected_tokens - situation.counts.overhead
    free = ~layout.protected
    turns = starts.searchsorted(layout.oldest[free], side="right")
    tokens = situation.counts.messages[free]
    by_turn = np.bincount(turns, weights=tokens, minlength=len(starts) + 1).astype(np.int64)
    sums = by_turn[::-1].cumsum()
    return len(by_turn) - int(sums.searchsorted(room, side="right"))
