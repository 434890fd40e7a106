"""What a message scores: by the user, the file or the rule."""

from __future__ import annotations

from typing import Any

import pytest

from stm_inspector.buffer.scores import Scoring, is_sticky, score_of, scores_of
from stm_inspector.conversation.model import Message, Role
from tests.talk import assistant, plain, result, system, text, tool, user


@pytest.mark.parametrize(
    ("message", "score"),
    [
        (system("You are a very careful helper."), 0.9),
        (user("Tell me about the parser, please."), 0.5),
        (user("What does the parser do with tabs?"), 0.6),
        (assistant("Here it is:\n```python\npass\n```"), 0.7),
        (tool(result("1", words="an exception in the parser")), 0.65),
        (user("ok"), 0.4),
        (system("Is it an error? ```x```"), 1.0),
    ],
)
def test_the_rule_by_content(message: Message, score: float) -> None:
    assert score_of(message, Scoring.CONTENT) == pytest.approx(score)


def test_the_other_rules() -> None:
    assert [score_of(m, Scoring.ROLE) for m in (system(), user("x"), tool(result("1")))] == [
        1.0,
        0.5,
        0.3,
    ]
    assert score_of(user("It failed."), Scoring.ERRORS_AND_CODE) == 0.9
    assert score_of(user("Hello."), Scoring.ERRORS_AND_CODE) == 0.5
    assert score_of(assistant("The median is 4."), Scoring.RESULTS_AND_INSIGHTS) == 0.8


@pytest.mark.parametrize(
    ("tags", "score"),
    [
        ({"importance": 0.7}, 0.7),
        ({"importance": 7}, 0.7),
        ({"priority": 1}, 0.1),
        ({"salience": 40}, 1.0),
        ({"metadata": {"priority": 9}}, 0.9),
        ({"importance": "high"}, 0.5),
        ({"importance": True}, 0.5),
    ],
)
def test_the_file_goes_before_the_rule(tags: dict[str, Any], score: float) -> None:
    message = Message(Role.USER, (text("Tell me about the parser."),), tags=tags)
    assert score_of(message, Scoring.CONTENT) == pytest.approx(score)


def test_the_user_goes_before_both() -> None:
    assert scores_of(plain(3), Scoring.ROLE, {1: 0.9}).tolist() == [0.5, 0.9, 0.5]


def test_sticky_messages() -> None:
    for tags in ({"sticky": True}, {"pinned": True}, {"tags": ["sticky"]}):
        assert is_sticky(Message(Role.USER, tags=tags))
    assert not is_sticky(Message(Role.USER, tags={"sticky": "no"}))
