"""The command line as a user meets it: what it prints, what it refuses, with which exit code."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from stm_inspector.cli import main
from stm_inspector.tokens.counters import counter_ids

CHAT = [
    {"role": "system", "content": "Be brief."},
    {"role": "user", "content": "What is the weather in Boston and in Rome?"},
    {
        "role": "assistant",
        "content": None,
        "tool_calls": [
            {
                "id": f"call_{city}",
                "type": "function",
                "function": {"name": "weather", "arguments": json.dumps({"city": city})},
            }
            for city in ("boston", "rome")
        ],
    },
    {"role": "tool", "tool_call_id": "call_boston", "content": "22 C, clear"},
    {"role": "tool", "tool_call_id": "call_rome", "content": "31 C, sunny"},
    {"role": "assistant", "content": "22 C in Boston, 31 C in Rome."},
    {"role": "user", "content": "Thanks. And in Oslo?"},
]
NAIVE = ["--policy", "sliding-window", "--set", "protect=", "--set", "locks=false"]


@pytest.fixture
def chat(tmp_path: Path) -> Path:
    path = tmp_path / "chat.json"
    path.write_text(json.dumps({"model": "gpt-4o", "messages": CHAT}))
    return path


def run(*words: str | Path) -> int:
    """The exit code, whichever way the program ends."""
    try:
        return main([str(word) for word in words])
    except SystemExit as end:
        return int(end.code or 0)


def complaint(capsys: pytest.CaptureFixture[str]) -> str:
    """The one sentence on the error stream; nothing else may be printed anywhere."""
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("stm-inspector")
    assert err.count("\n") == 1
    assert "Traceback" not in err
    return err


def planned(capsys: pytest.CaptureFixture[str], *words: str | Path) -> dict:
    assert run("plan", *words, "--json") == 0
    out, err = capsys.readouterr()
    assert err == ""
    return json.loads(out)


def test_json_has_exactly_the_documented_shape(chat: Path, capsys) -> None:
    plan = planned(capsys, chat, "--budget", "40", *NAIVE[:2], "--set", "max_messages=3")
    assert list(plan) == [
        "format",
        "source",
        "policy",
        "counter",
        "budget",
        "totals",
        "messages",
        "inserted",
        "problems",
    ]
    assert plan["source"] == {"messages": 7, "skipped": []}
    assert list(plan["policy"]) == ["id", "settings", "basis", "emulates"]
    assert plan["counter"] == {"id": "tiktoken:o200k_base", "exactness": "estimate"}
    assert list(plan["budget"]) == [
        "window",
        "reply",
        "safety",
        "tool_headroom",
        "input",
        "watermark",
        "target",
    ]
    assert list(plan["totals"]) == [
        "before",
        "after",
        "kept",
        "evicted",
        "cleared",
        "truncated",
        "summarised",
        "over_budget",
    ]
    assert list(plan["messages"][0]) == [
        "index",
        "role",
        "zone",
        "turn",
        "tokens",
        "verdict",
        "reason",
        "group",
        "pinned",
    ]
    assert plan["messages"][0]["turn"] is None
    assert plan["messages"][3]["group"] == [2, 3, 4]
    assert plan["messages"][1]["verdict"] == "evict"
    assert list(plan["problems"][0]) == ["rule", "severity", "index", "text"]


def test_tool_definitions_come_first_and_say_where_they_stand(tmp_path: Path, capsys) -> None:
    tool = {"type": "function", "function": {"name": "weather", "parameters": {"type": "object"}}}
    path = tmp_path / "body.json"
    path.write_text(json.dumps({"model": "gpt-4o", "tools": [tool], "messages": CHAT}))
    first, second, *_ = planned(capsys, path)["messages"]
    assert first["source_field"] == "tools"
    assert "source_field" not in second


def test_default_budget_is_the_documented_sum(chat: Path, capsys) -> None:
    budget = planned(capsys, chat)["budget"]
    assert budget == {
        "window": 200_000,
        "reply": 4096,
        "safety": 2048,
        "tool_headroom": 8192,
        "input": 185_664,
        "watermark": None,
        "target": None,
    }


def test_options_reach_the_plan(chat: Path, capsys) -> None:
    plan = planned(
        capsys,
        chat,
        *("--policy", "summary", "--set", "keep_recent=2", "--watermark", "0.5"),
        *("--window", "1_000", "--reply", "100", "--safety", "50", "--tool-headroom", "0"),
        *("--counter", "unit", "--pin", "3"),
    )
    assert plan["budget"]["input"] == 850
    assert plan["budget"]["watermark"] == 0.5
    assert plan["policy"]["settings"]["keep_recent"] == 2
    assert plan["counter"] == {"id": "unit", "exactness": "exact"}
    assert [message["index"] for message in plan["messages"] if message["pinned"]] == [2, 3, 4]


def test_model_sets_the_window_unless_one_is_given(chat: Path, capsys) -> None:
    assert planned(capsys, chat, "--model", "gpt-4o")["budget"]["window"] == 128_000
    own = planned(capsys, chat, "--model", "gpt-4o", "--window", "9000")
    assert own["budget"]["window"] == 9000


def test_mark_that_the_policy_does_not_look_at_is_said_to_be_idle(chat: Path, capsys) -> None:
    assert run("plan", chat, "--policy", "full", "--target", "0.3", "--json") == 0
    out, err = capsys.readouterr()
    assert json.loads(out)["budget"]["target"] == 0.3
    assert "--target changes nothing" in err


def test_earlier_call_covers_what_was_there_then(chat: Path, capsys) -> None:
    plan = planned(capsys, chat, "--at", "0")
    assert plan["source"]["messages"] == 7
    assert [message["index"] for message in plan["messages"]] == [0, 1]
    assert plan["problems"] == []


@pytest.mark.parametrize("counter", counter_ids())
def test_every_counter_counts(counter: str, chat: Path, capsys) -> None:
    assert planned(capsys, chat, "--counter", counter)["totals"]["before"]["tokens"] > 0


def test_problem_of_the_recording_is_told_apart(tmp_path: Path, capsys) -> None:
    path = tmp_path / "broken.json"
    path.write_text(
        json.dumps([message for message in CHAT if message["content"] != "31 C, sunny"])
    )
    (recorded,) = planned(capsys, path)["problems"]
    assert (recorded["rule"], recorded["index"]) == ("OC2", 2)
    assert recorded["text"].startswith("In the recording already: ")
    caused = planned(capsys, path, *NAIVE, "--set", "max_messages=3")["problems"]
    assert ("OC1", False) in {
        (problem["rule"], problem["text"].startswith("In the recording")) for problem in caused
    }


def test_text_shows_messages_totals_and_problems(chat: Path, capsys) -> None:
    assert run("plan", chat, *NAIVE, "--set", "max_messages=3", "--counter", "unit") == 0
    out, err = capsys.readouterr()
    assert err == ""
    assert "\x1b" not in out
    assert "7 → 3 messages · 7 → 3 tokens (exact)" in out
    rows = [line for line in out.splitlines() if line.startswith(("●", "○"))]
    assert [row[0] for row in rows] == ["○"] * 4 + ["●"] * 3
    assert "OC1 error · message 4" in out
    assert "W3 warning · message 1" in out


def test_terminal_never_gets_a_control_or_bidi_character(tmp_path: Path, capsys) -> None:
    path = tmp_path / "evil\x1b[2J.json"
    evil = "\x1b]0;owned\x07 \u202egnp.exe \x9b31m \ud800"
    path.write_text(json.dumps([{"role": "user", "content": evil, "name": evil}] * 2))
    assert run("plan", path, "--policy", "summary", "--budget", "1") == 0
    assert run("plan", tmp_path / "none\x1b[2J.json") == 1
    out, err = capsys.readouterr()
    forbidden = {"\x1b", "\x07", "\u202e", "\x9b", "\ud800"}
    assert not forbidden & set(out + err)
    assert "owned" in out


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--policy", "oldest"], "oldest"),
        (["--set", "size=3"], "size"),
        (["--set", "locks"], "KEY=VALUE"),
        (["--set", "locks=perhaps"], "locks"),
        (["--set", "protect=everything"], "protect"),
        (["--policy", "sliding-window", "--set", "max_messages=-1"], "max_messages"),
        (["--counter", "abacus"], "abacus"),
        (["--counter", "anthropic"], "not available"),
        (["--format", "xml"], "xml"),
        (["--model", "gpt-nought"], "gpt-nought"),
        (["--budget", "100", "--window", "200"], "window"),
        (["--budget", "100", "--reply", "200"], "reply"),
        (["--budget", "many"], "many"),
        (["--budget", "-5"], "-5"),
        (["--budget", "1e3"], "1e3"),
        (["--watermark", "nan"], "nan"),
        (["--watermark", "-0.5"], "-0.5"),
        (["--target", "0"], "0"),
        (["--pin", "7"], "7"),
        (["--at", "99"], "99"),
        (["--conversation", "1"], "1"),
        (["--nonsense"], "--nonsense"),
    ],
)
def test_wrong_usage_is_one_sentence_and_2(words: list[str], said: str, chat: Path, capsys) -> None:
    assert run("plan", chat, *words) == 2
    assert said in complaint(capsys)


@pytest.mark.parametrize(
    "words",
    [
        ["plan"],
        ["export"],
        ["shot"],
        ["export", "chat.json"],
        ["plan", "a", "b"],
        ["-x"],
        ["plan", ""],
    ],
)
def test_missing_and_surplus_words(words: list[str], capsys) -> None:
    assert run(*words) == 2
    complaint(capsys)


def test_mistyped_command_lists_the_commands(capsys) -> None:
    assert run("plna", "chat.json", "--budget", "5") == 2
    assert "policies" in complaint(capsys)


def _make(folder: Path, name: str) -> Path:
    path = folder / f"{name}.json"
    contents = {
        "empty": b"",
        "spaces": b" \n\n",
        "text": b"This is not JSON.\n",
        "number": b"42",
        "config": b'{"name": "app", "version": "1.0"}',
        "no messages": b'{"model": "gpt-4o", "messages": []}',
        "binary": bytes(range(256)) * 40,
        "deep": b"[" * 10_000 + b"]" * 10_000,
        "deep in a message": b'[{"role": "user", "content": '
        + b"[" * 10_000
        + b"]" * 10_000
        + b"}]",
    }
    if name == "folder":
        path.mkdir()
    elif name in contents:
        path.write_bytes(contents[name])
    return path


@pytest.mark.parametrize("command", ["plan", "export", "shot"])
@pytest.mark.parametrize(
    "name",
    [
        "absent",
        "folder",
        "empty",
        "spaces",
        "text",
        "number",
        "config",
        "no messages",
        "binary",
        "deep",
        "deep in a message",
    ],
)
def test_bad_input_is_one_sentence_and_1(command: str, name: str, tmp_path: Path, capsys) -> None:
    out = tmp_path / "out.png"
    more = [] if command == "plan" else ["-o", out]
    assert run(command, _make(tmp_path, name), *more) == 1
    said = complaint(capsys)
    assert name in said or "deep" in said
    assert not out.exists()


@pytest.mark.skipif(os.geteuid() == 0 if hasattr(os, "geteuid") else True, reason="root reads all")
def test_unreadable_file(chat: Path, capsys) -> None:
    chat.chmod(0)
    assert run("plan", chat) == 1
    complaint(capsys)


def test_awkward_values_are_read_not_refused(tmp_path: Path, capsys) -> None:
    path = tmp_path / "odd.json"
    path.write_text(
        '{"model": "gpt-4o", "temperature": NaN, "seed": 1' + "0" * 5000 + ", "
        '"messages": [{"role": "user", "content": "a", "content": "b", "n": 1e999}]}'
    )
    assert planned(capsys, path)["source"]["messages"] == 1


def test_cut_log_says_what_was_skipped(tmp_path: Path, capsys) -> None:
    path = tmp_path / "log.jsonl"
    lines = [json.dumps({"messages": CHAT}), '{"messages": [{"role": "us']
    path.write_text("\n".join(lines))
    skipped = planned(capsys, path)["source"]["skipped"]
    assert [item["line"] for item in skipped] == [2]
    assert run("plan", path) == 0
    assert "Skipped (1)" in capsys.readouterr().out


def test_export_holds_the_kept_messages_as_read(chat: Path, tmp_path: Path, capsys) -> None:
    out = tmp_path / "out.json"
    assert run("export", chat, "-o", out, "--policy", "head-tail", "--set", "max_messages=1") == 0
    assert json.loads(out.read_text())["messages"] == [CHAT[0], CHAT[1], CHAT[6]]
    assert "3 of 7 messages" in capsys.readouterr().err


def test_export_to_the_terminal_prints_nothing_else(chat: Path, capsys) -> None:
    assert run("export", chat, "-o", "-") == 0
    out, err = capsys.readouterr()
    assert json.loads(out)["messages"] == CHAT
    assert err == ""


def test_export_of_a_broken_buffer_needs_force(chat: Path, tmp_path: Path, capsys) -> None:
    out = tmp_path / "out.json"
    words = ["export", chat, "-o", out, *NAIVE, "--set", "max_messages=3"]
    assert run(*words) == 1
    printed = capsys.readouterr()
    assert not out.exists()
    assert "OC1 error · message 4" in printed.err
    assert "--force" in printed.err
    assert run(*words, "--force") == 0
    assert json.loads(out.read_text())["messages"] == CHAT[4:]


def test_export_asks_for_force_for_what_the_recording_breaks_too(tmp_path: Path, capsys) -> None:
    path, out = tmp_path / "broken.json", tmp_path / "out.json"
    path.write_text(json.dumps(CHAT[:3]))
    assert run("export", path, "-o", out) == 1
    said = capsys.readouterr().err
    assert "OC2" in said
    assert "1 error in the recording already" in said
    assert not out.exists()
    assert run("export", path, "-o", out, "--force") == 0
    assert json.loads(out.read_text()) == CHAT[:3]


def test_export_says_what_could_not_be_read(tmp_path: Path, capsys) -> None:
    path, out = tmp_path / "cut.jsonl", tmp_path / "out.jsonl"
    path.write_text("\n".join(json.dumps(message) for message in CHAT[:2]) + '\n{"role": "us')
    assert run("export", path, "-o", out) == 0
    assert "1 piece of" in capsys.readouterr().err


def test_export_never_replaces_the_recording(chat: Path, tmp_path: Path, capsys) -> None:
    before = chat.read_bytes()
    link = tmp_path / "link.json"
    link.symlink_to(chat)
    for out in (chat, link, chat.parent / "." / chat.name):
        assert run("export", chat, "-o", out, "--force") == 1
        assert "never overwritten" in complaint(capsys)
    assert chat.read_bytes() == before
    assert link.is_symlink()


def test_export_replaces_another_file_and_keeps_its_permissions(chat: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.json"
    out.write_text("old")
    out.chmod(0o640)
    assert run("export", chat, "-o", out) == 0
    assert json.loads(out.read_text())["messages"] == CHAT
    assert out.stat().st_mode & 0o777 == 0o640
    assert sorted(path.name for path in tmp_path.iterdir()) == ["chat.json", "out.json"]


@pytest.mark.parametrize("out", ["missing/out.json", "."])
def test_export_to_a_place_that_cannot_be_written(
    out: str, chat: Path, tmp_path: Path, capsys
) -> None:
    assert run("export", chat, "-o", tmp_path / out) == 1
    assert "cannot be written" in complaint(capsys)
    assert [path.name for path in tmp_path.iterdir()] == ["chat.json"]


def test_formats(capsys) -> None:
    assert run("formats", "--json") == 0
    listed = json.loads(capsys.readouterr().out)
    assert {"openai-chat", "anthropic-messages", "claude-code"} <= {entry["id"] for entry in listed}
    assert run("formats") == 0
    out = capsys.readouterr().out
    assert all(entry["title"] in out for entry in listed)


def test_policies(capsys) -> None:
    assert run("policies", "--json") == 0
    listed = {entry["id"]: entry for entry in json.loads(capsys.readouterr().out)}
    assert set(listed) >= {"full", "sliding-window", "head-tail", "token-budget", "summary"}
    assert list(listed["full"]) == ["id", "title", "basis", "emulates", "settings", "help"]
    (size,) = [item for item in listed["head-tail"]["settings"] if item["key"] == "max_messages"]
    assert list(size) == ["key", "type", "default", "unit", "help"]
    assert (size["type"], size["default"]) == ("int", 20)
    assert run("policies") == 0
    assert "max_messages=20" in capsys.readouterr().out


def test_models(capsys) -> None:
    assert run("models", "--json") == 0
    listed = json.loads(capsys.readouterr().out)
    assert all(model["window"] > 0 for model in listed)
    assert run("models") == 0
    assert len(capsys.readouterr().out.splitlines()) == len(listed) + 1


def test_help_and_version(capsys) -> None:
    assert run("--help") == 0
    assert "plan" in capsys.readouterr().out
    assert run("plan", "--help") == 0
    assert "--tool-headroom" in capsys.readouterr().out
    assert run("--version") == 0
    assert capsys.readouterr().out.startswith("stm-inspector")


def _start(*words: str, **environment: str) -> subprocess.Popen[str]:
    env = {key: value for key, value in os.environ.items() if "DISPLAY" not in key}
    return subprocess.Popen(
        [sys.executable, "-m", "stm_inspector", *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=env | environment,
        cwd=Path(__file__).parents[1],
    )


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="elsewhere there is a display")
def test_window_without_a_display_says_what_to_do_instead(chat: Path) -> None:
    process = _start(str(chat), QT_QPA_PLATFORM="")
    out, err = process.communicate(timeout=60)
    assert (process.returncode, out) == (1, "")
    assert "display" in err
    assert err.count("\n") == 1


def test_window_without_qt_says_what_to_do_instead(chat: Path, monkeypatch, capsys) -> None:
    monkeypatch.setitem(sys.modules, "PySide6.QtWidgets", None)
    assert run(chat) == 1
    assert "PySide6" in complaint(capsys)


def test_reader_that_stops_early_is_no_error(tmp_path: Path) -> None:
    path = tmp_path / "long.json"
    path.write_text(json.dumps([{"role": "user", "content": "word"}] * 20_000))
    with _start("plan", str(path)) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.readline()
        process.stdout.close()
        assert process.stderr.read() == ""
    assert process.returncode == 0


def test_interrupt(chat: Path, monkeypatch) -> None:
    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("stm_inspector.cli.open_file", interrupted)
    assert run("plan", chat) == 130


def test_list_shows_the_conversations_of_a_file(tmp_path: Path, capsys) -> None:
    path = tmp_path / "two.jsonl"
    bodies = [{"model": "gpt-4o", "messages": CHAT[:2]}, {"model": "gpt-4o", "messages": CHAT}]
    path.write_text("\n".join(map(json.dumps, bodies)))
    assert run("list", path) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 3
    assert lines[2].startswith("→  1")
    assert run("list", path, "--json") == 0
    assert [entry["messages"] for entry in json.loads(capsys.readouterr().out)] == [2, len(CHAT)]


def test_export_as_another_api_says_what_is_lost(chat: Path, tmp_path: Path, capsys) -> None:
    out = tmp_path / "out.json"
    assert run("export", chat, "-o", out, "--as", "gemini") == 0
    assert "contents" in json.loads(out.read_text())
    assert run("export", chat, "-o", out, "--as", "telegram") == 2
