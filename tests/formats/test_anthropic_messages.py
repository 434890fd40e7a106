"""Anthropic Messages as they are found in the wild."""

from __future__ import annotations

import base64
from pathlib import Path
from typing import Any

import pytest

from stm_inspector.conversation.model import Media, Part, PartKind, Role, Usage

from .helpers import kinds, lines, loaded, opened, texts
from .pictures import PDF, PNG, PNG_BASE64

USER = {"role": "user", "content": "hi"}
MARK = {"type": "ephemeral"}


def body(*messages: dict[str, Any], **members: Any) -> dict[str, Any]:
    """A request that nothing but Anthropic's API would take."""
    return {"model": "claude-sonnet-4-5", "max_tokens": 9, "messages": list(messages), **members}


def parts_of(tmp_path: Path, *content: Any, role: str = "assistant") -> tuple[Part, ...]:
    """The parts of one message that follows a user's."""
    return loaded(body(USER, {"role": role, "content": content}), tmp_path).messages[1].parts


def test_system_then_tools_come_first(tmp_path: Path) -> None:
    system = [{"type": "text", "text": "a"}, {"type": "text", "text": "b", "cache_control": MARK}]
    tools = [
        {"name": "f", "input_schema": {"type": "object"}},
        {"name": "web_search", "type": "web_search_20250305", "cache_control": MARK},
    ]
    conversation = loaded(body(USER, tools=tools, system=system), tmp_path)
    first, second, third = conversation.messages
    assert (first.source_field, second.source_field) == ("system", "tools")
    assert {first.role, second.role} == {Role.SYSTEM}
    assert [(part.text, part.cache_marker) for part in first.parts] == [("a", False), ("b", True)]
    assert [(p.name, p.server, p.cache_marker) for p in second.parts] == [
        ("f", False, False),
        ("web_search", True, True),
    ]
    assert third.source_field is None
    assert (conversation.format, conversation.api) == ("anthropic-messages",) * 2


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (body(USER, tools=[{"name": "f", "input_schema": {}}]), "tools with an input_schema"),
        (body(USER, tools=[{"name": "b", "type": "bash_20250124"}]), "type bash_20250124"),
        (body(USER, system="x"), "system beside the messages"),
        (body(USER), "plain texts for the model claude-sonnet-4-5"),
        ([{"role": "user", "content": [{"type": "image", "source": {}}]}], "image blocks"),
        ([USER, {"role": "user", "content": [{"type": "tool_result"}]}], "type tool_result"),
        ({"request": {"url": "https://a/v1/messages", "body": {"messages": [USER]}},
          "response": {"body": {}}}, "went to /v1/messages"),
    ],
)  # fmt: skip
def test_signature(value: Any, said: str, tmp_path: Path) -> None:
    recording = opened(value, tmp_path)
    assert recording.format == "anthropic-messages"
    assert said in recording.signature


@pytest.mark.parametrize(
    "value",
    [
        {"model": "anthropic/claude-sonnet-4", "messages": [USER]},
        {"model": "claude-x", "messages": [USER], "tools": [{"function": {"name": "f"}}]},
        {"model": "claude-x", "messages": [USER, {"role": "tool", "content": "x"}]},
        {"model": "claude-x", "messages": [{"role": "system", "content": "x"}, USER]},
        {"model": "claude-x", "messages": [USER], "max_completion_tokens": 9},
        {"request": {"url": "https://a/v1/chat/completions", "body": {
            "model": "claude-x", "messages": [USER]}}, "response": {"body": {}}},
        [USER],
    ],
)  # fmt: skip
def test_signs_of_the_other_api_win(value: Any, tmp_path: Path) -> None:
    assert opened(value, tmp_path).format == "openai-chat"


