"""What a policy is, and what it is given to decide on."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from stm_inspector.buffer.layout import HELD_REASONS, Layout
from stm_inspector.buffer.plan import Decision, Inserted, Verdict
from stm_inspector.buffer.scores import Scoring
from stm_inspector.buffer.settings import setting
from stm_inspector.buffer.zones import Mask
from stm_inspector.conversation.model import Conversation
from stm_inspector.summaries.summary import Summary
from stm_inspector.tokens.counts import Exactness, TokenCounts


def _make(_key: Hashable, make: Callable[[], Any]) -> Any:
    """Remembers nothing."""
    return make()


class Basis(StrEnum):
    """How sure we are that a policy does what it is named after."""

    OURS = "ours"
    VERIFIED = "verified"
    DOCUMENTED = "documented"
    REPORTED = "reported"


@dataclass(frozen=True, slots=True)
class CommonSettings:
    """The settings that every policy has."""

    protect: frozenset[str] = setting(
        frozenset({"system", "anchor", "current"}),
        "Zones that are never touched. Empty: the textbook's naive rule.",
        label="Always keep",
    )
    locks: bool = setting(
        True,
        "A tool call and all its results stay or go together. Off: the textbook's naive rule, "
        "which leaves results without their call.",
        label="Lock groups stay whole",
    )
    sticky: bool = setting(
        True,
        "A message that the file marks as sticky or pinned is never touched.",
        label="Sticky messages stay",
    )


@dataclass(frozen=True, slots=True)
class LimitSettings(CommonSettings):
    """Settings of a policy that meets a number of tokens."""

    max_tokens: int = setting(
        0,
        "A limit of the policy's own, below the budget. 0: the budget alone.",
        label="Own limit",
        unit="tokens",
        low=0,
    )


@dataclass(frozen=True, slots=True)
class ActingSettings(LimitSettings):
    """Settings of a policy that may wait until acting is worth it."""

    min_freed: int = setting(
        0,
        "Act only if at least that much comes free: each change makes the prompt cache cold. "
        "The budget may be missed for it.",
        label="Free at least",
        unit="tokens",
        low=0,
    )


@dataclass(frozen=True, slots=True)
class TriggerSettings(ActingSettings):
    """Settings of a policy with a watermark of its own; the one on the budget bar overrides it."""

    trigger: float = setting(
        0.6,
        "The watermark: the policy acts when the buffer exceeds it. Up to 1 a fraction of the "
        "budget, above it tokens.",
        label="Trigger",
        unit="of budget",
        low=0,
    )


@dataclass(frozen=True, eq=False)
class Situation:
    """What a policy decides on: a conversation up to one call, and what is to be met.

    Attributes:
        log: the whole conversation; ``conversation`` is it up to the call.
        counts: up to the call; every array has its length.
        layout: zones, protection and lock units.
        budget: the input budget, in tokens.
        watermark, target: in tokens, or None where neither the user nor the policy sets one.
        limit: what the policy is to meet: the budget, or its own limit below that.
        summarise: (bool[n]: the messages to stand for, at least one; most tokens; the summary
            that it carries on, or None) -> their summary. Remembered, so that a drag does not
            make it again.
        scores: rule -> float64[whole log], 0 to 1: what the user, the file or the rule says of
            each message.
        earlier: () -> the situations at the calls before this one, in order: for a policy whose
            buffer is carried on from call to call.
        remember: (key, make) -> what ``make()`` returned when that key was first asked for. The
            key holds everything that the value depends on beside the log and its counts.
    """

    log: Conversation
    counts: TokenCounts
    layout: Layout
    budget: int
    watermark: int | None
    target: int | None
    limit: int
    summarise: Callable[[Mask, int, Summary | None], Summary]
    scores: Callable[[Scoring], NDArray[np.float64]]
    earlier: Callable[[], Iterable[Situation]] = tuple
    remember: Callable[[Hashable, Callable[[], Any]], Any] = _make

    @property
    def length(self) -> int:
        """How many messages there are at the call."""
        return len(self.layout.held)

    @cached_property
    def conversation(self) -> Conversation:
        """The conversation up to the call. Cut out when it is first looked at."""
        return self.log.first(self.length)

    @property
    def total(self) -> int:
        """Tokens of the whole request before the policy acts."""
        return self.layout.total_tokens + self.counts.overhead

    @property
    def synthetic_exactness(self) -> Exactness:
        """Of a text that we write and count: a provider has never recorded it."""
        known = self.counts.exactness
        exact = bool(len(known)) and int(known.min()) == Exactness.EXACT
        return Exactness.EXACT if exact else Exactness.ESTIMATE


class Policy(Protocol):
    """A named rule that turns a situation into a decision. Stateless.

    Attributes:
        id, title: for the command line, for the picker.
        idea: heading under which the picker lists it.
        help: a paragraph: the idea, when it is right, when it is wrong.
        basis, emulates: whose rule it is; the product and version, or None for our own.
        settings: the dataclass of its settings, each with its default.
        uses_budget, uses_watermark, uses_target: what of the budget bar it looks at.
    """

    @property
    def id(self) -> str: ...
    @property
    def title(self) -> str: ...
    @property
    def idea(self) -> str: ...
    @property
    def help(self) -> str: ...
    @property
    def basis(self) -> Basis: ...
    @property
    def emulates(self) -> str | None: ...
    @property
    def settings(self) -> type[CommonSettings]: ...
    @property
    def uses_budget(self) -> bool: ...
    @property
    def uses_watermark(self) -> bool: ...
    @property
    def uses_target(self) -> bool: ...

    def decide(self, situation: Situation, options: Any) -> Decision:
        """Decide what happens to each message. ``options`` is an instance of ``settings``."""
        ...


@runtime_checkable
class Carried(Policy, Protocol):
    """A destructive policy: what it did at one call stays done at the next.

    At each call, in order, ``state = advance(state, situation, options)``, beginning with None,
    and ``decided(state, situation, options)`` is the decision at that call. Both are pure, a
    state is never changed, and it depends on nothing but the calls so far. So a replay keeps the
    state from call to call, and may keep some for a later start; ``decide`` runs through the
    earlier calls by itself (see ``carry``).
    """

    def advance(self, state: Any, situation: Situation, options: Any) -> Any:
        """The state after the policy has acted at this call; ``state`` is that after the call
        before, None at the first."""
        ...

    def decided(self, state: Any, situation: Situation, options: Any) -> Decision:
        """The decision that ``state``, as ``advance`` returned it for this call, stands for."""
        ...


def carry(policy: Carried, situation: Situation, options: Any) -> Decision:
    """The decision of a destructive policy at one call, carried on from the first."""
    state = None
    for earlier in situation.earlier():
        state = policy.advance(state, earlier, options)
    return policy.decided(policy.advance(state, situation, options), situation, options)


def at_most(mark: int | None, limit: int) -> int:
    """A watermark or target, or ``limit`` where that is lower or there is none; in tokens."""
    return limit if mark is None else min(mark, limit)


def keep_all(situation: Situation, why: str, notes: tuple[str, ...] = ()) -> Decision:
    """The decision that changes nothing; ``why`` is the reason for what is not protected."""
    return Decision(
        verdicts=np.zeros(situation.length, dtype=np.uint8),
        reason_of=situation.layout.held,
        reasons=(why, *HELD_REASONS[1:]),
        notes=notes,
    )


@dataclass(frozen=True, eq=False, slots=True)
class Case:
    """Messages with one verdict for one reason."""

    where: Mask
    reason: str
    verdict: Verdict = Verdict.EVICT


def by_cases(
    situation: Situation,
    kept_because: str,
    *cases: Case,
    inserted: tuple[Inserted, ...] = (),
    notes: tuple[str, ...] = (),
) -> Decision:
    """The decision that keeps all but ``cases``; of overlapping ones the last holds.

    Protected messages stay, whatever the masks say.
    """
    verdicts = np.zeros(situation.length, dtype=np.uint8)
    reason_of = situation.layout.held.copy()
    free = ~situation.layout.protected
    for number, case in enumerate(cases):
        where = case.where & free
        reason = len(HELD_REASONS) + number
        if number == 0:  # all zeros so far where it is free: adding is faster than a mask
            flags = where.view(np.uint8)
            verdicts += flags * np.uint8(case.verdict)
            reason_of += flags * np.uint8(reason)
        else:
            verdicts[where] = int(case.verdict)
            reason_of[where] = reason
    fired = bool(verdicts.any())
    reasons = (kept_because, *HELD_REASONS[1:], *(case.reason for case in cases))
    return Decision(verdicts, reason_of, reasons, inserted=inserted, notes=notes, fired=fired)
