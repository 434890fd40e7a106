"""By priority, as messages arrive: each newcomer drives out what matters less."""

from __future__ import annotations

from dataclasses import dataclass
from heapq import heappop, heappush

import numpy as np

from stm_inspector.buffer.plan import Decision
from stm_inspector.buffer.policies.base import (
    Basis,
    Case,
    LimitSettings,
    Situation,
    by_cases,
    carry,
    keep_all,
)
from stm_inspector.buffer.policies.scored import best_of_unit
from stm_inspector.buffer.scores import Scoring
from stm_inspector.buffer.settings import setting
from stm_inspector.buffer.zones import Mask


@dataclass(frozen=True, slots=True)
class PrioritySettings(LimitSettings):
    """Settings of ``priority``."""

    scoring: Scoring = setting(
        Scoring.ROLE,
        "The rule for messages that neither you nor the file gave a priority; by role: 10 for "
        "system, 5 for user and assistant, 3 for tool results.",
        label="Priority by",
    )


@dataclass(frozen=True, eq=False, slots=True)
class _State:
    """Attributes:
    gone: bool[n], what has been evicted so far.
    queue: a heap of (priority, newest member) of what has arrived; old entries of a unit that
        grew or left are passed over.
    """

    gone: Mask
    queue: list[tuple[float, int]]


@dataclass(frozen=True, slots=True)
class Priority:
    """The policy ``priority``."""

    id: str = "priority"
    title: str = "Priority queue"
    idea: str = "What matters stays"
    help: str = (
        "Incremental: when a message arrives and the buffer is full, what has the lowest "
        "priority leaves, the oldest first, until the newcomer fits; what left is gone for good. "
        "Priorities are 1 to 10: system 10, user and assistant 5, tool results 3, or as you or "
        "the file say (a score of 0.7 is 7). Right where kinds of messages differ in worth, and "
        "large tool results crowd out the talk. Wrong where a result is still being worked on: "
        "it leaves before older small talk does."
    )
    basis: Basis = Basis.OURS
    emulates: str | None = None
    settings: type[PrioritySettings] = PrioritySettings
    uses_budget: bool = True
    uses_watermark: bool = False
    uses_target: bool = False

    def decide(self, situation: Situation, options: PrioritySettings) -> Decision:
        """What is left after all arrivals so far."""
        return carry(self, situation, options)

    def advance(
        self, state: _State | None, situation: Situation, options: PrioritySettings
    ) -> _State:
        """Let the messages since the call before arrive, one by one."""
        return _arrive(state or _State(np.zeros(0, dtype=np.bool_), []), situation, options)

    def decided(self, state: _State, situation: Situation, options: PrioritySettings) -> Decision:
        """Evicted is what is gone."""
        if not state.gone.any():
            return keep_all(situation, f"The buffer never exceeded {situation.limit:,} tokens")
        return by_cases(
            situation,
            "Its priority is higher than what had to go, or it is newer",
            Case(
                state.gone,
                "Had the lowest priority when a newer message did not fit into "
                f"{situation.limit:,} tokens",
            ),
        )


def _arrive(before: _State, situation: Situation, options: PrioritySettings) -> _State:
    """A lock group arrives with its newest member so far, and can leave from then on."""
    layout, old = situation.layout, len(before.gone)
    newest, protected, tokens = layout.newest, layout.protected, situation.counts.messages
    priority = best_of_unit(situation, situation.scores(options.scoring)[: situation.length])
    # What is always kept comes back if a late partner made it so; other late ones go as well.
    left = np.zeros(situation.length, dtype=np.bool_)
    left[newest[:old][before.gone]] = True
    left &= ~protected[newest]
    queue = list(before.queue)
    back = before.gone & ~left[newest[:old]]
    for unit in sorted(set(newest[:old][back].tolist())):
        heappush(queue, (float(priority[unit]), unit))
    size = np.zeros(situation.length, dtype=np.int64)
    np.add.at(size, newest, tokens)
    arriving = np.zeros(situation.length, dtype=np.int64)
    np.add.at(arriving, newest[old:], tokens[old:])
    live = int(tokens[:old][~left[newest[:old]]].sum()) + situation.counts.overhead
    for unit in sorted(set(newest[old:].tolist())):
        if left[unit]:
            continue
        live += int(arriving[unit])
        kept = []
        while live > situation.limit and queue:
            entry = heappop(queue)
            lowest = entry[1]
            if protected[lowest]:
                kept.append(entry)
            elif not left[lowest] and newest[lowest] == lowest:
                left[lowest] = True
                live -= int(size[lowest])
        for entry in kept:
            heappush(queue, entry)
        heappush(queue, (float(priority[unit]), unit))
    return _State(left[newest], queue)
