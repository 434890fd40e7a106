"""The plan: a verdict with a reason for every message, totals, insertions and problems.

Everything per message is an array, so that a plan over 100,000 messages costs a few array
operations; texts are made only for the messages that somebody looks at.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import IntEnum, StrEnum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stm_inspector.buffer.budget import Budget
from stm_inspector.tokens.counts import Exactness


class Verdict(IntEnum):
    """What happens to a message."""

    KEEP = 0
    EVICT = 1
    CLEAR = 2
    TRUNCATE = 3
    SUMMARISE = 4

    @property
    def word(self) -> str:
        """As it is written on screen and in JSON."""
        return self.name.lower()


class Zone(IntEnum):
    """Where a message sits in the buffer."""

    SYSTEM = 0
    ANCHOR = 1
    RETRIEVED = 2
    MIDDLE = 3
    TAIL = 4
    CURRENT = 5

    @property
    def word(self) -> str:
        """As it is written on screen and in JSON."""
        return self.name.lower()


class Severity(StrEnum):
    """Whether the API rejects it, or accepts it to somebody's harm."""

    ERROR = "error"
    WARNING = "warning"


@dataclass(frozen=True, slots=True)
class Problem:
    """A rule that the trimmed buffer breaks.

    Attributes:
        rule: id of the rule ("A1").
        severity: an error is rejected by the API, a warning is not.
        index: the message it is about, or None for the whole buffer.
        text: what is wrong, what the API would answer, in plain words.
        remedy: what to do.
        recorded: it is in the recording already; False means the trimming causes it.
        part: the part of the message it is about, where it is about one.
        places: how many messages it stands for; more than 1 only where it closes a long list.
    """

    rule: str
    severity: Severity
    index: int | None
    text: str
    remedy: str
    recorded: bool
    part: int | None = None
    places: int = 1


@dataclass(frozen=True, slots=True)
class Inserted:
    """A synthetic message that the plan puts in before message ``before``.

    ``kind`` is "summary", "placeholder" or "note"; ``stands_for`` lists what it replaces.
    """

    before: int
    role: str
    kind: str
    text: str
    tokens: int
    exactness: Exactness
    stands_for: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Replacement:
    """What stands in the buffer for a message (or one tool result of it) that changed."""

    text: str
    tokens: int


@dataclass(frozen=True, eq=False, slots=True)
class Decision:
    """What a policy returns.

    Attributes:
        verdicts: uint8[n], a ``Verdict`` for each message.
        reason_of: uint8[n], an index into ``reasons``.
        reasons: one sentence each, without the final point.
        truncated: message -> its shortened content; its ``tokens`` are the whole message's.
        cleared: (message, part) -> the placeholder for a tool result; its ``tokens`` are the
            part's.
        inserted: synthetic messages, ascending by ``before``.
        notes: sentences about the whole plan ("The budget is missed by 1,204 tokens: …").
        fired: the policy acted (its trigger was crossed, or the budget was exceeded).
    """

    verdicts: NDArray[np.uint8]
    reason_of: NDArray[np.uint8]
    reasons: tuple[str, ...]
    truncated: Mapping[int, Replacement] = field(default_factory=dict)
    cleared: Mapping[tuple[int, int], Replacement] = field(default_factory=dict)
    inserted: tuple[Inserted, ...] = ()
    notes: tuple[str, ...] = ()
    fired: bool = False


@dataclass(frozen=True, slots=True)
class Amount:
    """A number of messages and their tokens."""

    messages: int
    tokens: int


@dataclass(frozen=True, slots=True)
class Totals:
    """Counts over the whole plan. ``over_budget`` is the tokens by which it is missed, or 0."""

    before: Amount
    after: Amount
    kept: int
    evicted: int
    cleared: int
    truncated: int
    summarised: int
    over_budget: int
    exactness: Exactness


@dataclass(frozen=True, eq=False)
class Plan:
    """The outcome: see ``Decision`` for the per-message arrays.

    Attributes:
        policy, options: id of the policy, and its own settings as they were used (an instance
            of its settings dataclass).
        decision: what the policy decided.
        zones: uint8[n], a ``Zone`` for each message.
        tokens: int64[n], tokens of each message as recorded.
        tokens_after: int64[n], tokens of each message as sent; 0 where it is not sent.
        pinned: bool[n]; all members of a pinned lock group.
        protected: bool[n]; what the policy was not allowed to touch.
        budget, watermark, target: as resolved; the marks in tokens, None where unset.
        problems: the recording's own and those the trimming causes.
        calls, call: how many calls the recording has, and which one this plan is for.
        length: how many messages existed at that call; the arrays have that length.
    """

    policy: str
    options: Any
    decision: Decision
    zones: NDArray[np.uint8]
    tokens: NDArray[np.int64]
    tokens_after: NDArray[np.int64]
    exactness: NDArray[np.uint8]
    pinned: NDArray[np.bool_]
    protected: NDArray[np.bool_]
    budget: Budget
    watermark: int | None
    target: int | None
    totals: Totals
    problems: tuple[Problem, ...]
    call: int
    calls: int

    @property
    def length(self) -> int:
        """Number of messages the plan covers."""
        return len(self.zones)
