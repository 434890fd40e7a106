"""``stm-inspector replay``: text, JSON and CSV of one replay, and the same from Python."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any

import pytest

from stm_inspector.cli import main
from stm_inspector.engine import load, replay

CHAT = [
    {"role": "system", "content": "Be brief."},
    {"role": "user", "content": "Name the task."},
    {"role": "assistant", "content": "It is named."},
    {"role": "user", "content": "And the next?"},
    {"role": "assistant", "content": "Named as well."},
    {"role": "user", "content": "Thanks."},
]
OPTIONS = ["--counter", "unit", "--budget", "4"]


@pytest.fixture
def chat(tmp_path: Path) -> str:
    path = tmp_path / "chat.json"
    path.write_text(json.dumps(CHAT), "utf-8")
    return str(path)


def printed(capsys: pytest.CaptureFixture[str], *words: str) -> Any:
    assert main(words) == 0
    return capsys.readouterr().out


def test_json_has_a_row_a_call_and_one_a_message(
    chat: str, capsys: pytest.CaptureFixture[str]
) -> None:
    found = json.loads(printed(capsys, "replay", chat, *OPTIONS, "--json"))
    assert list(found) == ["format", "policy", "counter", "budget", "calls", "messages", "totals"]
    assert [row["message"] for row in found["calls"]] == [2, 4, 6]
    last = found["calls"][-1]
    assert last["before"] == {"messages": 6, "tokens": 6}
    assert last["after"] == {"messages": 4, "tokens": 4}
    assert (last["fired"], last["evicted"], last["kept"]) == (True, 2, 4)
    assert last["same_prefix"] == {"messages": 2, "tokens": 2}
    lost = [(row["first_lost_at"], row["survives_from"]) for row in found["messages"]]
    assert lost == [(None, 0), (None, 0), (2, 6), (2, 5), (None, 4), (None, 0)]
    assert found["totals"]["first_eviction"] == 2
    plan = json.loads(printed(capsys, "plan", chat, *OPTIONS, "--json"))
    assert {key: last[key] for key in ("before", "after", "kept", "evicted")} == {
        key: plan["totals"][key] for key in ("before", "after", "kept", "evicted")
    }
    assert [found[key] for key in ("policy", "counter", "budget")] == [
        plan[key] for key in ("policy", "counter", "budget")
    ]


def test_csv_holds_the_same_numbers(chat: str, capsys: pytest.CaptureFixture[str]) -> None:
    rows = list(csv.DictReader(io.StringIO(printed(capsys, "replay", chat, *OPTIONS, "--csv"))))
    calls = json.loads(printed(capsys, "replay", chat, *OPTIONS, "--json"))["calls"]
    for row, call in zip(rows, calls, strict=True):
        assert row["after.tokens"] == str(call["after"]["tokens"])
        assert row["same_prefix.messages"] == str(call["same_prefix"]["messages"])
        assert row["why"] == call["why"]


def test_text_says_when_the_policy_acted_and_what_it_comes_to(
    chat: str, capsys: pytest.CaptureFixture[str]
) -> None:
    text = printed(capsys, "replay", chat, *OPTIONS)
    assert "▼ 2 tokens over the budget of 4." in text
    assert "first loss   at call 2" in text
    assert "peak         4 tokens (exact), 100.0% of the budget" in text


def test_python_and_the_command_line_agree(chat: str, capsys: pytest.CaptureFixture[str]) -> None:
    calls = json.loads(printed(capsys, "replay", chat, *OPTIONS, "--json"))["calls"]
    found = replay(load(chat), counter="unit", budget=4)
    assert found.after.tolist() == [row["after"]["tokens"] for row in calls]


def test_text_is_either_json_or_csv(chat: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as error:
        main(["replay", chat, "--json", "--csv"])
    assert error.value.code == 2
    assert "not allowed with" in capsys.readouterr().err
