"""The planner: calls, views of earlier calls, reasons, surviving budgets, refusals."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs

from stm_inspector.buffer.budget import Budget
from stm_inspector.buffer.calls import calls_of
from stm_inspector.buffer.edits import edit_of
from stm_inspector.buffer.plan import Decision, Inserted, Replacement, Verdict
from stm_inspector.buffer.planner import Planner
from stm_inspector.buffer.settings import SettingError, Settings
from stm_inspector.conversation.model import Message, Role
from stm_inspector.tokens.counts import Exactness
from tests.talk import (
    assistant,
    call,
    conversations,
    counted,
    plain,
    result,
    system,
    talk,
    text,
    tool,
    user,
)


def planner_of(*messages: Message, tokens: list[int] | None = None) -> Planner:
    conversation = talk(*messages)
    return Planner(conversation, counted(conversation, tokens))


RUN = (
    system(),
    user("task"),
    assistant(call("1"), call("2")),
    tool(result("1")),
    tool(result("2")),
    assistant("found"),
    user("more"),
    assistant("done"),
)


# Calls.


def test_a_call_stands_before_each_response_and_after_the_log() -> None:
    assert calls_of(talk(*RUN)).tolist() == [2, 5, 7, 8]


def test_pieces_of_one_response_are_one_call() -> None:
    pieces = [
        structs.replace(assistant("a"), id="r1"),
        structs.replace(assistant("b"), id="r1"),
        structs.replace(assistant("c"), lock="k"),
        structs.replace(assistant("d"), lock="k"),
    ]
    assert calls_of(talk(user("go"), *pieces)).tolist() == [1, 3, 5]
    assert calls_of(talk(user("go"), assistant("a"), assistant("b"))).tolist() == [1, 2, 3]


def test_a_greeting_and_injected_words_are_no_call() -> None:
    injected = Message(Role.ASSISTANT, (text("Got it."),), injected=True)
    assert calls_of(talk(assistant("Hi!"), user("go"), injected)).tolist() == [3]
    assert calls_of(talk()).tolist() == [0]


def test_a_plan_for_an_earlier_call_sees_nothing_of_what_came_later() -> None:
    planner = planner_of(*RUN)
    plan = planner.plan(Settings(call=1, budget=Budget(fixed=5)))
    assert (plan.call, plan.calls, plan.length) == (1, 4, 5)
    assert plan.totals.before.messages == 5
    assert [len(array) for array in (plan.zones, plan.tokens, plan.pinned)] == [5, 5, 5]
    assert edit_of(talk(*RUN), plan).kept == [0, 1, 2, 3, 4]
    # At that call the first turn is the current one; at the last it is not.
    assert plan.protected.all()
    assert not planner.plan(Settings()).protected.all()


@given(conversations, st.sampled_from(["token-budget", "head-tail", "summary"]))
def test_the_plan_at_a_call_is_the_plan_of_the_log_up_to_it(conversation: Any, policy: str) -> None:
    planner = Planner(conversation, counted(conversation))
    settings = Settings(policy=policy, budget=Budget(fixed=6))
    for number, length in enumerate(planner.calls.tolist()):
        begun = talk(*conversation.messages[:length])
        alone = Planner(begun, counted(begun)).plan(settings)
        plan = planner.plan(dataclasses.replace(settings, call=number))
        assert plan.decision.verdicts.tolist() == alone.decision.verdicts.tolist()
        assert plan.zones.tolist() == alone.zones.tolist()
        assert plan.totals == alone.totals
        assert plan.problems == alone.problems


# Reasons.


def test_reasons_name_the_partners_and_their_tokens() -> None:
    planner = planner_of(*RUN, tokens=[10, 10, 100, 1_000, 9_733, 10, 10, 10])
    plan = planner.plan(Settings(budget=Budget(fixed=1_000)))
    assert planner.reason(plan, 3) == (
        "The first, going back, that no longer fits into 1,000 tokens; "
        "it is locked to 2 and 4, so 2, 3 and 4 go together (10,833 tokens)."
    )
    assert planner.reason(plan, 0) == "System prompt: always kept."
    assert planner.reason(plan, 1) == "The task: always kept."
    assert planner.reason(plan, 5) == "Among the newest that fit into 1,000 tokens."
    assert planner.reason(plan, 6) == "Current turn: always kept."


def test_reasons_of_pins_and_their_groups() -> None:
    planner = planner_of(*RUN)
    plan = planner.plan(Settings(budget=Budget(fixed=4), pins=frozenset({3})))
    assert plan.pinned.tolist() == [False, False, True, True, True, False, False, False]
    assert planner.reason(plan, 3).startswith("Pinned: always kept; it is locked to 2 and 4, so")


def test_without_locks_the_reason_says_that_the_group_is_split() -> None:
    planner = planner_of(*RUN)
    options = {"locks": False, "max_messages": 4}
    plan = planner.plan(Settings(policy="sliding-window", options=options))
    assert "the group is split here" in planner.reason(plan, 4)


def test_a_long_group_names_its_first_members() -> None:
    ids = [str(i) for i in range(9)]
    planner = planner_of(user("go"), assistant(*map(call, ids)), *[tool(result(i)) for i in ids])
    assert "locked to 2, 3, 4 and 6 more, so" in planner.reason(planner.plan(Settings()), 1)


def test_a_message_the_model_does_not_see_still_counts_and_says_so() -> None:
    old = structs.replace(user("old"), unused="It stands before the compaction block.")
    planner = planner_of(old, assistant("b"), user("c"))
    plan = planner.plan(Settings())
    assert plan.totals.before.tokens == 3
    assert planner.reason(plan, 0) == (
        "The task: always kept; it counts, but the model does not see it: "
        "It stands before the compaction block."
    )


def test_the_tool_definitions_have_a_reason_of_their_own() -> None:
    tools = Message(Role.SYSTEM, (), source_field="tools")
    planner = planner_of(tools, user("go"))
    assert planner.reason(planner.plan(Settings()), 0) == "Tool definitions: always kept."


# Which budget would have kept it.


def test_survives_from_is_the_smallest_budget_that_keeps_a_message() -> None:
    planner = Planner(plain(8), counted(plain(8), [10] * 8))
    settings = Settings(budget=Budget(fixed=40))
    # Task 10 and current turn 20 are held; message 3 needs 3, 4 and 5 beside them.
    assert planner.survives_from(settings, 3) == 60
    assert planner.survives_from(settings, 0) == 0
    assert planner.survives_from(settings, 7) == 0


def test_survives_from_scales_with_a_trigger_that_is_a_fraction() -> None:
    planner = Planner(plain(12), counted(plain(12), [10] * 12))
    settings = Settings(policy="summary", options={"trigger": 0.5})
    assert planner.survives_from(settings, 2) == 240


def test_no_budget_keeps_what_falls_out_of_a_window_or_came_later() -> None:
    planner = Planner(plain(8), counted(plain(8)))
    window = Settings(policy="sliding-window", options={"max_messages": 2})
    assert planner.survives_from(window, 1) is None
    assert planner.survives_from(window, 7) == 0
    assert planner.survives_from(Settings(call=0), 5) is None


@given(conversations.filter(lambda talk: len(talk.messages) > 0), st.data())
def test_survives_from_is_true_at_both_ends(conversation: Any, data: st.DataObject) -> None:
    planner = Planner(conversation, counted(conversation, overhead=2))
    policy = data.draw(st.sampled_from(["token-budget", "summary"]))
    index = data.draw(st.integers(0, len(conversation.messages) - 1))
    settings = Settings(policy=policy)
    budget = planner.survives_from(settings, index)
    assert budget is not None
    for fixed, stays in ((budget, True), (budget - 1, False)):
        if fixed >= 0:
            plan = planner.plan(dataclasses.replace(settings, budget=Budget(fixed=fixed)))
            verdict = plan.decision.verdicts[index]
            assert (verdict not in (Verdict.EVICT, Verdict.SUMMARISE)) == stays


# Refusals.


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"policy": "nope"}, "there is no policy 'nope'"),
        ({"options": {"nope": 1}}, "there is no setting 'nope'"),
        ({"options": {"protect": "sytem"}}, "protect wants zones"),
        ({"policy": "head-tail", "options": {"max_messages": 0}}, "at least 1"),
        ({"call": 9}, "there is no call 9; the calls are 0 to 4"),
        ({"call": -1}, "there is no call -1"),
        ({"pins": frozenset({8})}, "there is no message 8 to pin; there are 8"),
        ({"marks": {-1: True}}, "there is no message -1 to mark"),
        ({"budget": Budget(fixed=-1)}, "the budget is at least 0"),
        ({"tail_turns": -1}, "the tail has at least 0 turns"),
        ({"watermark": float("nan")}, "the watermark is a fraction"),
        ({"target": -0.5}, "the target is a fraction"),
        ({"policy": "summary", "options": {"trigger": "inf"}}, "the watermark is a fraction"),
    ],
)
def test_settings_that_make_no_sense_are_refused(settings: dict[str, Any], words: str) -> None:
    with pytest.raises(SettingError, match=words):
        Planner(plain(8), counted(plain(8))).plan(Settings(**settings))


def test_counts_of_another_conversation_are_refused() -> None:
    with pytest.raises(ValueError, match="another conversation"):
        Planner(plain(3), counted(plain(4)))


# Seams for policies to come: cleared results, notes, insertions of any kind.


def test_cleared_results_and_insertions_reach_the_edit() -> None:
    planner = planner_of(*RUN)
    plan = planner.plan(Settings())
    verdicts = plan.decision.verdicts.copy()
    verdicts[3] = Verdict.CLEAR
    decision = Decision(
        verdicts=verdicts,
        reason_of=plan.decision.reason_of,
        reasons=plan.decision.reasons,
        cleared={(3, 0): Replacement("[cleared]", 1)},
        inserted=(Inserted(5, "user", "note", "A note.", 2, Exactness.EXACT),),
    )
    edit = edit_of(talk(*RUN), dataclasses.replace(plan, decision=decision))
    assert edit.results == {(3, 0): "[cleared]"}
    assert [(item.before, item.role, item.text) for item in edit.inserts] == [
        (5, "user", "A note.")
    ]
    assert list(edit.kept) == list(range(8))


def test_a_plan_of_a_longer_conversation_has_no_edit_of_a_shorter_one() -> None:
    plan = planner_of(*RUN).plan(Settings())
    with pytest.raises(ValueError, match="another conversation"):
        edit_of(talk(*RUN[:3]), plan)


def test_a_worse_count_of_one_message_is_the_exactness_of_the_total() -> None:
    conversation = plain(3)
    counts = counted(conversation)
    exactness = np.array([0, Exactness.ESTIMATE, 0], dtype=np.uint8)
    planner = Planner(conversation, dataclasses.replace(counts, exactness=exactness))
    assert planner.plan(Settings()).totals.exactness is Exactness.ESTIMATE
