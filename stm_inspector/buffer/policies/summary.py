"""Summarise at the watermark: what stands between the task and the newest messages."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from stm_inspector.buffer.plan import Decision
from stm_inspector.buffer.policies.base import Basis, Situation, TriggerSettings, carry
from stm_inspector.buffer.policies.folding import (
    Folded,
    Place,
    SummaryRole,
    Wording,
    folded,
    grown,
    older_than,
    shown,
    tokens_now,
    turns_so_far,
)
from stm_inspector.buffer.settings import setting
from stm_inspector.buffer.zones import Mask


class By(StrEnum):
    """What a trigger or the newest messages are measured in."""

    TOKENS = "tokens"
    MESSAGES = "messages"
    TURNS = "turns"


class Merge(StrEnum):
    """What becomes of an earlier summary."""

    REWRITE = "rewrite"
    APPEND = "append"


@dataclass(frozen=True, slots=True)
class SummarySettings(TriggerSettings):
    """Settings of ``summary``."""

    trigger_by: By = setting(
        By.TOKENS,
        "What the trigger looks at: tokens (the watermark), or how many messages or turns are "
        "left in the buffer.",
        label="Trigger by",
    )
    trigger_count: int = setting(
        20,
        "Where the trigger goes by messages or turns: it acts on more than that many.",
        label="Trigger above",
        low=0,
    )
    keep_recent: int = setting(
        6,
        "How much of the newest stays as it is.",
        label="Keep recent",
        unit="messages",
        low=0,
    )
    keep_by: By = setting(
        By.MESSAGES,
        "Whether 'keep recent' counts messages, turns or tokens.",
        label="Keep recent by",
    )
    carried: bool = setting(
        False,
        "On: a summary stays from call to call until the trigger is exceeded again, as in a "
        "harness that changes its history. Off: it is made anew from the whole log.",
        label="Carry the summary on",
    )
    merge: Merge = setting(
        Merge.REWRITE,
        "For summaries that are carried on. Rewrite: the next summary carries the one before on. "
        "Append: it stands beside it.",
        label="Earlier summaries",
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
    place: Place = setting(
        Place.IN_PLACE,
        "Where what it stands for began, first of all behind the system prompt, or right before "
        "the newest messages.",
        label="Summary stands",
    )


@dataclass(frozen=True, slots=True)
class SummaryAtWatermark:
    """The policy ``summary``."""

    id: str = "summary"
    title: str = "Summary at watermark"
    idea: str = "Summarise"
    help: str = (
        "Above the watermark, what stands between the task and the newest messages becomes one "
        "summary. Carried on, it stays until the buffer has grown to the watermark again, and "
        "the next summary continues it or stands beside it. With a target, only as much of the "
        "oldest goes as brings the buffer there. Right for long work in which the gist of earlier "
        "steps still matters. Wrong where exact details do (numbers, code, names): they are gone "
        "and cannot come back, a summary of summaries drifts, and a changed prefix makes the "
        "prompt cache cold."
    )
    basis: Basis = Basis.OURS
    emulates: str | None = None
    settings: type[SummarySettings] = SummarySettings
    uses_budget: bool = True
    uses_watermark: bool = True
    uses_target: bool = True

    def decide(self, situation: Situation, options: SummarySettings) -> Decision:
        """What is left of the whole log, or what all calls so far have left."""
        if options.carried:
            return carry(self, situation, options)
        return self.decided(self.advance(None, situation, options), situation, options)

    def advance(
        self, state: Folded | None, situation: Situation, options: SummarySettings
    ) -> Folded:
        """Summarise the middle if the trigger is exceeded."""
        state = grown(state if options.carried else None, situation)
        if not _triggered(state, situation, options):
            return state
        middle = older_than(state, situation, _recent(situation, options))
        if situation.target is not None:
            middle = _enough(state, situation, options, middle)
        if not middle.any():
            return state
        rewrite = options.merge is Merge.REWRITE
        after = folded(state, situation, middle, options.max_summary_tokens, rewrite=rewrite)
        freed = tokens_now(state, situation) - tokens_now(after, situation)
        return after if freed >= options.min_freed or not options.min_freed else state

    def decided(self, state: Folded, situation: Situation, options: SummarySettings) -> Decision:
        """The live messages and the summaries of the others."""
        recent, trigger = _words(options), situation.watermark or 0
        idle = f"The buffer does not exceed the trigger, {trigger:,} tokens"
        notes: tuple[str, ...] = ()
        if options.trigger_by is not By.TOKENS:
            idle = f"There are no more than {options.trigger_count:,} {options.trigger_by.value}"
        if _triggered(state, situation, options) and not state.fired:
            idle = "Not part of what is summarised"
            notes = (_exceeded(options, trigger),)
        wording = Wording(
            kept=f"Among {recent}, or newer than the last summary",
            summarised=f"Older than {recent}: the summary stands for it",
            idle=idle,
            edge=f"Its lock group begins before {recent} and goes into the summary whole",
        )
        return shown(
            state,
            situation,
            wording,
            role=options.role,
            place=options.place,
            recent=_recent(situation, options),
            notes=notes,
        )


def _exceeded(options: SummarySettings, trigger: int) -> str:
    what = f"{trigger:,} tokens"
    if options.trigger_by is not By.TOKENS:
        what = f"{options.trigger_count:,} {options.trigger_by.value}"
    if options.min_freed:
        return (
            f"The trigger of {what} is exceeded, but a summary would free fewer than "
            f"{options.min_freed:,} tokens"
        )
    return f"The trigger of {what} is exceeded, but nothing is left to summarise"


def _words(options: SummarySettings) -> str:
    k, unit = options.keep_recent, options.keep_by.value
    return f"the newest {k:,} {unit}" if k != 1 else f"the newest {unit[:-1]}"


def _triggered(state: Folded, situation: Situation, options: SummarySettings) -> bool:
    if options.trigger_by is By.TOKENS:
        return tokens_now(state, situation) > (situation.watermark or 0)
    if options.trigger_by is By.MESSAGES:
        return int(state.live.sum()) + len(state.summaries) > options.trigger_count
    live = situation.log.structure.turns[: situation.length][state.live]
    return len(np.unique(live[live >= 0])) > options.trigger_count


def _recent(situation: Situation, options: SummarySettings) -> int:
    """Where the newest messages begin that stay as they are."""
    n, k = situation.length, options.keep_recent
    if options.keep_by is By.MESSAGES or not k:
        return max(0, n - k)
    if options.keep_by is By.TURNS:
        turns = turns_so_far(situation)
        return int(situation.log.structure.turn_starts[turns - k]) if turns >= k else 0
    sums = situation.counts.messages[::-1].cumsum()
    return n - int(sums.searchsorted(k, side="right"))


def _enough(state: Folded, situation: Situation, options: SummarySettings, middle: Mask) -> Mask:
    """The oldest of ``middle`` that must go to reach the target, if the summary is as long as it
    may be; all of it where even that is not enough."""
    layout = situation.layout
    after = tokens_now(state, situation) + options.max_summary_tokens
    if options.merge is Merge.REWRITE:
        after -= sum(made.tokens for made in state.summaries.values())
    size = np.zeros(situation.length, dtype=np.int64)
    np.add.at(size, layout.oldest[middle], situation.counts.messages[middle])
    units = np.unique(layout.oldest[middle])
    need = after - (situation.target or 0)
    if need <= 0 or not len(units):
        return np.zeros_like(middle)
    last = min(int(size[units].cumsum().searchsorted(need)), len(units) - 1)
    enough: Mask = middle & (layout.oldest <= units[last])
    return enough
