"""Inspect: logs as JSON and as zips. See formats.md section 13."""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path
from typing import Any

import pytest

from stm_inspector.conversation.errors import InputError
from stm_inspector.conversation.model import Conversation, PartKind
from stm_inspector.formats import archive

from .helpers import kinds, loaded, opened, texts

if sys.version_info >= (3, 14):
    import zipfile
else:
    from backports.zstd import zipfile

KEY = "0123456789abcdef0123456789abcdef"
CALL = {"id": "c", "function": "add", "arguments": {"x": 1}, "type": "function"}
POOL: list[dict[str, Any]] = [
    {"role": "system", "content": "be"},
    {"role": "user", "content": f"attachment://{KEY}"},
    {"role": "assistant", "content": "", "tool_calls": [CALL]},
    {
        "role": "tool",
        "tool_call_id": "c",
        "function": "add",
        "content": "",
        "error": {"type": "parsing", "message": "x is no integer"},
    },
]
ANSWER = {"role": "assistant", "content": [{"type": "reasoning", "reasoning": "hm"}, "two"]}
USAGE = {"input_tokens": 5, "output_tokens": 2, "input_tokens_cache_read": 3}


def model_event(refs: list[list[int]], **members: Any) -> dict[str, Any]:
    output = {"model": "claude-x", "choices": [{"message": ANSWER}], "usage": USAGE}
    tools = [{"name": "add", "parameters": {}}]
    told = {"event": "model", "input": [], "input_refs": refs, "tools": tools, "output": output}
    return told | members


def sample(id: int = 1, **members: Any) -> dict[str, Any]:
    return {
        "id": id,
        "epoch": 1,
        "messages": POOL,
        "events": [{"event": "state"}, model_event([[0, 2]]), model_event([[0, 1], [1, 4]])],
        "events_data": {"messages": POOL},
        "attachments": {KEY: "the long text"},
        **members,
    }


HEAD = {"version": 2, "status": "success", "eval": {"model": "anthropic/claude-x"}}


def zipped(members: dict[str, Any], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", method) as written:
        for name, value in members.items():
            written.writestr(name, value if isinstance(value, str | bytes) else json.dumps(value))
    return stream.getvalue()


def notes(conversation: Conversation) -> str:
    return " ".join(conversation.origin.notes)


def test_each_call_is_a_window_and_the_longest_comes_first(tmp_path: Path) -> None:
    recording = opened({**HEAD, "samples": [sample(1), sample(2, events=[])]}, tmp_path)
    assert recording.format == "inspect-ai"
    assert [entry.messages for entry in recording.entries] == [4, 4, 6, 4]
    assert recording.default == 2
    window = recording.load()
    assert window.api == "anthropic-messages"
    assert window.messages[0].source_field == "tools"
    assert kinds(window.messages[-1]) == [PartKind.THINKING, PartKind.TEXT]
    usage = window.messages[-1].usage
    assert usage is not None
    assert (usage.input, usage.cache_read) == (8, 3)


def test_attachments_are_put_in_place(tmp_path: Path) -> None:
    whole = loaded({**HEAD, "samples": [sample(events=[])]}, tmp_path)
    assert "the long text" in texts(whole)
    without = loaded({**HEAD, "samples": [sample(events=[], attachments={})]}, tmp_path)
    assert f"attachment://{KEY}" in texts(without)
    assert "1 attachment not in the log" in notes(without)


def test_error_of_a_tool_is_its_result(tmp_path: Path) -> None:
    failed = loaded({**HEAD, "samples": [sample(events=[])]}, tmp_path).messages[3].parts[0]
    assert (failed.is_error, failed.text, failed.name) == (True, "x is no integer", "add")


@pytest.mark.parametrize("method", [zipfile.ZIP_DEFLATED, 93])
def test_zip_is_read_like_the_json_of_the_same_log(method: int, tmp_path: Path) -> None:
    members = {"header.json": HEAD, "samples/1_epoch_1.json": sample()}
    from_zip = opened(zipped(members, method), tmp_path, "log.eval")
    from_json = opened({**HEAD, "samples": [sample()]}, tmp_path)
    assert from_zip.format == "inspect-ai"
    assert [entry.title for entry in from_zip.entries] == [e.title for e in from_json.entries]
    assert from_zip.load().messages == from_json.load().messages


def test_unfinished_zip_has_a_journal_alone(tmp_path: Path) -> None:
    start = {"version": 2, "eval": HEAD["eval"], "plan": {}}
    begun = {"_journal/start.json": start, "samples/1_epoch_1.json": sample()}
    assert opened(zipped(begun), tmp_path, "log.eval").format == "inspect-ai"
    with pytest.raises(InputError, match="no sample with messages: open it again"):
        opened(zipped({"_journal/start.json": start}), tmp_path, "log.eval")


def test_sample_that_is_written_in_pieces(tmp_path: Path) -> None:
    members = {
        "header.json": HEAD,
        "samples/1_epoch_1/sample.json": {"id": 1, "epoch": 1},
        "samples/1_epoch_1/messages/10.json": POOL[2:],
        "samples/1_epoch_1/messages/2.json": POOL[1:2],
        "samples/1_epoch_1/messages/1.json": POOL[:1],
    }
    recording = opened(zipped(members), tmp_path, "log.eval")
    roles = [message.role.value for message in recording.load().messages]
    assert roles == ["system", "user", "assistant", "tool"]


def test_other_zip_and_damaged_zip_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="is a zip archive, but no log of Inspect"):
        opened(zipped({"readme.txt": "x"}), tmp_path, "a.zip")
    whole = zipped({"header.json": HEAD, "samples/1_epoch_1.json": sample()})
    for damaged in (whole[: len(whole) // 2], whole[:60] + bytes(200) + whole[260:]):
        with pytest.raises(InputError, match=r"a\.eval .*\.$"):
            opened(damaged, tmp_path, "a.eval")


def test_bombs_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archive, "MAX_UNPACKED", 1 << 20)
    bomb = zipped({"header.json": HEAD, "samples/1_epoch_1.json": " " * (2 << 20)})
    assert len(bomb) < 5000
    with pytest.raises(InputError, match=r"unpacks to more than 1 MiB: unpack it"):
        opened(bomb, tmp_path, "a.eval")
    monkeypatch.setattr(archive, "MAX_MEMBERS", 3)
    many = zipped({"header.json": HEAD, **{f"samples/{n}_epoch_1.json": {} for n in range(9)}})
    with pytest.raises(InputError, match=r"has 10 members \(at most 3\)"):
        opened(many, tmp_path, "a.eval")
