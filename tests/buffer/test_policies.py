"""The policies by example: the fixed points of the specification, edges, misses, the registry."""

from __future__ import annotations

from typing import Any

import pytest

from stm_inspector.buffer.budget import Budget
from stm_inspector.buffer.plan import Plan, Verdict
from stm_inspector.buffer.planner import Planner
from stm_inspector.buffer.policies import all_policies, get_policy
from stm_inspector.buffer.settings import SettingError, Settings, describe
from stm_inspector.conversation.model import Conversation
from stm_inspector.tokens.counts import TokenCounts
from tests.talk import (
    assistant,
    call,
    counted,
    having,
    kept,
    plain,
    result,
    system,
    talk,
    tool,
    user,
    words,
)

NAIVE = {"protect": "", "locks": "false"}


def planned(conversation: Conversation, counts: TokenCounts | None = None, **settings: Any) -> Plan:
    planner = Planner(conversation, counted(conversation) if counts is None else counts)
    if "fixed" in settings:
        settings["budget"] = Budget(fixed=settings.pop("fixed"))
    return planner.plan(Settings(**settings))


# Fixed points of the specification.


def test_the_naive_window_of_three_keeps_the_newest_three() -> None:
    plan = planned(plain(5), policy="sliding-window", options={**NAIVE, "max_messages": "3"})
    assert kept(plan) == [2, 3, 4]
    assert having(plan, Verdict.EVICT) == [0, 1]


def test_one_summary_stands_for_the_first_five_of_eight() -> None:
    plan = planned(
        plain(8),
        policy="summary",
        options={"protect": "system,current", "keep_recent": 3, "trigger": 0},
    )
    (inserted,) = plan.decision.inserted
    assert inserted.stands_for == (0, 1, 2, 3, 4)
    assert (inserted.before, inserted.role, inserted.tokens) == (0, "user", 1)
    assert kept(plan) == [5, 6, 7]
    assert plan.totals.summarised == 5
    assert plan.totals.after.messages == 4
    assert plan.totals.after.tokens == 4


def test_full_keeps_everything_and_says_by_how_much_the_budget_is_missed() -> None:
    plan = planned(plain(8), policy="full", fixed=5)
    assert kept(plan) == list(range(8))
    assert plan.totals.over_budget == 3
    assert not plan.decision.fired
    assert "missed by 3" in plan.decision.notes[-1]
    assert "does not look at the budget" in plan.decision.notes[-1]


# Windows.


def agent_run() -> Conversation:
    return talk(
        system(),
        user("task"),
        assistant(call("1"), call("2")),
        tool(result("1")),
        tool(result("2")),
        assistant("found it"),
        user("now the other"),
        assistant("done"),
    )


def test_a_sliding_window_forgets_the_task_and_head_tail_does_not() -> None:
    options = {"max_messages": 3}
    assert kept(planned(agent_run(), policy="sliding-window", options=options)) == [0, 5, 6, 7]
    assert kept(planned(agent_run(), policy="head-tail", options=options)) == [0, 1, 5, 6, 7]


def test_a_window_edge_inside_a_lock_group_drops_the_whole_group() -> None:
    plan = planned(agent_run(), policy="sliding-window", options={"max_messages": 4})
    assert kept(plan) == [0, 5, 6, 7]
    planner = Planner(agent_run(), counted(agent_run()))
    assert "edge" in planner.reason(plan, 4)


def test_without_locks_the_naive_window_leaves_an_orphan_and_the_plan_says_so() -> None:
    plan = planned(agent_run(), policy="sliding-window", options={**NAIVE, "max_messages": 4})
    assert kept(plan) == [4, 5, 6, 7]
    assert [problem.index for problem in plan.problems if problem.rule == "OC1"] == [4]


def test_the_current_turn_stays_beyond_the_window() -> None:
    conversation = talk(user("a"), assistant("b"), user("c"), *[assistant("d")] * 5)
    plan = planned(conversation, policy="sliding-window", options={"max_messages": 2})
    assert kept(plan) == [2, 3, 4, 5, 6, 7]


