"""SQLite databases: read from a copy, whatever state they are in; logs.db of the tool llm."""

from __future__ import annotations

import random
import sqlite3
from collections.abc import Iterable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from stm_inspector.conversation.edit import Edit
from stm_inspector.conversation.errors import InputError
from stm_inspector.conversation.model import Conversation, PartKind, Usage
from stm_inspector.formats import open_file, write
from stm_inspector.formats.document import read_document

from .helpers import kinds, texts

OLD: dict[str, tuple[str, list[tuple[Any, ...]]]] = {
    "_llm_migrations": ("name", []),
    "conversations": ("id, name, model", [("c", "N", "claude-x")]),
    "responses": (
        "id, model, prompt, system, response, conversation_id, input_tokens, output_tokens, "
        "token_details",
        [
            ("r1", "claude-x", "ask", "old", "", "c", 9, 1, '{"cached_tokens": 4}'),
            ("r2", "claude-x", "", "new", "done", "c", None, None, None),
            ("r3", "m", "alone", None, "yes", None, None, None, None),
        ],
    ),
    "tool_calls": ("response_id, name, arguments, tool_call_id", [("r1", "f", '{"a": 1}', "1")]),
    "tool_results": (
        "response_id, name, output, tool_call_id, exception",
        [("r2", "f", "boom", "1", "ValueError")],
    ),
    "fragments": ("id, content", [(1, "a fragment")]),
    "prompt_fragments": ('response_id, fragment_id, "order"', [("r1", 1, 0)]),
    "attachments": (
        "id, type, path, url, content",
        [
            ("a", "image/png", None, None, b"\x89PNG\r\n\x1a\n" + bytes(20)),
            ("b", "application/pdf", None, "https://example.org/b.pdf", None),
        ],
    ),
    "prompt_attachments": (
        'response_id, attachment_id, "order"',
        [("r1", "b", 1), ("r1", "a", 0), ("r1", "gone", 2)],
    ),
}


def made(path: Path, content: dict[str, tuple[str, list[tuple[Any, ...]]]] = OLD) -> Path:
    """A database with these tables: name -> (columns, rows)."""
    with closing(sqlite3.connect(path)) as connection, connection:
        for name, (columns, rows) in content.items():
            connection.execute(f"CREATE TABLE {name} ({columns})")
            marks = ", ".join("?" * len(columns.split(",")))
            connection.executemany(f"INSERT INTO {name} VALUES ({marks})", rows)
    return path


def titled(path: Path, title: str) -> Conversation:
    recording = open_file(path)
    (number,) = [entry.number for entry in recording.entries if entry.title == title]
    return recording.load(number)


def test_results_of_the_older_schema_answer_the_response_before(tmp_path: Path) -> None:
    conversation = titled(made(tmp_path / "logs.db"), "N")
    assert [message.source_role for message in conversation.messages] == [
        "system",
        "prompt",
        "response",
        "tool_results",
        "response",
    ]
    assert conversation.structure.groups == ((2, 3),)
    assert conversation.messages[3].parts[0].is_error
    assert conversation.messages[2].usage == Usage(9, 1, 4)
    assert conversation.messages[4].usage is None
    assert texts(conversation)[0] == "new"
    assert "1 other system prompt" in conversation.origin.notes[-1]
    assert conversation.api == "anthropic-messages"


def test_fragments_and_attachments_stand_with_their_prompt(tmp_path: Path) -> None:
    prompt = titled(made(tmp_path / "logs.db"), "N").messages[1]
    assert kinds(prompt) == [
        PartKind.TEXT,
        PartKind.IMAGE,
        PartKind.DOCUMENT,
        PartKind.OPAQUE,
    ]
    assert prompt.parts[0].text == "a fragment\nask"
    assert [bool(part.hidden) for part in prompt.parts] == [False, False, True, True]


def test_response_without_a_conversation_is_one_of_its_own(tmp_path: Path) -> None:
    assert texts(titled(made(tmp_path / "logs.db"), "alone")) == ["alone", "yes"]


def newer(parts: Iterable[tuple[Any, ...]]) -> dict[str, tuple[str, list[tuple[Any, ...]]]]:
    return {
        "_llm_migrations": ("name", []),
        "messages": (
            "hash, parent_hash, role",
            [("1", None, "user"), ("2", "1", "assistant"), ("3", "1", "assistant")],
        ),
        "parts": ("message_hash, position, type, tool_name, text, payload", list(parts)),
        "threads": (
            "id, name, tip_message_hash, forked_from",
            [("t", "T", "2", None), ("u", "U", "3", "t"), ("v", "V", "gone", None)],
        ),
        "turns": ("id, thread_id, tip_message_hash, model", [("x", "t", "2", "m")]),
    }


def test_threads_of_the_newer_schema_share_their_beginning(tmp_path: Path) -> None:
    parts = [
        ("1", 0, "text", None, "hi", None),
        (
            "2",
            1,
            "tool_call",
            "f",
            None,
            '{"name": "f", "arguments": {"a": 1}, "tool_call_id": "c"}',
        ),
        ("2", 0, "reasoning", None, "hm", None),
        ("3", 0, "unheard-of", None, "x", "not json"),
    ]
    path = made(tmp_path / "logs.db", newer(parts))
    assert len(open_file(path).entries) == 2
    first, fork = titled(path, "T"), titled(path, "U")
    assert texts(first) == ["hi", 'hm|{"a": 1}']
    assert first.messages[1].model == "m"
    assert kinds(fork.messages[1]) == [PartKind.OPAQUE]


def test_nothing_is_made_beside_the_file_and_the_newest_rows_are_read(tmp_path: Path) -> None:
    path = made(tmp_path / "logs.db")
    with closing(sqlite3.connect(path)) as writer:
        writer.execute("PRAGMA journal_mode = WAL")
        writer.execute("PRAGMA wal_autocheckpoint = 0")
        writer.execute("INSERT INTO responses (id, prompt, response) VALUES ('r4', 'late', 'ok')")
        writer.commit()
        before = {item.name: item.read_bytes() for item in tmp_path.iterdir()}
        assert "logs.db-wal" in before
        assert texts(titled(path, "late")) == ["late", "ok"]
        assert {item.name: item.read_bytes() for item in tmp_path.iterdir()} == before


def test_search_indexes_and_views_are_not_read(tmp_path: Path) -> None:
    path = made(tmp_path / "logs.db")
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("CREATE VIRTUAL TABLE found USING fts5(text)")
        connection.execute("CREATE VIEW bad AS SELECT load_extension('x') AS y")
    assert set(read_document(path).records[0].value["sqlite"]) == set(OLD)


def test_database_of_something_else_is_refused(tmp_path: Path) -> None:
    path = made(tmp_path / "x.db", {"things": ("a", [(1,)])})
    with pytest.raises(InputError, match="none that is known here"):
        open_file(path)


def test_damaged_databases_give_a_sentence_or_a_conversation(tmp_path: Path) -> None:
    data = made(tmp_path / "whole.db").read_bytes()
    chance = random.Random(1)
    path = tmp_path / "damaged.db"
    for _ in range(60):
        at, length = chance.randrange(16, len(data)), chance.choice((1, 40, 5000))
        noise = chance.randbytes(min(length, len(data) - at))
        path.write_bytes(chance.choice((data[:at], data[:at] + noise + data[at + len(noise) :])))
        refusal = ""
        try:
            conversation = open_file(path).load()
        except InputError as error:
            refusal = str(error)
        if refusal:
            assert refusal.endswith(".")
            assert "\n" not in refusal
        else:
            write(conversation, Edit(range(len(conversation.messages))))
