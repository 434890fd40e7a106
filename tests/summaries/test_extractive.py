"""The offline summary."""

from __future__ import annotations

from itertools import pairwise

import pytest

from stm_inspector.conversation.model import Conversation, Part, PartKind
from stm_inspector.summaries.extractive import Extractive, first_sentence
from stm_inspector.summaries.summary import Summary
from tests.talk import assistant, call, plain, result, system, talk, tool, user


def words(text: str) -> int:
    return len(text.split())


def summarise(conversation: Conversation, max_tokens: int = 1_000) -> Summary:
    indices = range(len(conversation.messages))
    return Extractive().summarise(conversation, indices, max_tokens=max_tokens, count=words)


def lines(conversation: Conversation) -> list[str]:
    return summarise(conversation).text.splitlines()


def test_each_message_gives_its_first_sentence_by_role() -> None:
    conversation = talk(
        system("You are brief. Always."),
        user("Fix the parser, please. Then test it."),
        assistant("Looking.", call("1", "read_file")),
        tool(result("1", "read_file", "def parse():\n    pass")),
        tool(Part(PartKind.TOOL_RESULT, "no such file", name="ls", is_error=True)),
        user(result("1", words="3 passed"), result("2", words="")),
        user(Part(PartKind.IMAGE), Part(PartKind.DOCUMENT, "x", name="spec.pdf")),
        assistant(),
    )
    assert lines(conversation) == [
        "[Summary of 8 earlier messages]",
        "system: You are brief.",
        "user: Fix the parser, please.",
        "assistant: Looking.; called read_file({})",
        "tool: result of read_file: def parse():",
        "tool: result of ls: failed: no such file",
        "tool: result: 3 passed; result: nothing",
        "user: [image]; [document spec.pdf]",
        "assistant: (nothing in words)",
    ]


@pytest.mark.parametrize(
    ("text", "first"),
    [
        ("Version 3.11 is out. Update.", "Version 3.11 is out."),
        ("\n\n  Two   words  \nmore", "Two words"),
        ("なにか。つぎ", "なにか。"),
        ("Really? Yes.", "Really?"),
        ("", ""),
        ("x" * 500, "x" * 159 + "…"),
    ],
)
def test_first_sentences(text: str, first: str) -> None:
    assert first_sentence(text) == first


def test_a_long_log_is_thinned_evenly_and_says_how_much_is_left_out() -> None:
    summary = summarise(plain(1_000), max_tokens=50)
    assert summary.tokens == words(summary.text) <= 50
    header, *named, rest = summary.text.splitlines()
    assert header == "[Summary of 1,000 earlier messages]"
    assert rest == f"… {1_000 - len(named):,} more messages"
    assert named[0] == "user: m0"
    assert named[-1] == "assistant: m999"
    numbers = [int(line.split("m")[-1]) for line in named]
    gaps = [after - before for before, after in pairwise(numbers)]
    assert len(named) > 10
    assert max(gaps) - min(gaps) <= 1


def test_everything_is_named_where_it_fits() -> None:
    assert len(summarise(plain(20)).text.splitlines()) == 21
    assert "more message" not in summarise(plain(20)).text


def test_one_line_is_written_however_small_the_bound() -> None:
    summary = summarise(plain(9), max_tokens=1)
    assert summary.text.splitlines() == [
        "[Summary of 9 earlier messages]",
        "user: m0",
        "… 8 more messages",
    ]
    assert summary.tokens == 11


def test_it_stands_for_what_it_was_asked_to() -> None:
    summary = Extractive().summarise(plain(9), [2, 5], max_tokens=99, count=words)
    assert summary.stands_for == (2, 5)
    assert summary.text.splitlines()[1:] == ["user: m2", "assistant: m5"]
