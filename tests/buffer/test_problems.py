"""The validity rules: the shapes of known bug reports, and what a trimming must be blamed for."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from msgspec import structs

from stm_inspector.buffer.plan import Problem, Replacement, Severity, Verdict
from stm_inspector.buffer.problems import APIS, MAX_LISTED, Checker, all_rules
from stm_inspector.conversation.model import Conversation, Message, Part, PartKind, Role
from tests.buffer.shapes import (
    ANTHROPIC,
    OPENAI,
    conversation,
    cut,
    decision,
    dropping,
    summary,
    text,
)


def task(talk: Conversation) -> int:
    return next(index for index, item in enumerate(talk.messages) if item.by_person)


def keep_all(talk: Conversation):
    return dropping(len(talk.messages), ())


def found(line: str, api: str = OPENAI, **options) -> set[tuple[str, int | None]]:
    """Rule and message of everything the cut of a line causes."""
    talk = conversation(line, api, **options)
    problems = Checker(talk).check(cut(line), anchor=task(talk))
    return {(problem.rule, problem.index) for problem in problems if not problem.recorded}


def as_recorded(talk: Conversation) -> set[tuple[str, int | None]]:
    problems = Checker(talk).check(keep_all(talk))
    assert all(problem.recorded for problem in problems)
    return {(problem.rule, problem.index) for problem in problems}


def errors(problems: tuple[Problem, ...]) -> list[Problem]:
    return [problem for problem in problems if problem.severity is Severity.ERROR]


@pytest.mark.parametrize(
    ("line", "broken"),
    [
        # langchain#33245: a window that opens on a result
        ("U A{c1} | T:c1 A U", {("OC1", 2)}),
        # litellm#4931: parallel calls go, their results stay
        ("S U A{c1,c2} | T:c1 T:c2 A U", {("OC1", 3), ("OC1", 4)}),
        # semantic-kernel#12708: the cut falls between parallel results
        ("U A{c1,c2} T:c1 | T:c2 A U", {("OC1", 3)}),
    ],
)
def test_openai_shapes(line: str, broken: set[tuple[str, int]]) -> None:
    causes = found(line)
    assert {item for item in causes if item[0].startswith("OC")} == broken


def test_openai_answers_behind_two_calling_messages() -> None:
    """langchain#38352: broken as recorded, so a cut that takes the first call is not to blame."""
    line = "U A A{a} | A{b} T:a T:b U"
    assert as_recorded(conversation(line)) == {("OC1", 4), ("OC2", 2)}
    assert found(line) == {("W3", 0)}


def test_openai_call_whose_result_goes() -> None:
    talk = conversation("U A{c1,c2} T:c1 T:c2 A")
    problems = errors(Checker(talk).check(dropping(5, (3,))))
    assert [(problem.rule, problem.index, problem.part) for problem in problems] == [("OC2", 1, 1)]
    assert "c2" in problems[0].text
    assert "c1" not in problems[0].text


def test_openai_summary_between_call_and_result() -> None:
    talk = conversation("U A{c1} T:c1 U")
    between = decision(np.zeros(4, np.uint8), inserted=(summary(2),))
    beside = decision(np.zeros(4, np.uint8), inserted=(summary(1), summary(3)))
    assert {problem.rule for problem in Checker(talk).check(between)} == {"OC1", "OC2"}
    assert Checker(talk).check(beside) == ()


def test_openai_user_message_between_call_and_result_is_recorded() -> None:
    assert as_recorded(conversation("U A{c1} U T:c1 A")) == {("OC1", 3), ("OC2", 1)}


def test_openai_dropping_what_stands_between_heals() -> None:
    talk = conversation("U A{c1} U T:c1 A")
    assert errors(Checker(talk).check(dropping(5, (2,)))) == []


def test_openai_shortened_call_still_calls() -> None:
    """The calls stand beside the content, so shortening the content leaves them."""
    talk = conversation("U A{c1} T:c1 U")
    short = decision(
        np.array([0, Verdict.TRUNCATE, 0, 0], np.uint8), truncated={1: Replacement("…", 1)}
    )
    assert errors(Checker(talk).check(short)) == []


