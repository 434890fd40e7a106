"""Budget arithmetic, and settings that parse, check and describe themselves."""

from __future__ import annotations

from typing import Any

import pytest

from stm_inspector.buffer.budget import Budget, tokens_at
from stm_inspector.buffer.policies.summary import SummaryRole, SummarySettings
from stm_inspector.buffer.settings import SettingError, build, describe, to_json


def test_the_input_budget_is_what_the_reserves_leave() -> None:
    assert Budget().input == 185_664
    assert Budget(window=200_000, reply=4_096, safety=2_048, tool_headroom=8_192).input == 185_664
    assert Budget(window=1_000).input == 0
    assert Budget(fixed=32_000).input == 32_000


def test_a_mark_is_a_fraction_up_to_one_and_tokens_above() -> None:
    marks = (0.0, 0.6, 1.0, 1.5, 250.0)
    assert [tokens_at(mark, 1_000) for mark in marks] == [0, 600, 1_000, 1, 250]


def test_settings_are_built_from_text_and_from_values_alike() -> None:
    text = {"protect": "anchor, system", "locks": "no", "trigger": "0.5", "keep_recent": "4"}
    values = {"protect": {"system", "anchor"}, "locks": False, "trigger": 0.5, "keep_recent": 4}
    built = build(SummarySettings, text)
    assert built == build(SummarySettings, values)
    assert to_json(built) == {
        "protect": ["system", "anchor"],
        "locks": False,
        "sticky": True,
        "max_tokens": 0,
        "min_freed": 0,
        "trigger": 0.5,
        "trigger_by": "tokens",
        "trigger_count": 20,
        "keep_recent": 4,
        "keep_by": "messages",
        "carried": False,
        "merge": "rewrite",
        "max_summary_tokens": 1_000,
        "role": "user",
        "place": "in-place",
    }
    assert build(SummarySettings, to_json(built)) == built
    assert build(SummarySettings, {"protect": ""}).protect == frozenset()
    assert build(SummarySettings, {"role": "assistant"}).role is SummaryRole.ASSISTANT


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"keep": 1}, "no setting 'keep'; this policy has: protect, locks, sticky"),
        ({"keep_recent": "six"}, "keep_recent wants a whole number, not 'six'"),
        ({"keep_recent": 1.5}, "keep_recent wants a whole number"),
        ({"keep_recent": True}, "keep_recent wants a whole number"),
        ({"keep_recent": -1}, "keep_recent is at least 0, not -1"),
        ({"trigger": "nan"}, "trigger is at least 0"),
        ({"locks": "perhaps"}, "locks wants true or false"),
        ({"protect": "tale"}, "protect wants zones separated by commas"),
        ({"role": "narrator"}, "role wants user, assistant, system, not 'narrator'"),
    ],
)
def test_values_that_make_no_sense_are_refused(values: dict[str, Any], words: str) -> None:
    with pytest.raises(SettingError, match=words):
        build(SummarySettings, values)


def test_settings_describe_themselves() -> None:
    described = {entry.key: entry for entry in describe(SummarySettings)}
    assert list(described)[:3] == ["protect", "locks", "sticky"]
    assert described["protect"].type == "zones"
    assert described["protect"].default == ["system", "anchor", "current"]
    assert described["role"].choices == ("user", "assistant", "system")
    recent = described["keep_recent"]
    assert (recent.type, recent.default, recent.unit, recent.low) == ("int", 6, "messages", 0)


class TestReserves:
    def test_they_shrink_with_a_small_window(self) -> None:
        assert Budget.of_window(200_000) == Budget()
        assert Budget.of_window(32_768).reserved == Budget().reserved
        assert Budget.of_window(8_192).input == 3_584

    def test_a_new_window_keeps_what_the_user_set(self) -> None:
        assert Budget().in_window(8_192) == Budget.of_window(8_192)
        assert Budget(reply=1_000).in_window(8_192) == Budget(8_192, reply=1_000)
        assert Budget.of_window(8_192).in_window(200_000) == Budget()
