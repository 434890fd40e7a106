"""Makes a replay of the decisions at each call.

Only what changed since the call before is looked at closely, so that a thousand calls over ten
thousand messages cost little more than the decisions themselves.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from stm_inspector.buffer.outcome import changed_tokens, left_out
from stm_inspector.buffer.plan import Decision, Verdict
from stm_inspector.buffer.planner import Planner
from stm_inspector.buffer.policies.base import Policy, Situation
from stm_inspector.buffer.replay import NEVER, Bools, Ints, Replay
from stm_inspector.buffer.same_prefix import shared
from stm_inspector.buffer.settings import Settings
from stm_inspector.tokens.counts import Exactness, TokenCounts


class Cancelled(Exception):
    """Nobody wants the replay any more."""


def replay(
    planner: Planner, settings: Settings, *, cancelled: Callable[[], bool] | None = None
) -> Replay:
    """The plan at every call, in order; ``settings.call`` is not looked at.

    Raises:
        SettingError: as ``Planner.plan``.
        Cancelled: ``cancelled``, asked before each call, says so.
    """
    recorder: Recorder | None = None
    for policy, situation, decision in planner.decisions(settings):
        if recorder is None:
            recorder = Recorder(policy, planner.calls, planner.counts)
        if cancelled is not None and cancelled():
            raise Cancelled
        recorder.add(situation, decision)
    assert recorder is not None, "a conversation has at least one call"
    return recorder.replay(situation)


_COLUMNS = (
    "messages",
    "before",
    "after",
    "kept",
    "evicted",
    "cleared",
    "truncated",
    "summarised",
    "inserted",
    "newly_summarised",
    "fired",
    "over_budget",
    "over_target",
    "same_messages",
    "same_tokens",
)


class Recorder:
    """Takes the decisions at each call in order, and makes a replay of them."""

    def __init__(self, policy: Policy, lengths: Ints, counts: TokenCounts) -> None:
        self._policy, self._lengths, self._counts = policy, lengths, counts
        n = len(counts.messages)
        self._rows: list[tuple[int, ...]] = []
        self._why: list[str] = []
        self._last: Decision | None = None
        self._gone: Bools = np.zeros(0, dtype=np.bool_)
        self._gone_tokens = 0
        self._summarised: Bools = np.zeros(n, dtype=np.bool_)
        self._first_lost = np.full(n, NEVER, dtype=np.int64)
        self._lost_because = np.full(n, NEVER, dtype=np.int64)
        self._reasons: dict[str, int] = {}
        self._exactness = int(counts.worst)
        self._sums = np.zeros(n + 1, dtype=np.int64)
        np.cumsum(counts.messages, out=self._sums[1:])

    def add(self, situation: Situation, decision: Decision) -> None:
        """Take the decision at the next call."""
        verdicts, call = decision.verdicts, len(self._rows)
        gone, numbers = _gone_of(verdicts)
        before = self._gone
        changed = (gone[: len(before)] != before).nonzero()[0]
        fresh = len(before) + gone[len(before) :].nonzero()[0]
        self._note_lost(call, decision, gone, changed, fresh)
        added = sum(item.tokens for item in decision.inserted)
        for item in decision.inserted:
            self._exactness = max(self._exactness, int(item.exactness))
        after = (
            situation.total
            - self._gone_tokens
            + added
            + changed_tokens(self._counts, decision, len(verdicts))
        )
        left = len(verdicts) - numbers[Verdict.EVICT] - numbers[Verdict.SUMMARISE]
        target = situation.target
        aims = target is not None and self._policy.uses_target and decision.fired
        self._rows.append((
            left + len(decision.inserted),
            situation.total,
            after,
            *numbers,
            added,
            self._newly_summarised(decision, numbers[Verdict.SUMMARISE]),
            decision.fired,
            max(0, after - situation.budget),
            max(0, after - target) if aims and target is not None else 0,
            *self._shared(decision, gone, changed),
        ))  # fmt: skip
        self._why.append(firing_reason(self._policy, situation, decision))
        self._last, self._gone = decision, gone

    def _shared(self, decision: Decision, gone: Bools, changed: Ints) -> tuple[int, int]:
        """What ``shared`` says; most calls only add to what the one before sent."""
        last = self._last
        if (
            last is not None
            and not len(changed)
            and decision.inserted == last.inserted
            and decision.truncated == last.truncated
            and decision.cleared == last.cleared
        ):
            messages, _, after, *_ = self._rows[-1]
            return messages, after - self._counts.overhead
        return shared(last, decision, gone, changed, self._counts, self._sums)

    def _note_lost(
        self, call: int, decision: Decision, gone: Bools, changed: Ints, fresh: Ints
    ) -> None:
        """Keep the tokens of what is gone up to date, and when and why each message left."""
        tokens = self._counts.messages
        left = fresh
        if len(changed):
            now_gone = gone[changed]
            left = np.concatenate([changed[now_gone], fresh])
            self._gone_tokens -= int(tokens[changed[~now_gone]].sum())
        if not len(left):
            return
        self._gone_tokens += int(tokens[left].sum())
        lost = left[self._first_lost[left] == NEVER]
        if not len(lost):
            return
        self._first_lost[lost] = call
        numbers = decision.reason_of[lost]
        for number in set(numbers.tolist()):
            reason = decision.reasons[number]
            code = self._reasons.setdefault(reason, len(self._reasons))
            self._lost_because[lost[numbers == number]] = code

    def _newly_summarised(self, decision: Decision, number: int) -> int:
        if not number:
            return 0
        now = decision.verdicts == Verdict.SUMMARISE
        new = now & ~self._summarised[: len(now)]
        self._summarised[: len(now)] |= now
        return int(self._counts.messages[: len(now)][new].sum())

    def replay(self, situation: Situation) -> Replay:
        """The replay of all decisions taken so far; ``situation`` is any of theirs."""
        table = np.asarray(self._rows, dtype=np.int64).T.copy()
        columns = dict(zip(_COLUMNS, table, strict=True))
        return Replay(
            policy=self._policy.id,
            budget=situation.budget,
            watermark=situation.watermark,
            target=situation.target,
            lengths=self._lengths,
            **{**columns, "fired": columns["fired"].astype(np.bool_)},
            why=tuple(self._why),
            first_lost=self._first_lost,
            lost_because=self._lost_because,
            reasons=tuple(self._reasons),
            exactness=Exactness(self._exactness),
        )


def _gone_of(verdicts: NDArray[np.uint8]) -> tuple[Bools, tuple[int, ...]]:
    """bool[n], what is not sent; and the number of messages of each ``Verdict``."""
    worst = int(verdicts.max(initial=0))
    if worst <= Verdict.EVICT:
        evicted = int(np.count_nonzero(verdicts))
        return verdicts.view(np.bool_), (len(verdicts) - evicted, evicted, 0, 0, 0)
    numbers = tuple(np.bincount(verdicts, minlength=len(Verdict)).tolist())
    return left_out(verdicts), numbers


def firing_reason(policy: Policy, situation: Situation, decision: Decision) -> str:
    """In one sentence why the policy acted; "" where it did not."""
    if not decision.fired:
        return ""
    total, watermark = situation.total, situation.watermark
    if policy.uses_watermark and watermark is not None and total > watermark:
        return f"{total - watermark:,} tokens over the watermark of {watermark:,}."
    if policy.uses_budget and total > situation.budget:
        return f"{total - situation.budget:,} tokens over the budget of {situation.budget:,}."
    oldest = int((decision.verdicts != 0).argmax()) if len(decision.verdicts) else 0
    if oldest >= len(decision.verdicts) or decision.verdicts[oldest] == Verdict.KEEP:
        return f"{policy.title} acted."
    return f"{decision.reasons[decision.reason_of[oldest]]}."
