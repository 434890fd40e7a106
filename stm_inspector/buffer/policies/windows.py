"""Windows by number of messages: with and without the task at their head."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from stm_inspector.buffer.plan import Decision, Zone
from stm_inspector.buffer.policies.base import Basis, Case, CommonSettings, Situation, by_cases
from stm_inspector.buffer.settings import setting
from stm_inspector.buffer.zones import Mask


@dataclass(frozen=True, slots=True)
class HeadTailSettings(CommonSettings):
    """Settings of ``head-tail``."""

    max_messages: int = setting(
        20,
        "How many of the newest messages stay, beside the system prompt and the task.",
        label="Newest messages",
        unit="messages",
        low=1,
    )


@dataclass(frozen=True, slots=True)
class SlidingWindowSettings(HeadTailSettings):
    """Settings of ``sliding-window``: the task is not protected, which is its point."""

    protect: frozenset[str] = setting(
        frozenset({"system", "current"}),
        "Zones that are never touched. Empty: the textbook's naive rule.",
        label="Always keep",
    )
    max_messages: int = setting(
        20,
        "How many of the newest messages stay, beside the system prompt.",
        label="Newest messages",
        unit="messages",
        low=1,
    )


def newest_messages(situation: Situation, options: HeadTailSettings) -> Decision:
    """Keep the newest ``max_messages``; a lock group that begins before them goes whole.

    A protected system prompt and task do not count as part of the window; a pin or the current
    turn does, and stays even where it reaches beyond it.
    """
    layout = situation.layout
    k = options.max_messages
    start = _start(situation, k)
    window = f"the newest {k:,} messages" if k > 1 else "the newest message"
    return by_cases(
        situation,
        f"Within {window}",
        Case(layout.newest < start, f"Older than {window}"),
        Case(
            (layout.oldest < start) & (layout.newest >= start),
            f"The edge of {window} falls into its lock group, and the group goes whole",
        ),
    )


def _start(situation: Situation, k: int) -> int:
    """The k-th newest message beside the head; 0 where there are no more than k."""
    width = 2 * k + 64
    while True:
        # As a rule the head is at the other end, and need not be looked at.
        begin = max(0, situation.length - width)
        others = np.flatnonzero(~_head(situation, begin))
        if len(others) > k:
            return begin + int(others[-k])
        if begin == 0:
            return 0
        width *= 8


def _head(situation: Situation, begin: int) -> Mask:
    """The protected system prompt and task among the messages from ``begin`` on."""
    protect, zones = situation.layout.protect, situation.layout.zones
    head = np.zeros(situation.length - begin, dtype=np.bool_)
    if Zone.SYSTEM.word in protect:
        head |= zones.system[begin:]
    if Zone.ANCHOR.word in protect and zones.anchor is not None and zones.anchor >= begin:
        head[zones.anchor - begin] = True
    return head


@dataclass(frozen=True, slots=True)
class SlidingWindow:
    """The policy ``sliding-window``."""

    id: str = "sliding-window"
    title: str = "Sliding window"
    idea: str = "Newest messages"
    help: str = (
        "Keeps the system prompt and the newest messages, whatever their size. Right for small "
        "talk, where only the last exchanges matter. Wrong for work on a task: the first thing "
        "it forgets is the task itself, and one huge tool result still breaks the budget."
    )
    basis: Basis = Basis.OURS
    emulates: str | None = None
    settings: type[CommonSettings] = SlidingWindowSettings
    uses_budget: bool = False
    uses_watermark: bool = False
    uses_target: bool = False

    def decide(self, situation: Situation, options: SlidingWindowSettings) -> Decision:
        """Keep the newest ``max_messages``."""
        return newest_messages(situation, options)


@dataclass(frozen=True, slots=True)
class HeadTail:
    """The policy ``head-tail``."""

    id: str = "head-tail"
    title: str = "Head and tail"
    idea: str = "Newest messages"
    help: str = (
        "Keeps the system prompt, the task and the newest messages. Right for agents that work "
        "on one task and whose old steps do not matter. Wrong where decisions in the middle "
        "still bind, and it does not look at tokens: the budget may be missed either way."
    )
    basis: Basis = Basis.OURS
    emulates: str | None = None
    settings: type[CommonSettings] = HeadTailSettings
    uses_budget: bool = False
    uses_watermark: bool = False
    uses_target: bool = False

    def decide(self, situation: Situation, options: HeadTailSettings) -> Decision:
        """Keep the task and the newest ``max_messages``."""
        return newest_messages(situation, options)