def test_calls_and_parallel_results(tmp_path: Path) -> None:
    calls = [{"type": "tool_use", "id": id, "name": "f", "input": {"n": id}} for id in "ab"]
    results = [
        {"type": "tool_result", "tool_use_id": "b", "content": "B", "is_error": True},
        {"type": "tool_result", "tool_use_id": "a", "cache_control": MARK, "content": [
            {"type": "text", "text": "A"},
            {"type": "image", "source": {"type": "base64", "media_type": "image/png",
                                         "data": PNG_BASE64}},
            {"type": "tool_reference", "tool_name": "g"}]},
        {"type": "text", "text": "go on"},
    ]  # fmt: skip
    messages = [
        USER,
        {"role": "assistant", "content": calls},
        {"role": "user", "content": results},
    ]
    _, asked, answered = loaded(body(*messages), tmp_path).messages
    assert [(p.call_id, p.text, p.server) for p in asked.parts] == [
        ("a", '{"n": "a"}', False),
        ("b", '{"n": "b"}', False),
    ]
    failed, good, text = answered.parts
    assert (failed.call_id, failed.text, failed.is_error) == ("b", "B", True)
    assert (good.text, good.is_error, good.cache_marker) == ("A", False, True)
    assert [part.kind for part in good.parts] == [PartKind.IMAGE, PartKind.OPAQUE]
    assert good.parts[0].media == Media("image/png", 3, 2, len(PNG))
    assert text.text == "go on"
    assert answered.by_person
    only = loaded(body(*messages[:2], {"role": "user", "content": results[:2]}), tmp_path)
    assert not only.messages[2].by_person


def test_thinking(tmp_path: Path) -> None:
    plain, signed, omitted, redacted = parts_of(
        tmp_path,
        {"type": "thinking", "thinking": "hm"},
        {"type": "thinking", "thinking": "hm", "signature": "s"},
        {"type": "thinking", "thinking": "", "signature": "s"},
        {"type": "redacted_thinking", "data": "gAAA"},
    )
    assert [(p.text, p.signed, p.hidden) for p in (plain, signed, omitted, redacted)] == [
        ("hm", False, None),
        ("hm", True, None),
        ("", True, "encrypted by the provider"),
        ("", True, "encrypted by the provider"),
    ]


@pytest.mark.parametrize(
    ("members", "thinking"),
    [
        ({}, None),
        ({"thinking": {"type": "enabled", "budget_tokens": 9}}, True),
        ({"thinking": {"type": "adaptive"}}, True),
        ({"thinking": {"type": "disabled"}}, False),
    ],
)
def test_thinking_switch(members: dict[str, Any], thinking: bool | None, tmp_path: Path) -> None:
    assert loaded(body(USER, **members), tmp_path).thinking is thinking


def test_documents(tmp_path: Path) -> None:
    pdf = base64.b64encode(PDF).decode()
    sources: list[dict[str, Any]] = [
        {"type": "base64", "media_type": "application/pdf", "data": pdf},
        {"type": "text", "media_type": "text/plain", "data": "plain"},
        {
            "type": "content",
            "content": [{"type": "text", "text": "x"}, {"type": "text", "text": "y"}],
        },
        {"type": "url", "url": "https://example.org/a.pdf"},
        {"type": "file", "file_id": "file-1"},
    ]
    content = [{"type": "document", "source": source, "title": "T"} for source in sources]
    scan, plain, listed, linked, remote = parts_of(tmp_path, *content, role="user")
    assert scan.media == Media("application/pdf", size=len(PDF), pages=2)
    assert (plain.text, plain.name, plain.hidden) == ("plain", "T", None)
    assert (listed.text, [part.text for part in listed.parts]) == ("x", ["y"])
    assert linked.hidden == "only its address is in the file"
    assert remote.hidden == "kept by the provider"


def test_other_blocks(tmp_path: Path) -> None:
    found, upload, added = parts_of(
        tmp_path,
        {"type": "search_result", "source": "https://a", "title": "T",
         "content": [{"type": "text", "text": "x"}]},
        {"type": "container_upload", "file_id": "f"},
        {"type": "tool_addition", "tool": {"type": "tool_reference", "name": "g"}},
        role="user",
    )  # fmt: skip
    assert (found.kind, found.text, found.name) == (PartKind.DOCUMENT, "x", "T")
    assert (upload.kind, upload.hidden) == (PartKind.OPAQUE, "kept by the provider")
    assert (added.kind, added.source_type) == (PartKind.OPAQUE, "tool_addition")


