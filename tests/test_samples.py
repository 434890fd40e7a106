"""Every recorded conversation that we read: planned at five budgets, exported, reopened."""

from __future__ import annotations

import collections
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

import pytest
from msgspec.structs import replace

from stm_inspector.buffer.plan import Verdict
from stm_inspector.buffer.planner import Planner
from stm_inspector.buffer.policies import all_policies
from stm_inspector.conversation.errors import InputError
from stm_inspector.conversation.model import Conversation, Message, Part
from stm_inspector.engine import count, export, load, make_settings
from tests.conftest import SAMPLES

FOLDERS = ("openai-chat", "anthropic-messages", "claude-code", "claude-web-session")
NO_CONVERSATION = {"ccl-snapshots-only.jsonl", "ccl-summary-only.jsonl"}
"""Sessions that hold no message; reference says so of them. Side files end in ``.meta.json``."""

BUDGETS = (0.9, 0.6, 0.4, 0.2, 0.05)
"""Fractions of what the whole conversation costs."""

ORPHANED = {"OC1", "OC2", "A1", "A2", "A3", "A4", "A5", "A15"}


def _files() -> list[Path]:
    return sorted(
        path
        for folder in FOLDERS
        for path in (SAMPLES / folder).rglob("*.json*")
        if not path.name.endswith(".meta.json")
    )


def _id(path: Path) -> str:
    return "/".join(path.relative_to(SAMPLES).parts)


files = pytest.mark.parametrize("path", _files(), ids=_id)


def _open(path: Path) -> Conversation:
    try:
        return load(path)
    except InputError:
        if path.name not in NO_CONVERSATION:
            raise
        pytest.skip("a session without messages, refused as it should be")


@files
def test_sample_opens_and_plans_without_an_orphan(path: Path, samples: Path) -> None:
    conversation = _open(path)
    assert conversation.messages
    counts = count(conversation)
    planner = Planner(conversation, counts)
    total = int(counts.messages.sum()) + counts.overhead
    for policy in all_policies():
        for fraction in BUDGETS:
            plan = planner.plan(make_settings(policy.id, budget=int(total * fraction)))
            caused = [problem for problem in plan.problems if not problem.recorded]
            assert not [problem for problem in caused if problem.rule in ORPHANED]
            _check_sums(plan)
            _check_groups(conversation, plan)


def _check_sums(plan) -> None:
    totals = plan.totals
    inserted = plan.decision.inserted
    told = totals.kept + totals.cleared + totals.truncated
    assert told + totals.evicted + totals.summarised == plan.length == totals.before.messages
    assert totals.after.messages == told + len(inserted)
    assert totals.over_budget == max(0, totals.after.tokens - plan.budget.input)
    assert totals.over_budget == 0 or plan.decision.notes


def _check_groups(conversation: Conversation, plan) -> None:
    gone = (Verdict.EVICT, Verdict.SUMMARISE)
    for group in conversation.structure.groups:
        assert len({int(plan.decision.verdicts[index]) in gone for index in group}) == 1


@files
def test_sample_exports_what_the_plan_keeps(path: Path, samples: Path, tmp_path: Path) -> None:
    """Reopened, an export holds the kept messages and the synthetic ones, in the plan's order."""
    conversation = _open(path)
    counts = count(conversation)
    planner = Planner(conversation, counts)
    total = int(counts.messages.sum()) + counts.overhead
    for policy in all_policies():
        for fraction in BUDGETS:
            plan = planner.plan(make_settings(policy.id, budget=int(total * fraction)))
            if "EMPTY" in {problem.rule for problem in plan.problems}:
                continue
            out = tmp_path / "export.json"
            export(conversation, plan, out)
            again = load(out)
            expected = _expected(conversation, plan)
            got = [_content(message) for message in again.messages]
            assert got == expected, (policy.id, fraction)


def _expected(conversation: Conversation, plan) -> list[tuple]:
    inserted = collections.deque(plan.decision.inserted)
    rows: list[tuple] = []
    gone = (Verdict.EVICT, Verdict.SUMMARISE)

    def add_inserted(before: int) -> None:
        while inserted and inserted[0].before <= before:
            item = inserted.popleft()
            rows.append((item.role, (("text", item.text),)))

    for index, message in enumerate(conversation.messages):
        add_inserted(index)
        if plan.decision.verdicts[index] in gone:
            continue
        short = plan.decision.truncated.get(index)
        row = _content(
            message,
            {
                number: made.text
                for number in range(len(message.parts))
                if (made := plan.decision.cleared.get((index, number))) is not None
            },
        )
        rows.append(row if short is None else (row[0], (("text", short.text),)))
    add_inserted(len(conversation.messages))
    return rows


def _content(message: Message, cleared: Mapping[int, str] = MappingProxyType({})) -> tuple:
    parts = [
        replace(part, text=cleared[number], parts=()) if number in cleared else part
        for number, part in enumerate(message.parts)
    ]
    return message.role.value, tuple(map(_part, parts))


def _part(part: Part) -> tuple:
    if part.kind.value == "text":
        return "text", part.text
    return (part.kind.value, part.name, part.call_id, part.text, tuple(map(_part, part.parts)))
