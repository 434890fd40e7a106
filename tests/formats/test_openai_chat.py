"""OpenAI Chat Completions as they are found in the wild."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from stm_inspector.conversation.model import Media, Part, PartKind, Role, Usage

from .helpers import kinds, lines, loaded, opened, texts
from .pictures import PNG, PNG_URI

USER = {"role": "user", "content": "hi"}


def parts_of(message: dict[str, Any], tmp_path: Path) -> tuple[Part, ...]:
    """The parts of one message that follows a user's."""
    return loaded([USER, message], tmp_path).messages[1].parts


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        ({"role": "user", "content": "text"}, ["text"]),
        ({"role": "user", "content": ""}, []),
        ({"role": "user", "content": None}, []),
        ({"role": "assistant"}, []),
        ({"role": "user", "content": []}, []),
        ({"role": "user", "content": ["a", "b"]}, ["a", "b"]),
        ({"role": "user", "content": [{"type": "text", "text": "a"}]}, ["a"]),
        ({"role": "assistant", "content": None, "refusal": "no"}, ["no"]),
        ({"role": "assistant", "content": [{"type": "refusal", "refusal": "no"}]}, ["no"]),
        ({"role": "developer", "content": "rules"}, ["rules"]),
    ],
)
def test_content(message: dict[str, Any], expected: list[str], tmp_path: Path) -> None:
    assert [part.text for part in parts_of(message, tmp_path)] == expected


def test_tools_come_first_as_one_message(tmp_path: Path) -> None:
    tools = [{"type": "function", "function": {"name": name}} for name in ("a", "b")]
    body = {"model": "gpt-4o", "messages": [USER], "tools": tools, "functions": [{"name": "c"}]}
    conversation = loaded(body, tmp_path)
    first, second, third = conversation.messages
    assert (first.role, first.source_field, [p.name for p in first.parts]) == (
        Role.SYSTEM,
        "tools",
        ["a", "b"],
    )
    assert kinds(first) == [PartKind.TOOL_DEFINITION] * 2
    assert first.parts[0].text == '{"type": "function", "function": {"name": "a"}}'
    assert (second.source_field, second.parts[0].name) == ("tools", "c")
    assert third.role is Role.USER
    assert (conversation.model, conversation.api) == ("gpt-4o", "openai-chat")


def test_system_message_stays_where_it_is(tmp_path: Path) -> None:
    conversation = loaded([USER, {"role": "system", "content": "now be brief"}, USER], tmp_path)
    assert [message.role for message in conversation.messages] == ["user", "system", "user"]


def test_calls_and_results(tmp_path: Path) -> None:
    calls = [
        {"id": "", "type": "function", "function": {"name": "f", "arguments": '{"a": 1'}},
        {"type": "function", "function": {"name": "g", "arguments": {"a": 1}}},
        {"id": "c", "type": "custom", "custom": {"name": "h", "input": "free text"}},
        "nonsense",
    ]
    result = {
        "role": "tool",
        "tool_call_id": "c",
        "content": [
            {"type": "text", "text": "one"},
            {"type": "text", "text": "two", "cache_control": {"type": "ephemeral"}},
        ],
    }
    messages = [USER, {"role": "assistant", "tool_calls": calls}, result]
    _, asked, answered = loaded(messages, tmp_path).messages
    assert [(p.name, p.call_id, p.text) for p in asked.parts[:3]] == [
        ("f", "", '{"a": 1'),
        ("g", None, '{"a": 1}'),
        ("h", "c", "free text"),
    ]
    assert kinds(asked) == [*[PartKind.TOOL_CALL] * 3, PartKind.OPAQUE]
    (part,) = answered.parts
    assert (part.kind, part.call_id, part.text) == (PartKind.TOOL_RESULT, "c", "one")
    assert [inner.text for inner in part.parts] == ["two"]
    assert part.cache_marker


def test_legacy_functions(tmp_path: Path) -> None:
    call = {"role": "assistant", "content": None, "function_call": {"name": "f", "arguments": "{}"}}
    result = {"role": "function", "name": "f", "content": "22"}
    _, asked, answered = loaded([USER, call, result], tmp_path).messages
    assert (asked.parts[0].name, asked.parts[0].text) == ("f", "{}")
    assert (answered.role, answered.source_role) == (Role.TOOL, "function")
    assert (answered.parts[0].name, answered.parts[0].call_id) == ("f", None)


@pytest.mark.parametrize(
    ("members", "text", "hidden", "signed"),
    [
        ({"reasoning_content": "hm"}, "hm", None, False),
        (
            {"reasoning": "hm", "reasoning_details": [{"text": "hm", "signature": "s"}]},
            "hm",
            None,
            True,
        ),
        ({"reasoning_details": [{"text": "a"}, {"summary": "b"}]}, "a\nb", None, False),
        ({"reasoning_details": [{"data": "gAAA"}]}, "", "encrypted by the provider", True),
    ],
)
def test_thinking_beside_the_content(
    members: dict[str, Any], text: str, hidden: str | None, signed: bool, tmp_path: Path
) -> None:
    message = {"role": "assistant", "content": "so", **members}
    thinking, said = parts_of(message, tmp_path)
    assert (thinking.kind, thinking.text, thinking.hidden, thinking.signed) == (
        PartKind.THINKING,
        text,
        hidden,
        signed,
    )
    assert said.text == "so"


