"""LangGraph checkpoints. See formats.md section 7."""

from __future__ import annotations

import pickle
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from msgspec import msgpack

from stm_inspector.conversation.edit import Edit
from stm_inspector.conversation.errors import InputError
from stm_inspector.formats import open_file, write
from stm_inspector.formats.msgpack import unpacked

from .helpers import texts


def message(kind: str, content: str, **more: Any) -> msgpack.Ext:
    """A message as the saver packs it: module, class, members, the method that makes it."""
    name = {"human": "HumanMessage", "ai": "AIMessage", "tool": "ToolMessage"}[kind]
    members = {"type": kind, "content": content, **more}
    inside = ["langchain_core.messages", name, members, "model_validate_json"]
    return msgpack.Ext(5, msgpack.encode(inside))


def saved(tmp_path: Path, *rows: tuple[str, str, str | None, str, bytes]) -> Path:
    """A database with these checkpoints: thread, id, parent, kind, data."""
    path = tmp_path / "state.sqlite"
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(
            "CREATE TABLE checkpoints (thread_id TEXT, checkpoint_ns TEXT DEFAULT '', "
            "checkpoint_id TEXT, parent_checkpoint_id TEXT, type TEXT, checkpoint BLOB)"
        )
        connection.execute("CREATE TABLE writes (thread_id TEXT)")
        connection.executemany(
            "INSERT INTO checkpoints (thread_id, checkpoint_id, parent_checkpoint_id, type, "
            "checkpoint) VALUES (?, ?, ?, ?, ?)",
            rows,
        )
        connection.commit()
    return path


def state(*messages: Any) -> bytes:
    return msgpack.encode({"ts": "2026-01-01T00:00:00", "channel_values": {"messages": messages}})


CALL = {"name": "f", "args": {"a": 1}, "id": "c", "type": "tool_call"}
ASKED = message("human", "hi")
ANSWERED = (ASKED, message("ai", "", tool_calls=[CALL]), message("tool", "r", tool_call_id="c"))


def test_ends_of_threads_and_forks_come_first(tmp_path: Path) -> None:
    path = saved(
        tmp_path,
        ("t", "1", None, "msgpack", state(ASKED)),
        ("t", "2", "1", "msgpack", state(*ANSWERED)),
        ("t", "3", "1", "msgpack", state(ASKED, message("ai", "fork"))),
        ("u", "4", None, "msgpack", state(message("human", "other"))),
        ("u", "5", "4", "msgpack", state(message("human", "other"))),
    )
    recording = open_file(path)
    assert recording.format == "langgraph"
    assert [entry.title for entry in recording.entries] == [
        "thread u, checkpoint 5",
        "thread t, checkpoint 3",
        "thread t, checkpoint 2",
        "before: thread t, checkpoint 1",
    ]
    assert texts(recording.load(1)) == ["hi", "fork"]
    conversation = recording.load(2)
    assert conversation.messages[1].parts[0].text == '{"a": 1}'
    assert '"tool_call_id": "c"' in write(conversation, Edit(range(3)))
    assert not list(tmp_path.glob("*-*"))


def test_older_saver_wrote_json(tmp_path: Path) -> None:
    old = (
        b'{"channel_values": {"messages": [{"lc": 2, "type": "constructor", "id": '
        b'["langchain", "schema", "messages", "HumanMessage"], "kwargs": {"content": "yo"}}]}}'
    )
    assert texts(open_file(saved(tmp_path, ("t", "1", None, "json", old))).load()) == ["yo"]


class Bomb:
    """Does harm when it is unpickled."""

    def __reduce__(self) -> tuple[Any, tuple[str]]:
        return pytest.fail, ("pickled data was read",)


def test_pickled_data_is_never_read(tmp_path: Path) -> None:
    path = saved(tmp_path, ("t", "1", None, "pickle", pickle.dumps(Bomb())))
    with pytest.raises(InputError, match="holds 1 checkpoint and no messages in them"):
        open_file(path)


def test_damaged_state_is_passed_over(tmp_path: Path) -> None:
    path = saved(
        tmp_path,
        ("t", "1", None, "msgpack", state(ASKED)),
        ("t", "2", "1", "msgpack", state(*ANSWERED)[:-20]),
        ("t", "3", "2", "msgpack", b""),
    )
    assert [entry.messages for entry in open_file(path).entries] == [1]


def test_objects_become_data_and_nothing_is_imported() -> None:
    def ext(code: int, *told: Any) -> msgpack.Ext:
        return msgpack.Ext(code, msgpack.encode(list(told)))

    value = {
        "set": ext(0, "builtins", "set", [1, 2]),
        "harm": ext(0, "os", "system", "exit 1"),
        "nested": ext(5, "m", "C", {"content": ext(2, "m", "D", {"a": b"\x00"})}, "make"),
        "unknown": msgpack.Ext(99, b"\xc1"),
        7: b"\xff",
    }
    assert unpacked(msgpack.encode(value)) == {
        "set": {"class": "builtins.set", "value": [1, 2]},
        "harm": {"class": "os.system", "value": "exit 1"},
        "nested": {"content": {"class": "m.D", "value": {"a": {"base64": "AA=="}}}},
        "unknown": {"extension": 99, "value": {"base64": "wQ=="}},
        "7": {"base64": "/w=="},
    }
    with pytest.raises(ValueError, match="truncated"):
        unpacked(b"\x92\x01")
