"""Claude Code sessions: which lines make the context, and what is said of the rest."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from stm_inspector.conversation.edit import Edit, Insert
from stm_inspector.conversation.errors import InputError
from stm_inspector.conversation.model import Conversation, PartKind, Usage
from stm_inspector.formats import write

from .helpers import kinds, lines, loaded, opened, reread, spoken, texts
from .sessions import Line, assistant, attachment, boundary, call, entry, result, text, user

SHORT = [
    user("u1", None, "hello"),
    assistant("a1", "u1", "m1", text("hi")),
    user("u2", "a1", "bye"),
    assistant("a2", "u2", "m2", text("see you")),
]

PARALLEL = [
    user("u1", None, "look"),
    assistant("a1", "u1", "m1", {"type": "thinking", "thinking": "hm", "signature": "s"}, at=1),
    assistant("a2", "a1", "m1", call("c1"), at=2, output=8),
    entry("progress", "p1", "a2", 2, data={"type": "bash_progress"}),
    user("r1", "a2", [result("c1", "one")], at=3),
    assistant("a3", "a2", "m1", call("c2"), at=4, output=572),
    user("r2", "a3", [result("c2", "two")], at=5),
    assistant("a4", "r2", "m2", text("both seen"), at=6),
]


def session(records: list[Line], tmp_path: Path) -> Conversation:
    conversation = loaded(lines(records), tmp_path, "s.jsonl")
    again = reread(write(conversation, Edit(range(len(conversation.messages)))), conversation.api)
    assert spoken(again.messages) == spoken(conversation.messages)
    return conversation


def notes(conversation: Conversation) -> str:
    return " ".join(conversation.origin.notes)


def test_plain_session(tmp_path: Path) -> None:
    conversation = session(SHORT, tmp_path)
    assert texts(conversation) == ["hello", "hi", "bye", "see you"]
    assert [message.line for message in conversation.messages] == [1, 2, 3, 4]
    assert (conversation.format, conversation.api) == ("claude-code", "anthropic-messages")
    assert conversation.model == "claude-opus-4-5"
    assert conversation.messages[1].usage == Usage(12, 1, 10, None)
    assert conversation.messages[0].time == 1767261600.0
    assert "system prompt and the tool definitions are not in this file" in notes(conversation)


def test_lines_of_one_response_are_one_message_and_its_results_another(tmp_path: Path) -> None:
    conversation = session(PARALLEL, tmp_path)
    first, response, results, last = conversation.messages
    assert kinds(response) == [PartKind.THINKING, PartKind.TOOL_CALL, PartKind.TOOL_CALL]
    assert [part.call_id for part in results.parts] == ["c1", "c2"]
    assert response.usage == Usage(12, 572, 10, None)
    assert not results.by_person
    assert (first.by_person, last.line) == (True, 8)
    assert "1 line of parallel tool calls and results" in notes(conversation)


def test_results_come_before_the_text_that_was_typed_meanwhile(tmp_path: Path) -> None:
    records = [
        user("u1", None, "go"),
        assistant("a1", "u1", "m1", call("c1")),
        user("u2", "a1", "wait!"),
        user("r1", "u2", [text("seen"), result("c1")]),
        assistant("a2", "r1", "m2", text("ok")),
    ]
    conversation = session(records, tmp_path)
    assert texts(conversation) == ["go", '{"command": "c1"}', "done|seen", "wait!", "ok"]


def test_last_line_with_a_uuid_counts(tmp_path: Path) -> None:
    records = [*SHORT[:3], {**SHORT[0], "message": {"role": "user", "content": "hello, again"}}]
    assert texts(session(records, tmp_path))[0] == "hello, again"


def test_line_repeated_by_a_resumed_session_counts_once(tmp_path: Path) -> None:
    copy = assistant("a9", "u1", "m1", text("hi"))
    assert texts(session([*SHORT[:2], copy, *SHORT[2:]], tmp_path)) == texts(
        session(SHORT, tmp_path)
    )


def test_newest_branch_is_the_conversation(tmp_path: Path) -> None:
    other = [user("u3", "a1", "other way"), assistant("a3", "u3", "m3", text("fine"))]
    conversation = session([*SHORT, *other], tmp_path)
    assert texts(conversation) == ["hello", "hi", "other way", "fine"]
    assert "2 messages on other branches" in notes(conversation)


def test_last_prompt_names_the_leaf_until_somebody_speaks(tmp_path: Path) -> None:
    other = [user("u3", "a1", "other way"), assistant("a3", "u3", "m3", text("fine"))]
    back = {"type": "last-prompt", "leafUuid": "a2", "sessionId": "s"}
    assert texts(session([*SHORT, *other, back], tmp_path))[2:] == ["bye", "see you"]
    assert texts(session([*SHORT, back, *other], tmp_path))[2:] == ["other way", "fine"]


def test_compaction_ends_the_walk(tmp_path: Path) -> None:
    records = [
        *SHORT,
        boundary("b", "a2"),
        user("s1", "b", "summary", isCompactSummary=True, isVisibleInTranscriptOnly=True),
        user("u3", "s1", "shown only", isVisibleInTranscriptOnly=True),
        assistant("a3", "u3", "m3", text("on we go")),
    ]
    conversation = session(records, tmp_path)
    assert texts(conversation) == ["summary", "on we go"]
    summary = conversation.messages[0]
    assert (summary.injected, summary.tags) == (True, {"compaction": "summary"})
    assert "line 5 (auto at 9,000 tokens): 4 messages before it no longer sent" in notes(
        conversation
    )
    assert "1 transcript-only line" in notes(conversation)


@pytest.mark.parametrize(
    "kept",
    [
        {"preservedSegment": {"headUuid": "u2", "anchorUuid": "s1", "tailUuid": "a2"}},
        {"preservedMessages": {"anchorUuid": "s1", "uuids": ["u2", "a2"]}},
    ],
)
def test_compaction_may_keep_a_run_of_messages(kept: dict[str, Any], tmp_path: Path) -> None:
    records = [
        *SHORT,
        boundary("b", "a2", **kept),
        user("s1", "b", "summary", isCompactSummary=True),
        user("u3", "s1", "more"),
        assistant("a3", "u3", "m3", text("sure")),
    ]
    conversation = session(records, tmp_path)
    assert texts(conversation) == ["summary", "bye", "see you", "more", "sure"]
    assert "2 messages before it" in notes(conversation)


def test_kept_run_that_is_not_in_the_file_is_said(tmp_path: Path) -> None:
    kept = {"preservedMessages": {"anchorUuid": "s1", "uuids": ["x", "y"]}}
    records = [boundary("b", "a", **kept), user("s1", "b", "summary"), user("u", "s1", "more")]
    conversation = session(records, tmp_path)
    assert texts(conversation) == ["summary", "more"]
    assert "kept are not in this file" in notes(conversation)


def test_missing_parent_is_found_by_time(tmp_path: Path) -> None:
    records = [*SHORT[:2], user("u2", "gone", "bye", at=4)]
    assert texts(session(records, tmp_path)) == ["hello", "hi", "bye"]
    late = [*SHORT[:2], user("u2", "gone", "bye", at=6)]
    conversation = session(late, tmp_path)
    assert texts(conversation) == ["bye"]
    assert "The parent of line 3 is not in this file" in notes(conversation)


def test_parents_in_a_circle(tmp_path: Path) -> None:
    records = [user("u1", "a1", "hello"), assistant("a1", "u1", "m1", text("hi"))]
    conversation = session(records, tmp_path)
    assert texts(conversation) == ["hello", "hi"]
    assert "run in a circle at line 2" in notes(conversation)


def test_unanswered_and_orphaned_calls_stay(tmp_path: Path) -> None:
    records = [
        user("u1", None, [result("gone", "lost")]),
        assistant("a1", "u1", "m1", call("c1")),
    ]
    conversation = session(records, tmp_path)
    assert [kinds(message) for message in conversation.messages] == [
        [PartKind.TOOL_RESULT],
        [PartKind.TOOL_CALL],
    ]


def test_what_nobody_typed_is_injected(tmp_path: Path) -> None:
    records = [
        user("u0", None, "Caveat: The messages below were generated by the user while …"),
        user("u1", "u0", "<command-name>/clear</command-name>"),
        user("u2", "u1", "<local-command-stdout></local-command-stdout>"),
        user("u3", "u2", "skill text", isMeta=True),
        user("u4", "u3", [text("[Request interrupted by user]")]),
        user("u5", "u4", [text("<system-reminder>x</system-reminder>"), text("typed")]),
    ]
    conversation = session(records, tmp_path)
    assert [message.injected for message in conversation.messages] == [
        True,
        False,
        True,
        True,
        True,
        False,
    ]


def test_attachments_kind_by_kind(tmp_path: Path) -> None:
    records = [
        SHORT[0],
        attachment("t1", "u1", type="hook_success", hookEvent="PostToolUse", content="silent"),
        attachment("t2", "t1", type="hook_success", hookEvent="UserPromptSubmit", content="told"),
        attachment("t3", "t2", type="hook_additional_context", content=["a", "b"]),
        attachment("t4", "t3", type="nested_memory", content={"content": "memory"}),
        attachment("t5", "t4", type="queued_command", prompt="typed later", commandMode="prompt"),
        attachment("t6", "t5", type="queued_command", prompt="task",
                   commandMode="task-notification"),
        attachment("t7", "t6", type="plan_mode", reminderType="full"),
        attachment("t8", "t7", type="file", filename="a.py",
                   content={"type": "text", "file": {"content": "x = 1"}}),
        attachment("t9", "t8", type="never_seen", content="?"),
        assistant("a1", "t9", "m1", text("hi")),
        attachment("t10", "a1", type="todo_reminder", content=[{"content": "write tests"}]),
    ]  # fmt: skip
    conversation = session(records, tmp_path)
    found = [(texts(conversation)[n], m.injected) for n, m in enumerate(conversation.messages)]
    assert found == [
        ("hello", False),
        ("told", True),
        ("a\nb", True),
        ("memory", True),
        ("typed later", False),
        ("task", True),
        ("a.py\nx = 1", True),
        ("hi", False),
        ("write tests", True),
    ]
    assert conversation.messages[1].source_role == "attachment"
    assert "1 hook_success, 1 plan_mode, 1 never_seen" in notes(conversation)


def test_errors_and_retracted_messages_are_left_out(tmp_path: Path) -> None:
    records = [
        *SHORT[:2],
        user("u2", "a1", "bad"),
        assistant("e1", "u2", "m9", text("API Error: 529"), isApiErrorMessage=True),
        entry("system", "s", "e1", subtype="model_refusal_fallback", retractedMessageUuids=["u2"]),
        user("u3", "s", "good"),
    ]
    conversation = session(records, tmp_path)
    assert texts(conversation) == ["hello", "hi", "good"]
    assert "1 line taken back" in notes(conversation)
    assert "1 error message" in notes(conversation)


def test_subagents_in_the_same_file_are_conversations_of_their_own(tmp_path: Path) -> None:
    side = [
        user("x1", None, "dig", isSidechain=True),
        assistant("x2", "x1", "m5", text("dug"), isSidechain=True),
        user("y1", None, "plan", isSidechain=True, agentId="b7"),
    ]
    recording = opened(lines([*SHORT[:2], *side, *SHORT[2:]]), tmp_path)
    assert [entry.title for entry in recording.entries] == [
        "",
        "subagent from line 3",
        "subagent b7",
    ]
    assert texts(recording.load()) == ["hello", "hi", "bye", "see you"]
    assert texts(recording.load(1)) == ["dig", "dug"]
    assert "2 subagents in this file" in notes(recording.load())


def test_file_of_a_subagent(tmp_path: Path) -> None:
    side = [{**line, "isSidechain": True, "agentId": "b7"} for line in PARALLEL]
    recording = opened(lines(side), tmp_path)
    assert len(recording.entries) == 1
    assert len(recording.load().messages) == 4


def test_session_on_the_web(tmp_path: Path) -> None:
    records = [
        {"type": "user", "timestamp": "2026-01-01T10:00:00Z", "message": {"content": "hello"}},
        {"type": "assistant", "message": {"role": "assistant", "content": [call("c1")]}},
        {"type": "user", "message": {"role": "user", "content": [result("c1")]}},
    ]
    recording = opened({"loglines": records}, tmp_path)
    assert recording.signature == "one object with loglines"
    assert texts(recording.load()) == ["hello", '{"command": "c1"}', "done"]


@pytest.mark.parametrize(
    ("records", "said"),
    [
        ([{"type": "summary", "summary": "x", "leafUuid": "y"}], "1 summary"),
        ([{"type": "file-history-snapshot"}] * 2, "2 file-history-snapshot"),
        ([{"type": "user", "uuid": "u", "message": {}}], "1 user"),
    ],
)
def test_session_without_messages(records: list[Line], said: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=f"without messages: it holds nothing but {said}"):
        opened(lines(records), tmp_path)


def test_titles(tmp_path: Path) -> None:
    foreign = {"type": "summary", "summary": "another session", "leafUuid": "elsewhere"}
    own = {"type": "summary", "summary": "this session", "leafUuid": "a2"}
    assert loaded(lines([foreign, *SHORT]), tmp_path).title == ""
    assert loaded(lines([own, *SHORT]), tmp_path).title == "this session"
    titled = [
        *SHORT,
        {"type": "ai-title", "aiTitle": "A"},
        {"type": "custom-title", "customTitle": "B"},
    ]
    assert loaded(lines(titled), tmp_path).title == "B"


def test_export_is_a_request_that_keeps_the_blocks_as_read(tmp_path: Path) -> None:
    odd = '{"type":"text",  "text":"h\\u00e9","x_new":1.50}'
    line = json.dumps(assistant("a1", "u1", "m1", "BLOCK")).replace('"BLOCK"', odd)
    file = json.dumps(SHORT[0]) + "\n" + line + "\n"
    conversation = loaded(file, tmp_path)
    written = write(conversation, Edit([0, 1]), reply_tokens=1234)
    assert odd in written
    assert json.loads(written) == {
        "model": "claude-opus-4-5",
        "max_tokens": 1234,
        "messages": [
            {"role": "user", "content": "hello"},
            {"role": "assistant", "content": [{"type": "text", "text": "hé", "x_new": 1.5}]},
        ],
    }


def test_export_of_changed_messages(tmp_path: Path) -> None:
    conversation = session(PARALLEL, tmp_path)
    edit = Edit(
        kept=[0, 1, 2, 3],
        texts={0: "[original task: look…]"},
        results={(2, 0): "[cleared]"},
        dropped_parts=frozenset({(1, 0), (3, 0)}),
        inserts=[Insert(1, "user", "a summary")],
    )
    body = json.loads(write(conversation, edit))
    assert body["messages"] == [
        {"role": "user", "content": "[original task: look…]"},
        {"role": "user", "content": "a summary"},
        {"role": "assistant", "content": [call("c1"), call("c2")]},
        {"role": "user", "content": [result("c1", "[cleared]"), result("c2", "two")]},
    ]
    with pytest.raises(InputError, match="Nothing is left"):
        write(conversation, Edit(kept=[]))