# Token budget.


def test_the_tail_stops_at_the_first_group_that_does_not_fit() -> None:
    conversation = plain(8)
    tokens = [10, 10, 10, 10, 50, 10, 10, 10]
    plan = planned(conversation, counted(conversation, tokens), fixed=45)
    # Task 10, current turn 20; of the rest 5 fits, 4 does not, and 3 would but stands behind it.
    assert kept(plan) == [0, 5, 6, 7]
    assert plan.totals.after.tokens == 40


def test_everything_stays_at_exactly_its_size() -> None:
    conversation = plain(6)
    counts = counted(conversation, overhead=3)
    assert planned(conversation, counts, fixed=9).totals.evicted == 0
    assert planned(conversation, counts, fixed=8).totals.evicted == 1


def long_task() -> tuple[Conversation, TokenCounts]:
    task = "Fix  the\nparser " + "and its tests " * 100
    conversation = talk(user(task), assistant("yes"), assistant("no"), user("go on"))
    counts = counted(conversation, [words(task), 10, 10, 10], of_message=words)
    return conversation, counts


def test_a_task_that_does_not_fit_becomes_one_line_and_the_tail_grows() -> None:
    conversation, counts = long_task()
    plan = planned(conversation, counts, fixed=100)
    assert having(plan, Verdict.TRUNCATE) == [0]
    line = plan.decision.truncated[0].text
    assert line.startswith("[original task: Fix the parser and its tests and")
    assert line.endswith("…]")
    assert len(line) == len("[original task: …]") + 200
    assert kept(plan) == [0, 1, 2, 3]
    assert plan.tokens_after.tolist() == [words(line), 10, 10, 10]
    assert plan.totals.over_budget == 0


def test_a_task_in_the_current_turn_is_never_cut() -> None:
    conversation = talk(user("Fix " + "it " * 300), assistant("yes"))
    plan = planned(conversation, counted(conversation, [301, 10], of_message=words), fixed=50)
    assert kept(plan) == [0, 1]
    assert plan.decision.truncated == {}
    assert plan.totals.over_budget == 261


def test_a_task_is_not_cut_for_a_target_within_the_budget() -> None:
    conversation, counts = long_task()
    before = int(counts.messages.sum())
    plan = planned(conversation, counts, fixed=before - 1, target=20)
    assert plan.decision.truncated == {}
    assert kept(plan) == [0, 3]
    assert plan.totals.over_budget == 0


def test_a_pinned_task_is_never_cut() -> None:
    conversation, counts = long_task()
    plan = planned(conversation, counts, fixed=100, pins=frozenset({0}))
    assert plan.decision.truncated == {}
    assert plan.totals.over_budget > 0


def test_a_miss_names_what_holds_the_budget_and_what_to_do() -> None:
    conversation = talk(system(), user("task"), assistant("a"), user("b"), assistant("c"))
    counts = counted(conversation, [400, 2, 50, 30, 1_500], of_message=words)
    plan = planned(conversation, counts, fixed=1_000)
    assert plan.totals.over_budget == 932
    (note,) = plan.decision.notes
    assert "The budget of 1,000 tokens is missed by 932" in note
    assert "current 1,530, system 400, anchor 2" in note
    assert "raise the budget" in note
    assert "'current'" in note


def test_watermark_and_target_make_hysteresis() -> None:
    conversation = plain(20)
    lazy = planned(conversation, fixed=20, watermark=1.0, target=0.5)
    assert lazy.totals.evicted == 0
    plan = planned(conversation, fixed=20, watermark=0.9, target=0.5)
    assert (plan.watermark, plan.target) == (18, 10)
    assert plan.totals.after.tokens == 10
    assert plan.decision.fired


def test_a_missed_target_within_the_budget_is_said_too() -> None:
    plan = planned(plain(20), fixed=15, target=2)
    assert plan.totals.over_budget == 0
    assert plan.totals.after.tokens == 3
    assert "target of 2 tokens is missed by 1" in plan.decision.notes[0]