@pytest.mark.parametrize(
    ("line", "broken"),
    [
        # claude-code#8484
        ("U A{c1} | R:c1 A U", {("A2", 2)}),
        # letta#935: also the first thing left is an answer
        ("U A{c1} R:c1 | A U", {("A6", 3)}),
        # Flowise#2516: a window of even size
        ("S U A U | A U", {("A6", 4)}),
    ],
)
def test_anthropic_shapes(line: str, broken: set[tuple[str, int]]) -> None:
    assert {item for item in found(line, ANTHROPIC) if item[0].startswith("A")} == broken


def test_anthropic_call_kept_without_result() -> None:
    """OpenHarness#191, langchain#29637."""
    talk = conversation("U A{c1} R:c1 A U", ANTHROPIC)
    problems = errors(Checker(talk).check(dropping(5, (2,))))
    assert [(problem.rule, problem.index) for problem in problems] == [("A1", 1)]


def test_anthropic_summary_between_call_and_result() -> None:
    """pi#8667: a synthetic message stands between a call and its result."""
    talk = conversation("U A{c1} R:c1 A", ANTHROPIC)
    wedged = decision(np.zeros(4, np.uint8), inserted=(summary(2),))
    assert {problem.rule for problem in errors(Checker(talk).check(wedged))} == {"A5"}
    wedged = decision(np.zeros(4, np.uint8), inserted=(summary(2), summary(2, "assistant")))
    assert {problem.rule for problem in errors(Checker(talk).check(wedged))} == {"A1", "A2"}


def test_anthropic_summary_as_first_message() -> None:
    talk = conversation("U A U A", ANTHROPIC)
    verdicts = np.array([1, 0, 0, 0], np.uint8)
    checker = Checker(talk)
    as_user = errors(checker.check(decision(verdicts, inserted=(summary(0),))))
    as_assistant = errors(checker.check(decision(verdicts, inserted=(summary(0, "assistant"),))))
    assert as_user == []
    assert [problem.rule for problem in as_assistant] == ["A6"]


def test_anthropic_results_in_separate_messages() -> None:
    """sudocode#546."""
    assert as_recorded(conversation("U A{c1,c2} R:c1 R:c2 A U", ANTHROPIC)) == {("A4", 3)}


def test_anthropic_duplicate_result() -> None:
    """atomic#2051."""
    assert as_recorded(conversation("U A{c1,c2} R:c1,c1,c2 A", ANTHROPIC)) == {("A3", 2)}


def test_anthropic_duplicate_result_without_its_call_is_an_orphan() -> None:
    line = "U A{c1} | R:c1,c1 U"
    problems = Checker(conversation(line, ANTHROPIC)).check(cut(line))
    assert {problem.rule for problem in errors(problems)} == {"A2"}


def test_anthropic_text_before_results() -> None:
    assert as_recorded(conversation("U A{c1} +R:c1 A", ANTHROPIC)) == {("A5", 2)}
    assert as_recorded(conversation("U A{c1} R:c1+ A", ANTHROPIC)) == set()


def test_anthropic_answers_in_a_row_are_one() -> None:
    assert as_recorded(conversation("U A A{c1} R:c1 U A", ANTHROPIC)) == set()


def test_anthropic_system_message_within_the_list_is_passed_over() -> None:
    assert as_recorded(conversation("S U S A{c1} R:c1 S A", ANTHROPIC)) == set()


def changed(line: str, index: int, *parts: Part, **fields) -> Conversation:
    talk = conversation(line, ANTHROPIC)
    messages = list(talk.messages)
    messages[index] = structs.replace(messages[index], parts=parts)
    return dataclasses.replace(talk, messages=tuple(messages), **fields)


def test_anthropic_empty_message_but_for_the_last_answer() -> None:
    assert as_recorded(changed("U A U A", 1)) == {("A7", 1)}
    assert as_recorded(changed("U A U A", 3)) == set()
    bare = Part(PartKind.TEXT, "")
    assert as_recorded(changed("U A U A", 1, bare)) == {("A7", 1)}


def test_anthropic_empty_answer_that_the_trimming_leaves_before_the_end() -> None:
    """It was the optional last answer; the plan puts a message behind it."""
    talk = changed("U A", 1)
    behind = decision(np.zeros(2, np.uint8), inserted=(summary(2),))
    problems = errors(Checker(talk).check(behind))
    assert [(problem.rule, problem.recorded) for problem in problems] == [("A7", False)]


def test_anthropic_empty_blocks_and_cache_markers() -> None:
    """claude-code#863, claude-code#55302."""
    marked = structs.replace(text(""), cache_marker=True)
    assert as_recorded(changed("U A U A", 2, text(), text(""))) == {("A8", 2)}
    assert as_recorded(changed("U A U A", 2, text(), marked)) == {("A8", 2), ("A9", 2)}


