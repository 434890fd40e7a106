"""Trajectories of agents: what each keeps in its own way. See formats.md sections 14, 15, 25."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from stm_inspector.conversation.edit import Edit
from stm_inspector.conversation.model import Conversation, PartKind
from stm_inspector.formats import open_file, write

from .helpers import kinds, lines, loaded, opened, reread, texts

CALL, RESULT = PartKind.TOOL_CALL, PartKind.TOOL_RESULT


def notes(conversation: Conversation) -> str:
    return " ".join(conversation.origin.notes)


def chat_call(id: str, name: str = "bash") -> dict[str, Any]:
    return {"id": id, "type": "function", "function": {"name": name, "arguments": "{}"}}


SWE = {
    "trajectory": [
        {"action": "ls", "query": [{"role": "user", "content": "short"}]},
        {"action": "cat"},
    ],
    "history": [
        {"role": "system", "content": "s", "agent": "main"},
        {"role": "user", "content": "demo", "agent": "main", "is_demo": True},
        {"role": "user", "content": "task", "agent": "main"},
        {"role": "assistant", "content": "a", "agent": "main", "tool_calls": [chat_call("x")]},
        {"role": "tool", "content": "one", "agent": "main", "tool_call_ids": ["x"]},
        {"role": "assistant", "content": "b", "agent": "main", "tool_calls": [chat_call("x")]},
        {"role": "tool", "content": "two", "agent": "main", "tool_call_ids": ["x"]},
    ],
    "replay_config": '{"agent": {"model": {"name": "gpt-x"}}}',
}


def test_swe_agent_history_is_what_was_sent(tmp_path: Path) -> None:
    recording = opened(SWE, tmp_path)
    conversation = recording.load()
    assert recording.format == "swe-agent"
    assert recording.signature == "trajectory and history"
    assert conversation.model == "gpt-x"
    assert [message.injected for message in conversation.messages[:3]] == [False, True, False]
    assert conversation.messages[1].tags == {"is_demo": True}
    assert "demonstration was put in" in notes(conversation)
    assert texts(recording.load(1)) == ["short"]
    assert recording.entries[1].title == "what was sent for step 1"


def test_swe_agent_uses_an_id_twice_and_pairs_the_nearest(tmp_path: Path) -> None:
    conversation = loaded(SWE, tmp_path)
    groups = {frozenset(group) for group in conversation.structure.groups}
    assert {frozenset((3, 4)), frozenset((5, 6))} <= groups


def test_mini_swe_agent_of_both_versions(tmp_path: Path) -> None:
    new = {
        "info": {"config": {"model": {"model_name": "anthropic/claude-x"}}},
        "trajectory_format": "mini-swe-agent-1.1",
        "messages": [
            {"role": "user", "content": "task"},
            {
                "role": "assistant",
                "content": "a",
                "extra": {
                    "timestamp": 1.7e9,
                    "response": {"usage": {"prompt_tokens": 10, "completion_tokens": 2}},
                },
            },
            {"role": "exit", "content": "Submitted", "extra": {}},
        ],
    }
    conversation = loaded(new, tmp_path)
    assert (conversation.format, conversation.api) == ("mini-swe-agent", "anthropic-messages")
    answer, end = conversation.messages[1:]
    assert answer.usage is not None
    assert (answer.usage.input, answer.usage.output, answer.time) == (10, 2, 1.7e9)
    assert end.unused == "written by the agent when it stopped"
    old = opened(new["messages"], tmp_path, "run.traj.json")
    assert old.format == "mini-swe-agent"
    assert opened(new["messages"], tmp_path, "other.json").format != "mini-swe-agent"


def test_tau_bench_has_a_conversation_a_trial(tmp_path: Path) -> None:
    traj = [{"role": "user", "content": "u"}, {"role": "assistant", "content": "a"}]
    results = [{"task_id": n, "trial": 0, "reward": 1.0, "info": {}, "traj": traj} for n in (4, 7)]
    recording = opened(results, tmp_path)
    assert recording.format == "tau-bench"
    assert [e.title for e in recording.entries][1] == "task 7, trial 0, reward 1.0"
    assert texts(recording.load(1)) == ["u", "a"]


def test_hermes_leaves_its_own_records_out(tmp_path: Path) -> None:
    session = {
        "session_id": "s",
        "session_start": "2026-01-01T00:00:00Z",
        "system_prompt": "be",
        "tools": [{"name": "shell", "input_schema": {}}],
        "messages": [
            {"role": "user", "content": "u"},
            {"role": "assistant", "content": "", "tool_calls": [chat_call("c", "shell")]},
            {"role": "tool", "content": "r", "tool_call_id": "c", "tool_name": "shell"},
            {"role": "session_meta"},
        ],
    }
    conversation = loaded(session, tmp_path)
    assert [m.source_field for m in conversation.messages[:3]] == ["system", "tools", None]
    assert conversation.messages[-1].parts[0].name == "shell"
    assert "1 record of the agent itself: left out." in notes(conversation)


def event(number: int, **members: Any) -> dict[str, Any]:
    return {"id": number, "timestamp": f"2026-01-01T00:00:{number:02}", **members}


def test_openhands_0_writes_a_response_into_each_event_of_its_calls(tmp_path: Path) -> None:
    response = {
        "id": "r1",
        "model": "gpt-x",
        "usage": {"prompt_tokens": 7, "completion_tokens": 3},
        "choices": [{"message": {"content": "hm", "tool_calls": [chat_call("a"), chat_call("b")]}}],
    }

    def told(id: str) -> dict[str, Any]:
        return {"tool_call_id": id, "function_name": "bash", "model_response": response}

    log = [
        event(
            0, source="agent", action="system", args={"content": "sys", "tools": [{"name": "t"}]}
        ),
        event(1, source="user", action="message", args={"content": "task"}),
        event(2, source="environment", observation="agent_state_changed", content=""),
        event(3, source="agent", action="run", args={}, tool_call_metadata=told("a")),
        event(4, source="agent", observation="run", content="A", tool_call_metadata=told("a")),
        event(5, source="agent", action="run", args={}, tool_call_metadata=told("b")),
        event(6, source="agent", observation="run", content="B", tool_call_metadata=told("b")),
        event(7, source="agent", action="read", args={"path": "p", "thought": "look"}),
        event(8, source="agent", observation="read", content="C", cause=7),
        event(9, source="agent", action="finish", args={"thought": "done"}),
    ]
    for value in (log, [{"instance_id": "i", "history": log}]):
        conversation = loaded(value, tmp_path)
        assert conversation.format == "openhands"
        assert [m.role.value for m in conversation.messages] == [
            *("system", "system", "user", "assistant", "tool", "tool", "assistant", "tool"),
            "assistant",
        ]
        asked = conversation.messages[3]
        assert kinds(asked) == [PartKind.TEXT, CALL, CALL]
        assert asked.usage is not None
        assert asked.usage.input == 7
        assert conversation.model == "gpt-x"
        read, found = conversation.messages[6:8]
        assert read.parts[1].call_id == found.parts[0].call_id
        assert "1 event about the agent's state" in notes(conversation)


def v1(id: str, kind: str, source: str = "agent", **members: Any) -> dict[str, Any]:
    return {"id": id, "timestamp": "2026-01-01T00:00:00", "kind": kind, "source": source, **members}


def said(role: str, text: str) -> dict[str, Any]:
    return {"role": role, "content": [{"type": "text", "text": text}]}


def acted(id: str, call: str, response: str) -> dict[str, Any]:
    return v1(
        id,
        "ActionEvent",
        thought=[{"type": "text", "text": f"think {call}"}],
        tool_name="bash",
        tool_call_id=call,
        tool_call={"id": call, "name": "bash", "arguments": '{"x": 1}'},
        llm_response_id=response,
    )


def seen(id: str, call: str, text: str, failed: bool = False) -> dict[str, Any]:
    content = [{"type": "text", "text": text}]
    observation = {"content": content, "is_error": failed}
    return v1(
        id,
        "ObservationEvent",
        "environment",
        observation=observation,
        tool_name="bash",
        tool_call_id=call,
    )


V1 = [
    v1("e0", "SystemPromptEvent", system_prompt={"text": "sys"}, tools=[{"name": "bash"}]),
    v1("e1", "MessageEvent", "user", llm_message=said("user", "task")),
    acted("e2", "a", "r1"),
    acted("e3", "b", "r1"),
    seen("e4", "a", "A"),
    seen("e5", "b", "B", failed=True),
    v1(
        "e6",
        "Condensation",
        forgotten_event_ids=["e2", "e3", "e4", "e5"],
        summary="gist",
        summary_offset=2,
    ),
    acted("e7", "c", "r2"),
    seen("e8", "c", "C"),
    v1("e9", "NewKindOfEvent", strange={"kept": 1}),
]


def test_openhands_1_applies_condensations(tmp_path: Path) -> None:
    for value in (V1, lines(V1)):
        conversation = loaded(value, tmp_path)
        messages = conversation.messages
        assert conversation.format == "openhands"
        assert texts(conversation)[:2] == ["sys", '{"name": "bash"}']
        unused = [m.unused for m in messages]
        forgotten = "forgotten by a condensation"
        places = {part.text: at for at, m in enumerate(messages) for part in m.parts}
        assert all(unused[places[text]] == forgotten for text in ("think a", "A", "B"))
        assert unused[places["gist"]] is None
        assert places["task"] < places["gist"] < places["think c"]
        assert "Condensed: 4 events forgotten." in notes(conversation)
        strange = messages[-1]
        assert strange.parts[0].kind is PartKind.OPAQUE
        assert '"kept": 1' in strange.parts[0].text


def test_openhands_1_joins_the_calls_of_one_response(tmp_path: Path) -> None:
    conversation = loaded(V1[:6], tmp_path)
    together = conversation.messages[3]
    assert [p.call_id for p in together.parts if p.kind is CALL] == ["a", "b"]
    assert [m.parts[0].is_error for m in conversation.messages[4:6]] == [False, True]
    again = reread(write(conversation, Edit(range(len(conversation.messages)))), "openai-chat")
    assert not again.structure.orphans


def test_openhands_1_keeps_a_file_an_event(tmp_path: Path) -> None:
    folder = tmp_path / "conversation"
    (folder / "events").mkdir(parents=True)
    (folder / "base_state.json").write_text("{}")
    for number, one in reversed(list(enumerate(V1))):
        path = folder / "events" / f"event-{number:05}-{one['id']}.json"
        path.write_text(json.dumps(one, indent=2))
    whole = loaded(V1, tmp_path)
    for place in (folder, folder / "events"):
        assert open_file(place).load().messages == whole.messages
    path.write_text('{"id": ')
    damaged = open_file(folder).load()
    assert damaged.origin.skipped
    assert damaged.messages[-1] == whole.messages[-1]


CLINE = [
    {
        "role": "user",
        "ts": 1700000000000,
        "content": [
            {"type": "text", "text": "<task>fix it</task>"},
            {"type": "text", "text": "<environment_details>open tabs</environment_details>"},
        ],
    },
    {
        "role": "assistant",
        "ts": 1700000001000,
        "modelInfo": {"modelId": "claude-x"},
        "metrics": {"tokens": {"prompt": 9, "completion": 4, "cached": 5}},
        "content": [
            {"type": "text", "text": "reading"},
            {"type": "tool_use", "id": "t1", "name": "read_file", "input": {"path": "a"}},
            {"type": "tool_use", "id": "t2", "name": "list_files", "input": {}},
        ],
    },
    {
        "role": "user",
        "ts": 1700000002000,
        "content": [
            {"type": "text", "text": "[read_file for 'a'] Result:"},
            {"type": "text", "text": "content of a"},
            {"type": "text", "text": "[list_files for '.'] Result:"},
            {"type": "text", "text": "a, b"},
            {"type": "text", "text": "<environment_details>more</environment_details>"},
        ],
    },
]


def test_cline_writes_results_as_text(tmp_path: Path) -> None:
    conversation = loaded(CLINE, tmp_path)
    assert (conversation.format, conversation.api) == ("cline", "anthropic-messages")
    results = conversation.messages[2]
    assert kinds(results) == [RESULT, RESULT, PartKind.TEXT]
    assert [(p.name, p.call_id) for p in results.parts[:2]] == [
        ("read_file", "t1"),
        ("list_files", "t2"),
    ]
    assert results.parts[0].parts[0].text == "content of a"
    usage = conversation.messages[1].usage
    assert usage is not None
    assert (usage.input, usage.cache_read) == (9, 5)
    assert "cut off early messages is not in this file" in notes(conversation)
    written = write(conversation, Edit(range(3)))
    again = reread(written, "anthropic-messages")
    assert not again.structure.orphans
    assert "content of a" in written


def test_roo_marks_what_it_no_longer_sends(tmp_path: Path) -> None:
    def message(text: str, role: str = "user", **more: Any) -> dict[str, Any]:
        return {"role": role, "ts": 1, "content": [{"type": "text", "text": text}], **more}

    task = [
        message("old", condenseParent="c"),
        message("gist", "assistant", isSummary=True, condenseId="c"),
        message("cut", truncationParent="m"),
        message("mark", isTruncationMarker=True, truncationId="m"),
        message("orphaned parent", truncationParent="gone"),
        message("now"),
    ]
    conversation = loaded(task, tmp_path)
    sent = [m.parts[0].text for m in conversation.messages if not m.unused]
    assert sent == ["gist", "orphaned parent", "now"]
    assert conversation.messages[1].tags == {"compaction": "summary"}
    assert "3 messages condensed or truncated by Roo" in notes(conversation)
    again = reread(write(conversation, Edit(range(6))), "anthropic-messages")
    assert [part.text for m in again.messages for part in m.parts] == sent


def test_folder_of_a_task_is_its_conversation(tmp_path: Path) -> None:
    (tmp_path / "api_conversation_history.json").write_text(json.dumps(CLINE))
    (tmp_path / "ui_messages.json").write_text("[]")
    assert open_file(tmp_path).load().format == "cline"


def test_anthropic_messages_without_marks_stay_what_they_are(tmp_path: Path) -> None:
    plain = [{k: v for k, v in m.items() if k in ("role", "content")} for m in CLINE]
    assert opened(plain, tmp_path).format == "anthropic-messages"
    assert opened(plain, tmp_path, "api_conversation_history.json").format == "cline"