# Summary.


def test_below_the_trigger_nothing_is_summarised() -> None:
    assert planned(plain(8), policy="summary", fixed=14).decision.inserted == ()
    assert planned(plain(8), policy="summary", fixed=13).decision.inserted != ()


def test_the_watermark_of_the_budget_bar_overrides_the_trigger() -> None:
    plan = planned(plain(8), policy="summary", fixed=10, watermark=0.9)
    assert plan.watermark == 9
    assert plan.options.trigger == 0.9
    assert plan.decision.inserted == ()


def test_a_group_at_the_edge_goes_into_the_summary_whole() -> None:
    plan = planned(agent_run(), policy="summary", options={"keep_recent": 5, "trigger": 0})
    assert having(plan, Verdict.SUMMARISE) == [2, 3, 4]
    assert plan.decision.inserted[0].before == 2


def test_a_summary_never_stands_between_a_call_and_its_result() -> None:
    conversation = talk(
        user("task"),
        assistant(call("1")),
        assistant("thinking aloud"),
        tool(result("1")),
        user("next"),
        assistant("done"),
    )
    plan = planned(
        conversation,
        policy="summary",
        options={"keep_recent": 2, "trigger": 0},
        pins=frozenset({3}),
    )
    assert having(plan, Verdict.SUMMARISE) == [2]
    assert plan.decision.inserted[0].before == 1


def test_a_summary_of_nothing_is_none() -> None:
    plan = planned(plain(3), policy="summary", options={"trigger": 0})
    assert plan.decision.inserted == ()
    assert not plan.decision.fired
    assert "nothing is left to summarise" in plan.decision.notes[0]


def test_a_summary_larger_than_what_it_replaces_says_so() -> None:
    conversation = plain(9)
    plan = planned(
        conversation,
        counted(conversation, of_message=words),
        policy="summary",
        options={"trigger": 0},
    )
    assert "is larger than the messages it stands for" in plan.decision.notes[0]


def test_summaries_of_as_many_other_messages_are_not_mixed_up() -> None:
    planner = Planner(plain(12), counted(plain(12)))
    texts = set()
    for pin in (2, 3):
        options = {"trigger": 0, "keep_recent": 2}
        settings = Settings(policy="summary", options=options, pins=frozenset({pin}))
        (inserted,) = planner.plan(settings).decision.inserted
        assert pin not in inserted.stands_for
        assert f"m{pin}" not in inserted.text
        texts.add(inserted.text)
    assert len(texts) == 2


def test_what_stands_before_the_task_stays() -> None:
    conversation = talk(assistant("Hello!"), user("task"), *[assistant("a")] * 9, user("b"))
    plan = planned(conversation, policy="summary", options={"trigger": 0, "keep_recent": 2})
    assert having(plan, Verdict.SUMMARISE) == list(range(2, 10))
    planner = Planner(conversation, counted(conversation))
    assert planner.reason(plan, 0) == "Stands before the task."


# The registry.


def test_policies_describe_themselves() -> None:
    ids = [policy.id for policy in all_policies()]
    assert len(set(ids)) == len(ids)
    assert {"full", "sliding-window", "head-tail", "token-budget", "summary"} <= set(ids)
    for policy in all_policies():
        assert get_policy(policy.id) is policy
        assert len(policy.help) > 100
        assert "Wrong" in policy.help
        for item in describe(policy.settings):
            assert item.help


def test_defaults_protect_the_task_but_in_the_sliding_window() -> None:
    for policy in all_policies():
        protect = policy.settings().protect
        assert ("anchor" in protect) == (policy.id not in ("sliding-window", "simple-chat"))
        assert {"system", "current"} <= protect


def test_an_unknown_policy_is_refused() -> None:
    with pytest.raises(SettingError, match="no policy 'nope'; there are: token-budget"):
        get_policy("nope")