def test_anthropic_cleared_result_no_longer_holds_the_empty_block() -> None:
    result = Part(PartKind.TOOL_RESULT, "", call_id="c1", parts=(text(""),))
    talk = changed("U A{c1} R:c1 A", 2, result)
    cleared = decision(
        np.array([0, 0, Verdict.CLEAR, 0], np.uint8), cleared={(2, 0): Replacement("[gone]", 2)}
    )
    assert as_recorded(talk) == {("A8", 2)}
    assert errors(Checker(talk).check(cleared)) == []


def test_anthropic_five_cache_markers() -> None:
    """continue#6937."""
    marker = structs.replace(text(), cache_marker=True)
    five = changed("U A U A", 0, *[marker] * 5)
    four = changed("U A U A", 0, *[marker] * 4)
    assert as_recorded(five) == {("A10", 0)}
    assert "Found 5" in Checker(five).check(keep_all(five))[0].text
    assert as_recorded(four) == set()


def test_anthropic_thinking_of_a_running_tool_loop() -> None:
    """langchain#34794: the cut parts the thinking answer from the loop that it opened."""
    line = "U A*{a} R:a | A{b} R:b"
    caused = found(line, ANTHROPIC, thinking=True)
    assert ("A11", 3) in caused
    assert ("A11", 3) not in found(line, ANTHROPIC, thinking=False)
    whole = conversation(line, ANTHROPIC, thinking=True)
    assert as_recorded(whole) == set()


def test_anthropic_latest_answer_loses_its_thinking() -> None:
    """claude-code#13012."""
    talk = conversation("U A*{a} R:a", ANTHROPIC)
    short = decision(np.array([0, 2, 0], np.uint8), truncated={1: Replacement("…", 1)})
    assert ("A12", 1) in {(problem.rule, problem.index) for problem in Checker(talk).check(short)}


def test_anthropic_thinking_at_the_end_with_thinking_off() -> None:
    """forgecode#1853."""
    talk = conversation("U A* U", ANTHROPIC, thinking=False)
    assert as_recorded(talk) == set()
    problems = errors(Checker(talk).check(dropping(3, (2,))))
    assert [(problem.rule, problem.index) for problem in problems] == [("A13", 1)]


def test_anthropic_signed_thinking_behind_a_change() -> None:
    talk = conversation("U A U A* U A*", ANTHROPIC)
    problems = Checker(talk).check(dropping(6, (1, 2)))
    warned = [problem for problem in problems if problem.rule == "A14"]
    assert [(problem.index, problem.severity) for problem in warned] == [(3, Severity.WARNING)]
    assert "2 messages" in warned[0].text
    assert "message 1" in warned[0].text
    after = Checker(talk).check(dropping(6, (4, 5)))
    assert "A14" not in {problem.rule for problem in after}


def test_anthropic_change_before_a_compaction_block_reaches_no_thinking() -> None:
    talk = conversation("U A U A*", ANTHROPIC)
    messages = list(talk.messages)
    messages[0] = structs.replace(messages[0], unused="stands before a compaction")
    talk = dataclasses.replace(talk, messages=tuple(messages))
    assert "A14" not in {problem.rule for problem in Checker(talk).check(dropping(4, (0,)))}


def test_anthropic_server_tools() -> None:
    """anthropic-sdk-python#1151; a call that the provider left without a result is accepted."""
    use = Part(PartKind.TOOL_CALL, "{}", name="web_fetch", call_id="srv1", server=True)
    result = Part(PartKind.TOOL_RESULT, "page", call_id="srv1", server=True)
    assert as_recorded(changed("U A U", 1, use, result, text())) == set()
    assert as_recorded(changed("U A U", 1, use, text())) == set()
    assert as_recorded(changed("U A U", 1, result, text())) == {("A15", 1)}
    apart = changed("U A A U", 1, use)
    messages = list(apart.messages)
    messages[2] = Message(Role.ASSISTANT, (result, text()))
    apart = dataclasses.replace(apart, messages=tuple(messages))
    for gone, left in ((1, 2), (2, 1)):
        problems = errors(Checker(apart).check(dropping(4, (gone,))))
        assert [(problem.rule, problem.index) for problem in problems] == [("A15", left)]


