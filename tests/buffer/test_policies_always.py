"""What always holds for every policy, over random conversations and settings."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from stm_inspector.buffer.budget import Budget, tokens_at
from stm_inspector.buffer.edits import edit_of
from stm_inspector.buffer.plan import Plan, Verdict
from stm_inspector.buffer.planner import Planner
from stm_inspector.buffer.policies import all_policies
from stm_inspector.buffer.settings import Settings, describe
from stm_inspector.conversation.model import Conversation
from stm_inspector.tokens.counts import TokenCounts
from tests.buffer import slow_policies as slow
from tests.talk import GONE, conversations, counted, having, kept, talk, words


@st.composite
def cases(draw: st.DrawFn) -> tuple[Conversation, TokenCounts, Settings]:
    conversation = draw(conversations)
    n = len(conversation.messages)
    tokens = draw(st.lists(st.sampled_from([0, 1, 5, 40, 300]), min_size=n, max_size=n))
    counts = counted(conversation, tokens, overhead=draw(st.sampled_from([0, 3])), of_message=words)
    policy = draw(st.sampled_from(all_policies()))
    options: dict[str, Any] = {}
    if draw(st.booleans()):
        zones = ["system", "anchor", "retrieved", "middle", "tail", "current"]
        options["protect"] = frozenset(draw(st.sets(st.sampled_from(zones))))
    options["locks"] = draw(st.booleans())
    own = {
        "max_messages": st.integers(1, 12),
        "keep_recent": st.integers(0, 12),
        "trigger": st.sampled_from([0.0, 0.3, 0.6, 1.0, 50.0]),
        "max_summary_tokens": st.integers(1, 60),
    }
    for item in describe(policy.settings):
        if item.key in own:
            options[item.key] = draw(own[item.key])
    marks = [None, 0.0, 0.3, 0.7, 1.0, 100.0]
    indices = st.integers(0, n - 1) if n else st.nothing()
    calls = len(Planner(conversation, counts).calls)
    settings = Settings(
        policy=policy.id,
        options=options,
        budget=Budget(fixed=draw(st.integers(0, sum(tokens) + 10))),
        watermark=draw(st.sampled_from(marks)),
        target=draw(st.sampled_from(marks)),
        pins=draw(st.frozensets(indices, max_size=min(3, n))),
        marks=draw(st.dictionaries(indices, st.booleans(), max_size=min(3, n))),
        tail_turns=draw(st.integers(0, 4)),
        call=draw(st.none() | st.integers(0, calls - 1)),
    )
    return conversation, counts, settings


def log_of(case: tuple[Conversation, TokenCounts, Settings], plan: Plan) -> slow.Log:
    conversation, counts, settings = case
    begun = talk(*conversation.messages[: plan.length])
    return slow.Log(begun, counts, settings, plan.options.protect, plan.options.locks)


def expected(log: slow.Log, plan: Plan) -> slow.Outcome:
    budget = log.settings.budget.input
    if plan.policy == "full":
        return slow.keep_everything(log)
    if plan.policy in ("sliding-window", "head-tail"):
        return slow.window(log, plan.options.max_messages)
    watermark = log.settings.watermark
    if plan.policy == "summary":
        trigger = plan.options.trigger if watermark is None else watermark
        return slow.summary(log, tokens_at(trigger, budget), plan.options.keep_recent)
    target = log.settings.target
    trigger = budget if watermark is None else min(budget, tokens_at(watermark, budget))
    goal = budget if target is None else min(budget, tokens_at(target, budget))
    return slow.token_budget(log, trigger, goal, budget)


@given(cases())
def test_every_policy_agrees_with_its_slow_reference(
    case: tuple[Conversation, TokenCounts, Settings],
) -> None:
    plan = Planner(case[0], case[1]).plan(case[2])
    log = log_of(case, plan)
    outcome = expected(log, plan)
    assert set(having(plan, Verdict.KEEP)) == outcome.kept
    assert set(having(plan, Verdict.TRUNCATE)) == outcome.truncated
    assert set(having(plan, Verdict.SUMMARISE)) == outcome.summarised
    assert set(np.flatnonzero(plan.protected).tolist()) == log.held


@given(cases())
def test_a_lock_group_is_never_split(case: tuple[Conversation, TokenCounts, Settings]) -> None:
    plan = Planner(case[0], case[1]).plan(case[2])
    if plan.options.locks:
        for members in log_of(case, plan).conversation.structure.groups:
            assert len({int(plan.decision.verdicts[member]) for member in members}) == 1


@given(cases())
def test_what_is_protected_survives(case: tuple[Conversation, TokenCounts, Settings]) -> None:
    plan = Planner(case[0], case[1]).plan(case[2])
    log = log_of(case, plan)
    cut = set(having(plan, Verdict.TRUNCATE))
    assert log.held <= set(kept(plan))
    assert cut <= {log.anchor}
    assert not cut & set(case[2].pins)


@given(cases())
def test_the_numbers_add_up_and_a_miss_is_honest(
    case: tuple[Conversation, TokenCounts, Settings],
) -> None:
    plan = Planner(case[0], case[1]).plan(case[2])
    totals, decision = plan.totals, plan.decision
    stays = kept(plan)
    inserted = sum(item.tokens for item in decision.inserted)
    assert totals.before.messages == plan.length
    assert totals.before.tokens == int(plan.tokens.sum()) + case[1].overhead
    assert totals.after.messages == len(stays) + len(decision.inserted)
    assert totals.after.tokens == int(plan.tokens_after.sum()) + case[1].overhead + inserted
    assert set(np.flatnonzero(plan.tokens_after).tolist()) <= set(stays)
    verdicts = (totals.kept, totals.evicted, totals.cleared, totals.truncated, totals.summarised)
    assert verdicts == tuple(len(having(plan, verdict)) for verdict in Verdict)
    assert totals.over_budget == max(0, totals.after.tokens - plan.budget.input)
    missed = [note for note in decision.notes if note.startswith("The budget of")]
    assert bool(missed) == bool(totals.over_budget)
    if plan.policy == "token-budget" and totals.over_budget:
        assert set(stays) == log_of(case, plan).held


@given(cases())
def test_what_is_put_in_is_marked_counted_and_stands_for_what_left(
    case: tuple[Conversation, TokenCounts, Settings],
) -> None:
    plan = Planner(case[0], case[1]).plan(case[2])
    for item in plan.decision.inserted:
        assert item.tokens == words(item.text)
        assert list(item.stands_for) == having(plan, Verdict.SUMMARISE)
        assert 0 <= item.before <= item.stands_for[0]
    assert bool(plan.decision.inserted) == bool(having(plan, Verdict.SUMMARISE))


@given(cases(), cases())
def test_a_plan_depends_on_nothing_but_its_settings(
    case: tuple[Conversation, TokenCounts, Settings],
    other: tuple[Conversation, TokenCounts, Settings],
) -> None:
    conversation, counts, settings = case
    planner = Planner(conversation, counts)
    first = planner.plan(settings)
    planner.plan(Settings(policy=other[2].policy, options=other[2].options, budget=Budget(fixed=7)))
    for again in (planner.plan(settings), Planner(conversation, counts).plan(settings)):
        assert again.decision.verdicts.tolist() == first.decision.verdicts.tolist()
        assert again.decision.reason_of.tolist() == first.decision.reason_of.tolist()
        assert again.decision.inserted == first.decision.inserted
        assert again.totals == first.totals
        assert again.problems == first.problems


@given(cases())
def test_the_edit_keeps_order_and_says_what_changes(
    case: tuple[Conversation, TokenCounts, Settings],
) -> None:
    plan = Planner(case[0], case[1]).plan(case[2])
    edit = edit_of(case[0], plan)
    assert list(edit.kept) == kept(plan)
    assert set(edit.texts) == set(having(plan, Verdict.TRUNCATE))
    assert [item.text for item in edit.inserts] == [item.text for item in plan.decision.inserted]


@given(cases())
def test_every_message_has_a_reason_in_one_sentence(
    case: tuple[Conversation, TokenCounts, Settings],
) -> None:
    planner = Planner(case[0], case[1])
    plan = planner.plan(case[2])
    for index in range(plan.length):
        reason = planner.reason(plan, index)
        assert reason.endswith(".")
        assert reason[0].isupper()
        held = bool(plan.protected[index])
        gone = plan.decision.verdicts[index] in GONE
        assert not (held and gone)
