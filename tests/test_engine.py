"""The Python interface, and that it plans what the command line plans."""

from __future__ import annotations

import json
import os
import stat
from pathlib import Path

import pytest

import stm_inspector
from stm_inspector import export, load, make_plan
from stm_inspector.buffer.plan import Verdict
from stm_inspector.buffer.settings import SettingError
from stm_inspector.cli import main
from stm_inspector.conversation.errors import InputError
from stm_inspector.engine import count, export_text, make_settings, report, write_beside

MESSAGES = [{"role": "system", "content": "Be brief."}] + [
    {"role": ("user", "assistant")[number % 2], "content": f"message {number} " * 20}
    for number in range(9)
]


@pytest.fixture
def chat(tmp_path: Path) -> Path:
    path = tmp_path / "chat.json"
    path.write_text(json.dumps(MESSAGES))
    return path


def test_example_of_the_readme(chat: Path, tmp_path: Path) -> None:
    conversation = load(chat)
    plan = make_plan(conversation, policy="token-budget", budget=300)
    out = tmp_path / "trimmed.json"
    export(conversation, plan, out)
    kept = [index for index in range(10) if plan.decision.verdicts[index] == Verdict.KEEP]
    assert json.loads(out.read_text()) == [MESSAGES[index] for index in kept]
    assert 0 < len(kept) < 10
    assert plan.totals.after.tokens <= 300


@pytest.mark.parametrize(
    ("words", "options"),
    [
        ([], {}),
        (["--budget", "300"], {"budget": 300}),
        (
            [
                "--policy",
                "summary",
                "--set",
                "keep_recent=2",
                "--budget",
                "300",
                "--watermark",
                "0.5",
            ],
            {
                "policy": "summary",
                "settings": {"keep_recent": 2},
                "budget": 300,
                "watermark": 0.5,
            },
        ),
        (
            [
                "--policy",
                "sliding-window",
                "--set",
                "max_messages=3",
                "--set",
                "protect=",
                "--pin",
                "2",
            ],
            {
                "policy": "sliding-window",
                "settings": {"max_messages": 3, "protect": frozenset()},
                "pins": [2],
            },
        ),
        (
            ["--model", "gpt-4", "--safety", "0", "--tool-headroom", "0", "--at", "2"],
            {"model": "gpt-4", "safety": 0, "tool_headroom": 0, "call": 2},
        ),
        (["--counter", "unit", "--budget", "5"], {"counter": "unit", "budget": 5}),
    ],
)
def test_same_plan_as_the_command_line(words: list[str], options: dict, chat: Path, capsys) -> None:
    assert main(["plan", str(chat), "--json", *words]) == 0
    printed = json.loads(capsys.readouterr().out)
    conversation = load(chat)
    plan = make_plan(conversation, **options)
    counter, model = options.pop("counter", "auto"), options.get("model")
    counts = count(conversation, counter, model=model)
    assert report(conversation, plan, counts, make_settings(**options)) == printed


def test_plan_is_the_same_twice(chat: Path) -> None:
    conversation = load(chat)
    first, second = (make_plan(conversation, "summary", budget=300) for _ in range(2))
    assert first.totals == second.totals
    assert first.decision.inserted == second.decision.inserted
    assert (first.decision.verdicts == second.decision.verdicts).all()


@pytest.mark.parametrize(
    "options",
    [
        {"policy": "oldest-first"},
        {"settings": {"unheard_of": 1}},
        {"model": "gpt-nought"},
        {"budget": 100, "window": 1000},
        {"budget": -1},
        {"reply": -1},
        {"pins": [10]},
        {"pins": [-1]},
        {"marks": {99: True}},
        {"call": 99},
    ],
)
def test_senseless_settings_are_refused(options: dict, chat: Path) -> None:
    with pytest.raises(SettingError):
        make_plan(load(chat), **options)


def test_unknown_counter_and_format_are_refused(chat: Path) -> None:
    with pytest.raises(InputError, match="abacus"):
        make_plan(load(chat), counter="abacus")
    with pytest.raises(InputError, match="xml"):
        load(chat, format="xml")


def test_export_never_replaces_the_recording(chat: Path) -> None:
    conversation = load(chat)
    before = chat.read_bytes()
    with pytest.raises(InputError, match="never overwritten"):
        export(conversation, make_plan(conversation), chat)
    assert chat.read_bytes() == before


def test_failed_export_leaves_what_was_there(chat: Path, tmp_path: Path, monkeypatch) -> None:
    conversation = load(chat)
    out = tmp_path / "out.json"
    out.write_text("old")

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    with pytest.raises(InputError, match="No space left"):
        export(conversation, make_plan(conversation), out)
    assert out.read_text() == "old"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["chat.json", "out.json"]


@pytest.mark.skipif(os.name == "nt", reason="a question of Unix permissions and pipes")
def test_written_file_follows_umask_link_and_pipe(tmp_path: Path) -> None:
    before = os.umask(0o027)
    try:
        write_beside(tmp_path / "new.json", "[]")
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "new.json").stat().st_mode) == 0o640
    link = tmp_path / "link.json"
    link.symlink_to("new.json")
    write_beside(link, "[1]")
    assert link.is_symlink()
    assert (tmp_path / "new.json").read_text() == "[1]"
    write_beside("/dev/null", "[2]")
    assert not Path("/dev/null").is_file()


def test_lone_surrogate_leaves_as_the_escape_it_came_as(tmp_path: Path) -> None:
    source = tmp_path / "odd.json"
    source.write_text('[{"role": "user", "content": "half \\ud83d of it"}]')
    conversation = load(source)
    plan = make_plan(conversation)
    assert json.loads(export_text(conversation, plan).text) == json.loads(source.read_text())
    write_beside(tmp_path / "raw.json", json.dumps("\ud83d", ensure_ascii=False))
    assert json.loads((tmp_path / "raw.json").read_bytes()) == "\ud83d"


def test_package_offers_three_names_and_no_more() -> None:
    assert set(stm_inspector.__all__) == {"load", "make_plan", "export"}
    with pytest.raises(AttributeError):
        _ = stm_inspector.unheard_of


def test_export_converts_to_another_api(chat: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.json"
    conversation = load(chat)
    losses = export(conversation, make_plan(conversation), out, "anthropic-messages")
    again = load(out)
    assert again.format == "anthropic-messages"
    assert all(loss.endswith(".") for loss in losses)
    said = [part.text for message in conversation.messages for part in message.parts if part.text]
    assert [part.text for message in again.messages for part in message.parts if part.text] == said