def test_thinking_in_the_content(tmp_path: Path) -> None:
    steps = [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]
    content = [{"type": "thinking", "thinking": steps}, {"type": "text", "text": "so"}]
    thinking, said = parts_of({"role": "assistant", "content": content}, tmp_path)
    assert (thinking.kind, thinking.text, said.text) == (PartKind.THINKING, "a\nb", "so")


def test_media_are_measured_and_never_text(tmp_path: Path) -> None:
    content = [
        {"type": "image_url", "image_url": {"url": PNG_URI, "detail": "low"}},
        {"type": "image_url", "image_url": "https://example.org/x.png"},
        {
            "type": "file",
            "file": {"filename": "a.pdf", "file_data": "data:application/pdf;base64,QQ=="},
        },
        {"type": "file", "file": {"file_id": "file-1"}},
        {"type": "input_audio", "input_audio": {"data": "QUFBQQ==", "format": "wav"}},
        {"type": "video_url", "video_url": {"url": "data:video/mp4;base64,QUFB"}},
    ]
    image, linked, document, remote, audio, video = parts_of(
        {"role": "user", "content": content}, tmp_path
    )
    assert image.media == Media("image/png", 3, 2, len(PNG), detail="low")
    assert linked.media == Media(url="https://example.org/x.png")
    assert linked.hidden == "only its address is in the file"
    assert (document.kind, document.name, document.media) == (
        PartKind.DOCUMENT,
        "a.pdf",
        Media("application/pdf", size=1),
    )
    assert (remote.name, remote.hidden) == ("file-1", "kept by the provider")
    assert (audio.media, video.media) == (Media("audio/wav", size=4), Media("video/mp4", size=3))
    assert audio.hidden
    assert not any(part.text for part in (image, linked, document, remote, audio, video))


def test_unknown_part_is_kept(tmp_path: Path) -> None:
    known, blob = parts_of(
        {
            "role": "user",
            "content": [{"type": "new", "say": "a b"}, {"type": "new", "data": "QUJD" * 500}],
        },
        tmp_path,
    )
    assert (known.kind, known.text) == (PartKind.OPAQUE, '{"type": "new", "say": "a b"}')
    assert (blob.text, bool(blob.hidden)) == ("", True)


def test_a_body_a_line_shows_the_longest(tmp_path: Path) -> None:
    bodies = [{"model": f"m{n}", "messages": [USER] * n} for n in (1, 3, 3, 2)]
    recording = opened(lines(bodies), tmp_path)
    assert [entry.messages for entry in recording.entries] == [1, 3, 3, 2]
    assert [entry.title for entry in recording.entries] == ["hi"] * 4
    conversation = recording.load()
    origin = conversation.origin
    assert (conversation.model, origin.number, origin.count) == ("m3", 1, 4)
    assert recording.load(3).model == "m2"


def response(message: dict[str, Any]) -> dict[str, Any]:
    usage = {
        "prompt_tokens": 100,
        "completion_tokens": 7,
        "prompt_tokens_details": {"cached_tokens": 60, "cache_write_tokens": 5},
    }
    return {"id": "r", "model": "m-1", "choices": [{"message": message}], "usage": usage}


def test_response_of_a_log_is_the_last_message(tmp_path: Path) -> None:
    answer = response({"role": "assistant", "content": "yes"})
    log = [
        {
            "request": {"url": "https://x/v1/chat/completions", "body": {"messages": [USER]}},
            "response": {"body": answer},
        },
        {"request": {"method": "GET"}, "response": {"body": {"ok": True}}},
    ]
    recording = opened(lines(log), tmp_path)
    conversation = recording.load()
    assert texts(conversation) == ["hi", "yes"]
    assert recording.entries[0].messages == 2
    last = conversation.messages[-1]
    assert (last.usage, last.model, last.id) == (Usage(100, 7, 60, 5), "m-1", "r")
    notes = " ".join(conversation.origin.notes)
    assert "1 record without a request" in notes
    assert "recorded response" in notes


def test_response_alone_and_stored_completion(tmp_path: Path) -> None:
    answer = response({"role": "assistant", "content": "yes"})
    conversation = loaded(answer, tmp_path)
    assert texts(conversation) == ["yes"]
    assert "request it answers is not in this file" in " ".join(conversation.origin.notes)
    stored = {"object": "traffic.completion", "messages": [USER], **answer}
    assert texts(loaded(stored, tmp_path)) == ["hi", "yes"]


def test_batch_lines(tmp_path: Path) -> None:
    body = {"model": "m", "messages": [USER]}
    batch = [{"custom_id": "1", "url": "/v1/chat/completions", "body": body}]
    assert texts(loaded(lines(batch), tmp_path)) == ["hi"]


@pytest.mark.parametrize(
    ("body", "thinking"),
    [
        ({}, None),
        ({"reasoning_effort": "low"}, True),
        ({"reasoning_effort": "none"}, False),
        ({"reasoning": {"effort": "high"}}, True),
        ({"reasoning": {"enabled": False}}, False),
    ],
)
def test_thinking_switch(body: dict[str, Any], thinking: bool | None, tmp_path: Path) -> None:
    assert loaded({"messages": [USER], **body}, tmp_path).thinking is thinking


def test_marks_of_a_harness(tmp_path: Path) -> None:
    message = {"role": "user", "content": "x", "name": "memory", "metadata": {"source": "rag"}}
    (read,) = loaded([message], tmp_path).messages
    assert (read.name, read.tags) == ("memory", {"metadata": {"source": "rag"}})
