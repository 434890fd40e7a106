"""The replay against the plan of each call, and its numbers against obvious ones."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest
from hypothesis import given

from stm_inspector.buffer.budget import Budget
from stm_inspector.buffer.plan import Plan
from stm_inspector.buffer.planner import Planner
from stm_inspector.buffer.recorder import Cancelled, replay
from stm_inspector.buffer.replay import NEVER, Replay
from stm_inspector.buffer.settings import Settings
from stm_inspector.buffer.survival import survival
from stm_inspector.conversation.model import Conversation
from stm_inspector.tokens.counts import TokenCounts
from tests.buffer.test_policies_always import cases
from tests.talk import GONE, assistant, counted, plain, system, talk, user

Case = tuple[Conversation, TokenCounts, Settings]


def plans_of(planner: Planner, settings: Settings) -> list[Plan]:
    calls = range(len(planner.calls))
    return [planner.plan(dataclasses.replace(settings, call=call)) for call in calls]


def sent_by(plan: Plan) -> list[tuple[object, int]]:
    """What is sent, piece by piece: what tells it apart, and its tokens."""
    decision = plan.decision
    sent: list[tuple[object, int]] = []
    inserted = list(decision.inserted)
    for index in range(plan.length + 1):
        while inserted and inserted[0].before == index:
            item = inserted.pop(0)
            sent.append(((item.role, item.text, item.before), item.tokens))
        if index < plan.length and decision.verdicts[index] not in GONE:
            cleared = {key: new for key, new in decision.cleared.items() if key[0] == index}
            content = (index, decision.truncated.get(index), tuple(cleared.items()))
            sent.append((content, int(plan.tokens_after[index])))
    return sent


def same_start(one: Plan | None, other: Plan) -> tuple[int, int]:
    if one is None:
        return 0, 0
    number = tokens = 0
    for before, now in zip(sent_by(one), sent_by(other), strict=False):
        if before != now:
            break
        number, tokens = number + 1, tokens + now[1]
    return number, tokens


@given(cases())
def test_the_replay_is_the_plan_of_each_call(case: Case) -> None:
    conversation, counts, settings = case
    planner = Planner(conversation, counts)
    found = replay(planner, settings)
    plans = plans_of(planner, settings)
    assert found.lengths.tolist() == [plan.length for plan in plans]
    for name in ("kept", "evicted", "cleared", "truncated", "summarised", "over_budget"):
        assert getattr(found, name).tolist() == [getattr(plan.totals, name) for plan in plans], name
    assert found.before.tolist() == [plan.totals.before.tokens for plan in plans]
    assert found.after.tolist() == [plan.totals.after.tokens for plan in plans]
    assert found.messages.tolist() == [plan.totals.after.messages for plan in plans]
    assert found.fired.tolist() == [plan.decision.fired for plan in plans]
    assert [bool(why) for why in found.why] == found.fired.tolist()
    starts = [same_start(*pair) for pair in zip([None, *plans], plans, strict=False)]
    assert list(zip(found.same_messages, found.same_tokens, strict=True)) == starts


@given(cases())
def test_what_is_lost_first_and_why(case: Case) -> None:
    conversation, counts, settings = case
    planner = Planner(conversation, counts)
    found = replay(planner, settings)
    plans = plans_of(planner, settings)
    for index in range(len(conversation.messages)):
        gone = [
            plan for plan in plans if index < plan.length and plan.decision.verdicts[index] in GONE
        ]
        if not gone:
            assert found.first_lost[index] == found.lost_because[index] == NEVER
            continue
        assert found.first_lost[index] == gone[0].call
        reason = gone[0].decision.reasons[gone[0].decision.reason_of[index]]
        assert found.reasons[found.lost_because[index]] == reason


@given(cases())
def test_a_message_survives_from_a_budget_and_goes_below_it(case: Case) -> None:
    conversation, counts, settings = case
    planner = Planner(conversation, counts)
    for index, budget in enumerate(survival(planner, settings).tolist()):
        alone = planner.survives_from(settings, index)
        assert budget == (NEVER if alone is None else alone)


RUN = talk(
    system(), user("task"), *(word for i in range(4) for word in (assistant(f"{i}"), user(f"{i}")))
)


def run(budget: int, **settings: Any) -> Replay:
    planner = Planner(RUN, counted(RUN, [10] * 10))
    return replay(planner, Settings(budget=Budget(fixed=budget), **settings))


def test_totals_of_a_replay() -> None:
    found = run(50)
    assert found.after.tolist() == [20, 40, 50, 50, 50]
    totals = found.totals()
    assert (totals.peak, totals.mean, totals.utilisation) == (50, 42.0, 0.84)
    assert (totals.alerts, totals.missed, totals.first_eviction) == (3, 0, 2)
    assert totals.firings == 3
    assert totals.summarised_per_firing is None
    assert found.why[:3] == ("", "", "10 tokens over the budget of 50.")
    # System and task stay; of the 40 tokens at call 1 all stand at the head of call 2 but 10.
    assert found.same_tokens.tolist() == [0, 20, 20, 20, 20]


def test_only_what_is_new_counts_as_summarised() -> None:
    found = run(100, policy="summary", options={"trigger": 50, "keep_recent": 2})
    assert found.summarised.tolist() == [0, 0, 2, 4, 6]
    assert found.newly_summarised.tolist() == [0, 0, 20, 20, 20]
    assert found.totals().summarised_per_firing == 20
    assert found.inserted.tolist() == [0, 0, 1, 1, 1]
    assert found.why[2] == "10 tokens over the watermark of 50."


def test_a_missed_budget_is_said_call_by_call() -> None:
    found = run(15)
    assert found.over_budget.tolist()[:2] == [5, 6]  # the task is cut to one line
    assert found.totals().missed == 5
    assert run(0).totals().utilisation is None


def test_a_replay_can_be_given_up() -> None:
    asked = []

    def cancelled() -> bool:
        asked.append(1)
        return len(asked) == 3

    planner = Planner(RUN, counted(RUN))
    with pytest.raises(Cancelled):
        replay(planner, Settings(), cancelled=cancelled)
    assert len(asked) == 3
    with pytest.raises(Cancelled):
        survival(planner, Settings(), cancelled=lambda: True)


def test_an_empty_conversation_has_one_call() -> None:
    empty = talk()
    found = replay(Planner(empty, counted(empty)), Settings())
    assert (len(found), found.after.tolist(), found.totals().peak) == (1, [0], 0)
    assert survival(Planner(empty, counted(empty)), Settings()).tolist() == []


def test_survival_of_a_window_is_none_or_all() -> None:
    log = plain(6)
    planner = Planner(log, counted(log))
    settings = Settings(policy="sliding-window", options={"max_messages": 2})
    assert survival(planner, settings).tolist() == [NEVER] * 4 + [0, 0]
    assert np.all(replay(planner, settings).first_lost[:2] != NEVER)
