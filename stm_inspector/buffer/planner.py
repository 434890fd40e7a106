"""Makes plans over one conversation, fast enough for every move of a slider."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterator, Mapping
from dataclasses import replace
from threading import Lock
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from stm_inspector.buffer.budget import tokens_at
from stm_inspector.buffer.calls import calls_of
from stm_inspector.buffer.layout import Layouts, key_of
from stm_inspector.buffer.outcome import left_out, misses, tokens_after, totals_of
from stm_inspector.buffer.plan import Decision, Plan
from stm_inspector.buffer.policies import get_policy
from stm_inspector.buffer.policies.base import (
    Carried,
    CommonSettings,
    LimitSettings,
    Policy,
    Situation,
    TriggerSettings,
)
from stm_inspector.buffer.problems import Checker
from stm_inspector.buffer.reasons import reason_of
from stm_inspector.buffer.retrieved import recognise
from stm_inspector.buffer.scores import Scoring, scores_of
from stm_inspector.buffer.settings import SettingError, Settings, build
from stm_inspector.buffer.zones import Mask
from stm_inspector.conversation.model import Conversation
from stm_inspector.summaries.extractive import Extractive
from stm_inspector.summaries.summary import Summariser, Summary
from stm_inspector.tokens.counts import TokenCounts

UNLIMITED = 10**12
"""An input budget, in tokens, that no conversation exceeds."""

T = TypeVar("T")


class _Cache:
    """The few most recently used values by key. A drag and a replay use it at the same time."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._values: OrderedDict[Hashable, Any] = OrderedDict()
        self._lock = Lock()

    def get(self, key: Hashable, make: Callable[[], T]) -> T:
        with self._lock:
            if key in self._values:
                self._values.move_to_end(key)
                known: T = self._values[key]
                return known
        made = make()
        with self._lock:
            self._values[key] = made
            if len(self._values) > self._size:
                self._values.popitem(last=False)
        return made