def test_anthropic_empty_compaction_block() -> None:
    """ai#13335; content that the provider encrypts is there although nobody can read it."""
    empty = Part(PartKind.COMPACTION, "")
    sealed = Part(PartKind.COMPACTION, "", hidden="encrypted by the provider")
    assert as_recorded(changed("U A U", 1, empty, text())) == {("A16", 1)}
    assert as_recorded(changed("U A U", 1, sealed, text())) == set()


@pytest.mark.parametrize("api", sorted(APIS))
def test_nothing_left(api: str) -> None:
    problems = Checker(conversation("U A U", api)).check(dropping(3, range(3)))
    assert ("EMPTY", None) in {(problem.rule, problem.index) for problem in errors(problems)}


def test_only_the_system_prompt_left() -> None:
    rules = {}
    for api in APIS:
        problems = Checker(conversation("S U A", api)).check(dropping(3, (1, 2)))
        rules[api] = {problem.rule for problem in problems}
    assert rules[ANTHROPIC] >= {"EMPTY", "W2"}
    assert "EMPTY" not in rules[OPENAI]


def test_what_the_trimming_costs_the_model() -> None:
    talk = conversation("S U A U A")
    problems = Checker(talk).check(dropping(5, (0, 1)), over_budget=1234, anchor=1)
    assert {problem.rule for problem in problems} == {"W1", "W3", "W5"}
    assert any("1,234 tokens" in problem.text for problem in problems)
    assert errors(problems) == []


def test_task_that_only_a_summary_tells() -> None:
    talk = conversation("U A U A")
    told = decision(np.array([4, 4, 0, 0], np.uint8), inserted=(summary(0, stands_for=(0, 1)),))
    (problem,) = Checker(talk).check(told, anchor=0)
    assert problem.rule == "W3"
    assert "summary" in problem.text


def test_recorded_and_caused_are_told_apart_within_one_message() -> None:
    talk = conversation("U A{c1,c2} T:c1 U")
    problems = errors(Checker(talk).check(dropping(4, (2,))))
    assert [(problem.recorded, problem.rule, problem.index) for problem in problems] == [
        (False, "OC2", 1),
        (True, "OC2", 1),
    ]
    assert "c1" in problems[0].text
    assert "c2" in problems[1].text
    assert problems[0].remedy != problems[1].remedy


def test_call_in_the_middle_of_the_log_looks_no_further() -> None:
    """Before the answer to the question, the call that comes later does not exist."""
    talk = conversation("S U A{c1} T:c1 A")
    assert Checker(talk).check(dropping(2, ())) == ()
    assert Checker(talk).check(dropping(1, ())) != ()


def test_long_list_is_cut_and_its_rest_counted() -> None:
    line = "U " + " ".join(f"T:c{number}" for number in range(MAX_LISTED + 57)) + " A"
    problems = Checker(conversation(line)).check(cut("| " + line))
    assert len(problems) == MAX_LISTED + 1
    assert sum(problem.places for problem in problems) == MAX_LISTED + 57
    assert "57 more" in problems[-1].text


def test_long_recorded_list_hides_nothing_that_the_trimming_causes() -> None:
    line = "U " + " ".join(f"T:c{number}" for number in range(500)) + " A{x} T:x A"
    talk = conversation(line)
    caller = len(talk.messages) - 3
    first = errors(Checker(talk).check(dropping(len(talk.messages), (caller,))))[0]
    assert (first.rule, first.index, first.recorded) == ("OC1", caller + 1, False)


def test_api_without_rules_gets_the_general_warnings() -> None:
    talk = dataclasses.replace(conversation("S U A{c1} T:c1 U"), api="unheard-of")
    assert {problem.rule for problem in Checker(talk).check(dropping(5, (0, 2)))} == {"W1"}


def test_empty_conversation() -> None:
    talk = Conversation(OPENAI, OPENAI, ())
    problems = Checker(talk).check(dropping(0, ()))
    assert {problem.rule for problem in problems} == {"EMPTY", "W2"}
    assert all(problem.recorded for problem in problems)


def test_rules_describe_themselves() -> None:
    for api, (rules, _) in APIS.items():
        assert len({rule.id for rule in rules}) == len(rules), api
    for rule in all_rules():
        assert rule.text.endswith(".")
        assert rule.remedy.endswith(".")
        assert rule.recorded_remedy.endswith(".")
        assert rule.source


def test_quotes_of_the_api_are_readable() -> None:
    assert not [rule.id for rule in all_rules() if "\\" in rule.text]