def test_server_tools_stand_in_one_message(tmp_path: Path) -> None:
    page = {
        "type": "web_search_result",
        "title": "T",
        "url": "https://a",
        "encrypted_content": "Eq",
    }
    blocks = [
        {"type": "server_tool_use", "id": "s1", "name": "web_search", "input": {"query": "q"}},
        {"type": "web_search_tool_result", "tool_use_id": "s1", "content": [page]},
        {"type": "server_tool_use", "id": "s2", "name": "web_search", "input": {}},
        {"type": "web_search_tool_result", "tool_use_id": "s2",
         "content": {"type": "web_search_tool_result_error", "error_code": "unavailable"}},
        {"type": "server_tool_use", "id": "s3", "name": "web_fetch", "input": {}},
        {"type": "web_fetch_tool_result", "tool_use_id": "s3", "content": {
            "type": "web_fetch_result", "url": "https://b", "content": {
                "type": "document", "source": {"type": "text", "data": "page"}}}},
        {"type": "mcp_tool_use", "id": "m1", "name": "ask", "server_name": "d", "input": {}},
        {"type": "mcp_tool_result", "tool_use_id": "m1", "is_error": False,
         "content": [{"type": "text", "text": "answer"}]},
        {"type": "server_tool_use", "id": "s4", "name": "code_execution", "input": {}},
        {"type": "code_execution_tool_result", "tool_use_id": "s4", "content": {
            "type": "code_execution_result", "stdout": "1", "encrypted_stdout": "Eq"}},
    ]  # fmt: skip
    parts = parts_of(tmp_path, *blocks)
    assert all(part.server for part in parts)
    searched, failed, fetched, answered, ran = parts[1::2]
    assert [(p.kind, p.text, p.hidden) for p in searched.parts] == [
        (PartKind.DOCUMENT, "T\nhttps://a", "encrypted by the provider")
    ]
    assert searched.hidden == "encrypted by the provider"
    assert (failed.is_error, "unavailable" in failed.text) == (True, True)
    assert (fetched.text, fetched.parts[0].text, fetched.is_error) == ("https://b", "page", False)
    assert answered.text == "answer"
    assert (ran.hidden, "Eq" in ran.text) == ("encrypted by the provider", False)


def test_system_role_inside_the_messages(tmp_path: Path) -> None:
    conversation = loaded(body(USER, {"role": "system", "content": "brief"}, system="x"), tmp_path)
    assert [m.role for m in conversation.messages] == ["system", "user", "system"]
    assert [m.source_field for m in conversation.messages] == ["system", None, None]


def test_nothing_before_a_compaction_block_is_read(tmp_path: Path) -> None:
    def compacted(text: str) -> dict[str, Any]:
        return {"role": "assistant", "content": [{"type": "compaction", "content": text}]}

    conversation = loaded(
        body(USER, compacted("a"), USER, compacted("b"), USER, system="x"), tmp_path
    )
    unused = [message.unused for message in conversation.messages]
    reason = "the API reads nothing before the compaction block in message 4"
    assert unused == [None, reason, reason, reason, None, None]
    assert kinds(conversation.messages[4]) == [PartKind.COMPACTION]
    assert conversation.messages[4].parts[0].text == "b"


def test_usage_takes_cached_tokens_in(tmp_path: Path) -> None:
    answer = {
        "type": "message",
        "id": "m",
        "model": "claude-x",
        "role": "assistant",
        "content": [{"type": "text", "text": "yes"}],
        "stop_reason": "end_turn",
        "usage": {
            "input_tokens": 3,
            "cache_read_input_tokens": 1000,
            "cache_creation_input_tokens": 400,
            "output_tokens": 5,
        },
    }
    log = {"request": {"body": body(USER)}, "response": {"body": answer}}
    last = loaded(lines([log]), tmp_path).messages[-1]
    assert last.usage == Usage(1403, 5, 1000, 400)
    alone = loaded(answer, tmp_path)
    assert texts(alone) == ["yes"]
    assert alone.model == "claude-x"


def test_error_as_response(tmp_path: Path) -> None:
    error = {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}
    log = {"request": {"body": body(USER)}, "response": {"body": error}}
    recording = opened(lines([log]), tmp_path)
    conversation = recording.load()
    assert texts(conversation) == ["hi"]
    assert recording.entries[0].messages == 1
    assert "is an error and holds no message: Overloaded" in " ".join(conversation.origin.notes)
