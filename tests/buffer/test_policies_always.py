"""What always holds for every policy, over random conversations and settings."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from stm_inspector.buffer.budget import Budget, tokens_at
from stm_inspector.buffer.edits import edit_of
from stm_inspector.buffer.plan import Plan, Verdict
from stm_inspector.buffer.planner import Planner
from stm_inspector.buffer.policies import all_policies, get_policy
from stm_inspector.buffer.policies.base import Carried
from stm_inspector.buffer.policies.folding import Place
from stm_inspector.buffer.policies.summary import By, Merge
from stm_inspector.buffer.scores import Scoring
from stm_inspector.buffer.settings import Settings, describe
from stm_inspector.conversation.model import Conversation
from stm_inspector.summaries.segments import topic_changes
from stm_inspector.tokens.counts import TokenCounts
from tests.buffer import slow_policies as slow
from tests.buffer.policies import slow as slower
from tests.talk import GONE, conversations, counted, having, kept, talk, words

SIZES = st.integers(0, 12)
OWN: dict[str, st.SearchStrategy[Any]] = {
    "sticky": st.booleans(),
    "max_tokens": st.sampled_from([0, 40, 300, 1_000]),
    "min_freed": st.sampled_from([0, 0, 5, 100]),
    "max_messages": st.integers(1, 12),
    "keep_recent": SIZES,
    "trigger": st.sampled_from([0.0, 0.3, 0.6, 1.0, 50.0]),
    "max_summary_tokens": st.integers(1, 60),
    "max_turns": st.integers(0, 4),
    "scoring": st.sampled_from(Scoring),
    "decay_per_hour": st.sampled_from([0.0, 0.1, 0.5]),
    "trigger_by": st.sampled_from(By),
    "trigger_count": SIZES,
    "keep_by": st.sampled_from(By),
    "carried": st.booleans(),
    "merge": st.sampled_from(Merge),
    "place": st.sampled_from(Place),
    "every_turns": st.integers(1, 4),
    "refresh_turns": st.integers(0, 6),
    "depth": st.sampled_from([0.0, 0.4]),
    "max_list_tokens": st.integers(1, 30),
    "keep": st.integers(0, 5),
    "soft": st.sampled_from([0.0, 0.3, 1.0]),
    "hard": st.sampled_from([0.0, 0.5, 1.0]),
    "long": st.sampled_from([1, 100, 4_000]),
    "head": st.sampled_from([0, 20]),
    "tail": st.sampled_from([0, 20]),
}


@st.composite
def cases(draw: st.DrawFn) -> tuple[Conversation, TokenCounts, Settings]:
    conversation = draw(conversations)
    n = len(conversation.messages)
    tokens = draw(st.lists(st.sampled_from([0, 1, 5, 40, 300]), min_size=n, max_size=n))
    counts = counted(
        conversation,
        tokens,
        parts=draw(st.sampled_from([1, 3, 60])),
        overhead=draw(st.sampled_from([0, 3])),
        of_message=words,
    )
    policy = draw(st.sampled_from(all_policies()))
    options: dict[str, Any] = {}
    if draw(st.booleans()):
        zones = ["system", "anchor", "retrieved", "middle", "tail", "current"]
        options["protect"] = frozenset(draw(st.sets(st.sampled_from(zones))))
    options["locks"] = draw(st.booleans())
    for item in describe(policy.settings):
        if item.key in OWN and draw(st.booleans()):
            options[item.key] = draw(OWN[item.key])
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
        scores=draw(st.dictionaries(indices, st.sampled_from([0.0, 0.3, 0.9]), max_size=min(3, n))),
        tail_turns=draw(st.integers(0, 4)),
        call=draw(st.none() | st.integers(0, calls - 1)),
    )
    return conversation, counts, settings


def log_of(
    case: tuple[Conversation, TokenCounts, Settings], plan: Plan, length: int | None = None
) -> slow.Log:
    conversation, counts, settings = case
    begun = talk(*conversation.messages[: plan.length if length is None else length])
    options = plan.options
    return slow.Log(begun, counts, settings, options.protect, options.locks, options.sticky)


PRESETS = {
    "simple-chat": "sliding-window",
    "long-conversation": "summary",
    "technical-support": "importance",
    "data-analysis": "importance",
    "default": "priority",
}


def expected(case: tuple[Conversation, TokenCounts, Settings], plan: Plan) -> slow.Outcome:
    """What the slow reference says."""
    conversation, counts, settings = case
    options, log = plan.options, log_of(case, plan)
    limit = settings.budget.input
    if getattr(options, "max_tokens", 0):
        limit = min(limit, options.max_tokens)
    watermark, target = settings.watermark, settings.target
    trigger = limit if watermark is None else min(limit, tokens_at(watermark, limit))
    goal = limit if target is None else min(limit, tokens_at(target, limit))
    calls = Planner(conversation, counts).calls[: plan.call + 1].tolist()
    logs = [log_of(case, plan, length) for length in calls]
    own = tokens_at(getattr(options, "trigger", 0), limit)
    match PRESETS.get(plan.policy, plan.policy):
        case "full":
            return slow.keep_everything(log)
        case "sliding-window" | "head-tail":
            return slow.window(log, options.max_messages)
        case "token-budget":
            return slow.token_budget(log, trigger, goal, limit)
        case "token-fifo":
            return slower.token_fifo(log, trigger, goal)
        case "turn-window":
            return slower.turn_window(log, trigger, goal, options.max_turns)
        case "salience" | "importance":
            return slower.salience(log, trigger, goal, options.scoring, options.decay_per_hour)
        case "priority":
            return slower.priority(logs, limit, options.scoring)
        case "summary":
            by_tokens = options.trigger_by is By.TOKENS
            above = own if by_tokens else options.trigger_count
            least = None if target is None else tokens_at(target, limit)
            return slower.summary(logs, above, options, least)
        case "rolling-summary":
            return slower.rolling(logs, options)
        case "hybrid":
            return slower.hybrid(logs, options)
        case "segments":
            changes = topic_changes(conversation, options.depth)
            return slower.segments(logs, own, options, changes)
        case "entity":
            gone = slower.entity(log, trigger, goal, options.max_list_tokens)
            listed = gone if plan.decision.inserted else set()
            return slow.Outcome(kept=set(range(log.n)) - gone, summarised=listed)
        case "clear-results":
            mark = None if watermark is None else tokens_at(watermark, limit)
            return slower.clear_results(log, mark, options)
        case "soft-hard":
            return slower.soft_hard(log, limit, options)
    raise AssertionError(f"{plan.policy} has no reference")


@given(cases())
def test_every_policy_agrees_with_its_slow_reference(
    case: tuple[Conversation, TokenCounts, Settings],
) -> None:
    plan = Planner(case[0], case[1]).plan(case[2])
    outcome, log = expected(case, plan), log_of(case, plan)
    gated = getattr(plan.options, "min_freed", 0) and not isinstance(
        get_policy(plan.policy), Carried
    )
    if gated and not plan.decision.fired:
        ungated = replace(case[2], options={**case[2].options, "min_freed": 0})
        freed = Planner(case[0], case[1]).plan(ungated).totals
        assert freed.before.tokens - freed.after.tokens < plan.options.min_freed or not (
            freed.before.tokens > freed.after.tokens
        )
        outcome = slow.keep_everything(log)
    assert set(having(plan, Verdict.KEEP)) == outcome.kept
    assert set(having(plan, Verdict.TRUNCATE)) == outcome.truncated
    assert set(having(plan, Verdict.SUMMARISE)) == outcome.summarised
    assert set(having(plan, Verdict.CLEAR)) == outcome.cleared
    assert set(np.flatnonzero(plan.protected).tolist()) == log.held


@given(cases())
def test_a_lock_group_is_never_split(case: tuple[Conversation, TokenCounts, Settings]) -> None:
    plan = Planner(case[0], case[1]).plan(case[2])
    if plan.options.locks:
        for members in log_of(case, plan).conversation.structure.groups:
            assert len({plan.decision.verdicts[member] in GONE for member in members}) == 1


@given(cases())
def test_what_is_protected_survives(case: tuple[Conversation, TokenCounts, Settings]) -> None:
    plan = Planner(case[0], case[1]).plan(case[2])
    log = log_of(case, plan)
    cut = set(having(plan, Verdict.TRUNCATE))
    assert log.held <= set(kept(plan))
    assert cut & log.held <= {log.anchor}
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
    if plan.policy == "token-budget" and totals.over_budget and not plan.options.min_freed:
        assert set(stays) == log_of(case, plan).held


@given(cases())
def test_what_is_put_in_is_marked_counted_and_stands_for_what_left(
    case: tuple[Conversation, TokenCounts, Settings],
) -> None:
    plan = Planner(case[0], case[1]).plan(case[2])
    stood_for: list[int] = []
    for item in plan.decision.inserted:
        assert item.tokens == words(item.text)
        assert 0 <= item.before <= plan.length
        stood_for += item.stands_for
        if item.stands_for and getattr(plan.options, "place", Place.IN_PLACE) is Place.IN_PLACE:
            assert item.before <= item.stands_for[0]
    assert sorted(stood_for) == having(plan, Verdict.SUMMARISE)
    places = [item.before for item in plan.decision.inserted]
    assert places == sorted(places)
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
    cut = {index for index, _ in edit.results}
    assert set(edit.texts) | cut == set(having(plan, Verdict.TRUNCATE)) | set(
        having(plan, Verdict.CLEAR)
    )
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
