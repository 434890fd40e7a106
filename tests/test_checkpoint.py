"""Checkpoints: there and back, on another machine, and what is wrong with a bad one."""

from __future__ import annotations

import dataclasses
import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from stm_inspector.buffer.budget import Budget
from stm_inspector.buffer.settings import Settings
from stm_inspector.checkpoint import Checkpoint, is_checkpoint, load_checkpoint, save_checkpoint
from stm_inspector.cli import main
from stm_inspector.conversation.errors import InputError

CHAT = [
    {"role": "user", "content": "Name the task."},
    {"role": "assistant", "content": "It is named."},
    {"role": "user", "content": "And the next?"},
    {"role": "assistant", "content": "Named as well."},
    {"role": "user", "content": "Thanks."},
]
SETTINGS = Settings(
    policy="head-tail",
    options={"max_messages": 2, "locks": False},
    budget=Budget(fixed=400),
    target=0.5,
    pins=frozenset({1}),
    marks={2: True},
    call=1,
)


@pytest.fixture
def saved(tmp_path: Path) -> Path:
    chat = tmp_path / "here" / "chat.json"
    chat.parent.mkdir()
    chat.write_text(json.dumps(CHAT), "utf-8")
    path = chat.with_name("mine.stm.json")
    save_checkpoint(path, Checkpoint(str(chat), "openai-chat", 0, SETTINGS, "unit", None, 3))
    return path


def test_a_checkpoint_is_read_as_it_was_saved(saved: Path) -> None:
    found = load_checkpoint(saved)
    options = {**found.settings.options}
    assert (options.pop("max_messages"), options.pop("locks")) == (2, False)
    assert options.pop("protect") == ["system", "anchor", "current"]
    plain = dataclasses.replace(found.settings, options=SETTINGS.options)
    assert plain == SETTINGS
    assert (found.counter, found.model, found.selection, found.number) == ("unit", None, 3, 0)
    assert Path(found.file) == saved.parent / "chat.json"
    assert is_checkpoint(saved)
    assert not is_checkpoint(saved.with_name("chat.json"))
    assert not is_checkpoint(saved.with_name("nothing"))


def test_it_moves_with_its_transcript(saved: Path, tmp_path: Path) -> None:
    other = tmp_path / "elsewhere"
    shutil.move(saved.parent, other)
    assert Path(load_checkpoint(other / saved.name).file) == other / "chat.json"


@pytest.mark.parametrize("stored", ["/nowhere/chat.json", r"C:\logs\chat.json"])
def test_a_transcript_of_another_machine_is_found_beside_it(saved: Path, stored: str) -> None:
    change(saved, file=stored)
    assert Path(load_checkpoint(saved).file) == saved.parent / "chat.json"


def change(path: Path, **values: Any) -> None:
    path.write_text(json.dumps({**json.loads(path.read_text()), **values}), "utf-8")


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"version": 2}, "a later version"),
        ({"settings": None}, "damaged checkpoint"),
        ({"settings": {"policy": "no-such"}}, "damaged checkpoint"),
        ({"conversation": -1}, "damaged checkpoint"),
        ({"file": "gone.json"}, "is not there: put it beside"),
        ({"sha256": "0" * 64}, "has changed since mine.stm.json was saved"),
    ],
)
def test_a_bad_checkpoint_is_one_sentence(
    saved: Path, values: dict[str, Any], words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    change(saved, **values)
    with pytest.raises(InputError, match=words) as error:
        load_checkpoint(saved)
    assert str(error.value).count("\n") == 0
    assert main(["plan", str(saved)]) == 1
    assert capsys.readouterr().err.count("\n") == 1


def test_a_truncated_checkpoint_is_damaged(saved: Path) -> None:
    saved.write_text(saved.read_text()[:200], "utf-8")
    with pytest.raises(InputError, match="damaged checkpoint"):
        load_checkpoint(saved)


def test_the_command_line_plans_it_like_the_file(
    saved: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["plan", str(saved), "--json"]) == 0
    by_checkpoint = json.loads(capsys.readouterr().out)
    words = "--policy head-tail --set max_messages=2 --set locks=no --budget 400 --target 0.5"
    options = [*words.split(), "--pin", "1", "--at", "1", "--counter", "unit"]
    assert main(["plan", str(saved.with_name("chat.json")), "--json", *options]) == 0
    by_hand = json.loads(capsys.readouterr().out)
    # The mark has no option of its own.
    assert by_checkpoint["messages"][2].pop("zone") == "retrieved"
    by_hand["messages"][2].pop("zone")
    assert by_checkpoint == by_hand


def test_of_the_options_only_the_call_goes_with_it(
    saved: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["plan", str(saved), "--at", "0", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["totals"]["before"]["messages"] == 1
    assert main(["plan", str(saved), "--budget", "9"]) == 2
    assert "which has its own settings" in capsys.readouterr().err


def test_it_never_replaces_its_transcript(saved: Path) -> None:
    checkpoint = load_checkpoint(saved)
    with pytest.raises(InputError, match="never overwritten"):
        save_checkpoint(checkpoint.file, checkpoint)