class Planner:
    """Plans over ``conversation`` under ``counts``.

    What does not depend on the budget is computed once per pins, marks, protection, locks, tail
    and call, and kept for the last few of them.
    """

    def __init__(
        self,
        conversation: Conversation,
        counts: TokenCounts,
        summariser: Summariser = Extractive(),
    ) -> None:
        if len(counts.messages) != len(conversation.messages):
            raise ValueError("the token counts are of another conversation")
        self.calls = calls_of(conversation)
        self._conversation = conversation
        self.counts = counts
        self._summariser = summariser
        self._checker = Checker(conversation)
        self._retrieved = recognise(conversation)
        self._built = _Cache(64)
        self._views = _Cache(8)
        self._layouts = _Cache(8)
        self._laid_out = _Cache(16)
        self._summaries = _Cache(1024)
        self._remembered = _Cache(1024)
        self._decided = _Cache(16)

    def plan(self, settings: Settings) -> Plan:
        """Plan one call.

        Raises:
            SettingError: an unknown policy, setting or call, or a value that makes no sense.
        """
        policy, options, situation = self._prepare(settings)
        decision = self._decide(policy, options, situation, settings)
        layout = situation.layout
        after = tokens_after(situation.counts, decision)
        totals = totals_of(situation, decision, after)
        missed = misses(policy, situation, decision, after, totals)
        if missed:
            decision = replace(decision, notes=decision.notes + missed)
        return Plan(
            policy=policy.id,
            options=options,
            decision=decision,
            zones=layout.zones.shown,
            tokens=situation.counts.messages,
            tokens_after=after,
            exactness=situation.counts.exactness,
            pinned=layout.pinned,
            protected=layout.protected,
            budget=settings.budget,
            watermark=situation.watermark,
            target=situation.target,
            totals=totals,
            problems=self._checker.check(decision, totals.over_budget, layout.zones.anchor),
            call=self._call(settings),
            calls=len(self.calls),
        )

    def decisions(self, settings: Settings) -> Iterator[tuple[Policy, Situation, Decision]]:
        """The decision at every call, in order; ``settings.call`` is not looked at.

        Raises:
            SettingError: as ``plan``.
        """
        policy, options, last = self._prepare(replace(settings, call=None))
        layouts = self._layouts_of(settings, options)
        situations = self._at_calls(last, layouts, before=last.length + 1)
        if not isinstance(policy, Carried):
            for situation in situations:
                yield policy, situation, policy.decide(situation, options)
            return
        state = None
        for situation in situations:
            state = policy.advance(state, situation, options)
            yield policy, situation, policy.decided(state, situation, options)

    def reason(self, plan: Plan, index: int) -> str:
        """Why message ``index`` stays or goes: one sentence, with its lock partners."""
        begun = self._views.get(plan.call, lambda: self._conversation.first(plan.length))
        return reason_of(begun, plan, index)

    def survives_from(self, settings: Settings, index: int) -> int | None:
        """The smallest input budget at which message ``index`` is in the buffer.

        Found by bisection: the message stays at that budget and goes at one token less. None if
        no budget keeps it, or if it came after the call that is planned for.
        """
        if index >= self.calls[self._call(settings)] or not self._stays(settings, index, UNLIMITED):
            return None
        if self._stays(settings, index, 0):
            return 0
        goes, stays = 0, UNLIMITED
        likely = int(self.counts.messages.sum()) + self.counts.overhead
        if self._stays(settings, index, likely):
            stays = likely
        while stays - goes > 1:
            middle = (goes + stays) // 2
            if self._stays(settings, index, middle):
                stays = middle
            else:
                goes = middle
        return stays

    def _stays(self, settings: Settings, index: int, budget: int) -> bool:
        tried = replace(settings, budget=replace(settings.budget, fixed=budget))
        return bool(self.sent(tried)[0][index])

    def sent(self, settings: Settings) -> tuple[Mask, int]:
        """What is sent at the call that is planned for, bool[n], and its tokens.

        A plan without what is said of it: reasons, zones, problems.

        Raises:
            SettingError: as ``plan``.
        """
        policy, options, situation = self._prepare(settings)
        decision = policy.decide(situation, options)
        after = tokens_after(situation.counts, decision)
        inserted = sum(item.tokens for item in decision.inserted)
        return ~left_out(decision.verdicts), int(after.sum()) + situation.counts.overhead + inserted

    def _decide(
        self, policy: Policy, options: CommonSettings, situation: Situation, settings: Settings
    ) -> Decision:
        """The decision; that of a policy which goes through all earlier calls is remembered."""
        if not isinstance(policy, Carried):
            return policy.decide(situation, options)
        looked_at = (situation.limit, situation.target) if policy.uses_budget else ()
        scores = tuple(sorted(settings.scores.items()))
        key = (policy.id, options, situation.layout, situation.watermark, looked_at, scores)
        return self._decided.get(key, lambda: policy.decide(situation, options))

    def _prepare(self, settings: Settings) -> tuple[Policy, CommonSettings, Situation]:
        self._check(settings)
        policy = get_policy(settings.policy)
        options = self._options(policy, settings)
        length = int(self.calls[self._call(settings)])
        layouts = self._layouts_of(settings, options)
        budget = settings.budget.input
        limit = budget
        if isinstance(options, LimitSettings) and options.max_tokens:
            limit = min(budget, options.max_tokens)
        mark = options.trigger if isinstance(options, TriggerSettings) else settings.watermark
        situation = Situation(
            log=self._conversation,
            counts=self.counts.first(length),
            layout=self._laid_out.get((layouts, length), lambda: layouts.at(length)),
            budget=budget,
            limit=limit,
            watermark=_tokens("watermark", mark, limit),
            target=_tokens("target", settings.target, limit),
            summarise=self._summarise,
            scores=self._scores(settings.scores),
            remember=self._remembered.get,
        )
        situation = replace(
            situation,
            earlier=lambda: self._at_calls(situation, layouts, before=length),
        )
        return policy, options, situation

    def _at_calls(self, situation: Situation, layouts: Layouts, before: int) -> Iterator[Situation]:
        """The same situation at each call at which there were fewer messages."""
        for length in self.calls[: int(self.calls.searchsorted(before))].tolist():
            yield replace(
                situation,
                counts=self.counts.first(length),
                layout=layouts.at(length),
                earlier=tuple,
            )

    def _scores(self, own: Mapping[int, float]) -> Callable[[Scoring], NDArray[np.float64]]:
        key = tuple(sorted(own.items()))
        return lambda scoring: self._remembered.get(
            ("scores", scoring, key), lambda: scores_of(self._conversation, scoring, own)
        )

    def _options(self, policy: Policy, settings: Settings) -> CommonSettings:
        """The policy's settings; the watermark on the budget bar overrides its own trigger."""
        key = (policy.id, repr(sorted(settings.options.items())))
        options = self._built.get(key, lambda: build(policy.settings, settings.options))
        if settings.watermark is not None and isinstance(options, TriggerSettings):
            return replace(options, trigger=settings.watermark)
        return options

    def _check(self, settings: Settings) -> None:
        n = len(self._conversation.messages)
        for what, indices in (("pin", settings.pins), ("mark", settings.marks)):
            for index in indices:
                if not 0 <= index < n:
                    raise SettingError(f"there is no message {index} to {what}; there are {n:,}")
        for index, score in settings.scores.items():
            if not 0 <= index < n:
                raise SettingError(f"there is no message {index} to score; there are {n:,}")
            if not 0 <= score <= 1:
                raise SettingError(f"a score is 0 to 1, not {score}")
        if settings.budget.input < 0:
            raise SettingError(f"the budget is at least 0 tokens, not {settings.budget.input:,}")
        if settings.tail_turns < 0:
            raise SettingError(f"the tail has at least 0 turns, not {settings.tail_turns}")

    def _call(self, settings: Settings) -> int:
        last = len(self.calls) - 1
        if settings.call is None:
            return last
        if not 0 <= settings.call <= last:
            raise SettingError(f"there is no call {settings.call}; the calls are 0 to {last}")
        return settings.call

    def _layouts_of(self, settings: Settings, options: CommonSettings) -> Layouts:
        key = key_of(
            settings.pins,
            settings.marks,
            options.protect,
            locks=options.locks,
            tail_turns=settings.tail_turns,
            sticky=options.sticky,
        )
        return self._layouts.get(
            key, lambda: Layouts(self._conversation, self.counts, self._retrieved, key)
        )

    def _summarise(self, where: Mask, max_tokens: int, previous: Summary | None) -> Summary:
        return self._summaries.get(
            (np.packbits(where).tobytes().rstrip(b"\0"), max_tokens, previous and previous.text),
            lambda: self._summariser.summarise(
                self._conversation,
                np.flatnonzero(where).tolist(),
                max_tokens=max_tokens,
                count=self.counts.of_message,
                previous=previous,
            ),
        )


def _tokens(what: str, mark: float | None, budget: int) -> int | None:
    """A watermark or target in tokens, or None where it is not set."""
    if mark is None:
        return None
    if not 0 <= mark < UNLIMITED:
        raise SettingError(f"the {what} is a fraction of the budget or tokens, not {mark}")
    return tokens_at(mark, budget)
