"""Exports of chat programs: branches, hidden messages, what stands in one record."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from stm_inspector.conversation.edit import Edit
from stm_inspector.conversation.errors import InputError
from stm_inspector.conversation.model import PartKind, Role
from stm_inspector.formats import open_file, write

from .helpers import kinds, loaded, opened, texts

ROOT = "00000000-0000-0000-0000-000000000000"


def node(id: str, parent: str | None, role: str, text: str, **more: Any) -> dict[str, Any]:
    """A node of a ChatGPT conversation."""
    message = {
        "id": id,
        "author": {"role": role, "name": more.pop("name", None)},
        "content": more.pop("content", {"content_type": "text", "parts": [text]}),
        "recipient": "all",
        **more,
    }
    return {"id": id, "message": message, "parent": parent, "children": []}


def chat(*nodes: dict[str, Any], **more: Any) -> dict[str, Any]:
    root = {"id": "root", "message": None, "parent": None, "children": []}
    return {"title": "T", "mapping": {n["id"]: n for n in (root, *nodes)}, **more}


def test_chatgpt_shows_the_current_branch_and_offers_the_others(tmp_path: Path) -> None:
    value = chat(
        node("a", "root", "user", "hi"),
        node("b", "a", "assistant", "old"),
        node("c", "a", "assistant", "new"),
        node("d", "a", "assistant", "newest"),
        current_node="c",
    )
    recording = opened([value], tmp_path)
    assert [texts(recording.load(entry.number)) for entry in recording.entries] == [
        ["hi", "new"],
        ["hi", "newest"],
        ["hi", "old"],
    ]
    assert [e.title for e in recording.entries] == ["T", "T (branch 2 of 3)", "T (branch 3 of 3)"]


def test_chatgpt_without_a_current_node_shows_the_last_leaf(tmp_path: Path) -> None:
    value = chat(
        node("a", "root", "user", "hi"),
        node("b", "a", "assistant", "old"),
        node("c", "a", "assistant", "new"),
    )
    assert texts(loaded(value, tmp_path)) == ["hi", "new"]


def test_chatgpt_message_to_a_tool_is_a_call_and_the_answers_are_one_result(tmp_path: Path) -> None:
    conversation = loaded(
        chat(
            node("a", "root", "user", "search"),
            node("b", "a", "assistant", '{"q": 1}', recipient="browser"),
            node("c", "b", "tool", "one", name="browser"),
            node("d", "c", "tool", "two", name="browser"),
            node("e", "d", "assistant", "done"),
        ),
        tmp_path,
    )
    assert [kinds(message) for message in conversation.messages] == [
        [PartKind.TEXT],
        [PartKind.TOOL_CALL],
        [PartKind.TOOL_RESULT],
        [PartKind.TEXT],
    ]
    result = conversation.messages[2].parts[0]
    assert (result.text, [part.text for part in result.parts]) == ("one", ["two"])
    assert conversation.structure.groups == ((1, 2),)


def test_chatgpt_hidden_and_empty_messages(tmp_path: Path) -> None:
    instructions = {"content_type": "user_editable_context", "user_instructions": "be brief"}
    recap = {"content_type": "reasoning_recap", "content": "Thought for 3s"}
    conversation = loaded(
        chat(
            node("s", "root", "system", "", weight=0),
            node("i", "s", "user", "", content=instructions),
            node("a", "i", "user", "hi"),
            node("r", "a", "assistant", "", content=recap),
            node(
                "h",
                "r",
                "assistant",
                "hidden",
                metadata={"is_visually_hidden_from_conversation": True},
            ),
        ),
        tmp_path,
    )
    assert texts(conversation) == ["be brief", "hi", "Thought for 3s", "hidden"]
    shown = [(m.injected, bool(m.unused), dict(m.tags)) for m in conversation.messages]
    assert shown == [
        (True, False, {}),
        (False, False, {}),
        (False, True, {}),
        (True, False, {"hidden": True}),
    ]


def test_chatgpt_circle_lost_parent_and_entry_without_messages(tmp_path: Path) -> None:
    circle = chat(node("a", "b", "user", "x"), node("b", "a", "assistant", "y"), current_node="b")
    lost = chat(node("a", "gone", "user", "x"))
    recording = opened([circle, {"title": "corrupt"}, lost], tmp_path)
    first, second = (recording.load(entry.number) for entry in recording.entries)
    assert texts(first) == ["x", "y"]
    assert "in a circle" in " ".join(first.origin.notes)
    assert "1 entry without messages" in " ".join(first.origin.notes)
    assert "not in this file" in second.origin.notes[-1]


def test_chatgpt_export_with_a_byte_order_mark(tmp_path: Path) -> None:
    value = chat(node("a", "root", "user", "hi"))
    assert texts(loaded(b"\xef\xbb\xbf" + json.dumps([value]).encode(), tmp_path)) == ["hi"]


def claude(*messages: dict[str, Any]) -> list[dict[str, Any]]:
    return [{"uuid": "c", "name": "N", "chat_messages": list(messages)}]


def test_claude_ai_pairs_calls_in_one_message_and_reads_attachments(tmp_path: Path) -> None:
    conversation = loaded(
        claude(
            {
                "uuid": "1",
                "sender": "human",
                "text": "look",
                "content": [{"type": "text", "text": "look"}],
                "attachments": [{"file_name": "a.txt", "extracted_content": "inside"}],
                "files": [{"file_uuid": "f", "file_name": "b.png"}],
            },
            {
                "uuid": "2",
                "sender": "assistant",
                "content": [
                    {"type": "thinking", "thinking": "hm"},
                    {"type": "tool_use", "name": "web_search", "input": {"q": "x"}},
                    {
                        "type": "tool_result",
                        "name": "web_search",
                        "content": [{"type": "text", "text": "found"}],
                    },
                    {"type": "text", "text": "here"},
                    {"type": "token_budget", "left": 3},
                ],
            },
        ),
        tmp_path,
    )
    person, answer = conversation.messages
    assert [(p.kind, p.text, p.name) for p in person.parts] == [
        (PartKind.DOCUMENT, "inside", "a.txt"),
        (PartKind.DOCUMENT, "", "b.png"),
        (PartKind.TEXT, "look", None),
    ]
    assert person.parts[1].hidden
    assert kinds(answer) == [
        PartKind.THINKING,
        PartKind.TOOL_CALL,
        PartKind.TOOL_RESULT,
        PartKind.TEXT,
        PartKind.OPAQUE,
    ]
    assert not conversation.structure.orphans
    assert not conversation.structure.unanswered
    body = json.loads(write(conversation, Edit(range(2))))
    assert [m["role"] for m in body["messages"]] == ["user", "assistant", "user", "assistant"]


def test_claude_ai_is_a_tree_only_where_messages_name_their_parent(tmp_path: Path) -> None:
    one, two, three = (
        {"uuid": str(n), "sender": sender, "text": f"t{n}", "content": []}
        for n, sender in enumerate(("human", "assistant", "assistant"))
    )
    assert len(opened(claude(one, two, three), tmp_path).entries) == 1
    two |= {"parent_message_uuid": "0"}
    three |= {"parent_message_uuid": "0"}
    recording = opened(claude(one, two, three), tmp_path)
    assert [texts(recording.load(n)) for n in (0, 1)] == [["t0", "t2"], ["t0", "t1"]]


def test_librechat_nested_children_and_steps_of_an_agent(tmp_path: Path) -> None:
    made = {"id": "c1", "name": "search", "args": "{}", "output": "found"}
    answer = {
        "messageId": "2",
        "isCreatedByUser": False,
        "sender": "Agent",
        "createdAt": "2024-01-01T00:00:01Z",
        "content": [
            {"type": "think", "think": "hm"},
            {"type": "tool_call", "tool_call": made},
            {"type": "text", "text": {"value": "done"}},
        ],
    }
    first = {
        "messageId": "1",
        "parentMessageId": ROOT,
        "isCreatedByUser": True,
        "text": "hi",
        "user": "65f1ad",
        "children": [answer],
    }
    value = {
        "conversationId": "c",
        "endpoint": "anthropic",
        "options": {"promptPrefix": "be brief", "model": "claude-x"},
        "messages": [first],
    }
    conversation = loaded(value, tmp_path)
    assert [message.role for message in conversation.messages] == [
        Role.SYSTEM,
        Role.USER,
        Role.ASSISTANT,
        Role.TOOL,
        Role.ASSISTANT,
    ]
    assert conversation.api == "anthropic-messages"
    assert conversation.structure.groups == ((2, 3),)
    assert "65f1ad" not in repr([message.raw for message in conversation.messages])


def test_open_webui_unfolds_the_details_of_older_exports(tmp_path: Path) -> None:
    content = (
        '<details type="reasoning" done="true">\n<summary>Thought</summary>\n&gt; 1 &lt; 2\n'
        '</details>\n<details type="tool_calls" id="c1" name="f" arguments="{&quot;a&quot;: 1}" '
        'result="&quot;ok&quot;">\n<summary>Done</summary>\n</details>\nAnswer <b>'
    )
    messages = {
        "u": {"id": "u", "parentId": None, "role": "user", "content": "hi"},
        "a": {"id": "a", "parentId": "u", "role": "assistant", "content": content},
    }
    history = {"currentId": "a", "messages": messages}
    conversation = loaded([{"chat": {"history": history}}], tmp_path)
    parts = [part for message in conversation.messages for part in message.parts]
    assert [(part.kind, part.text.strip()) for part in parts] == [
        (PartKind.TEXT, "hi"),
        (PartKind.THINKING, "1 < 2"),
        (PartKind.TOOL_CALL, '{"a": 1}'),
        (PartKind.TOOL_RESULT, '"ok"'),
        (PartKind.TEXT, "Answer <b>"),
    ]


def test_chatbot_ui_prompt_is_the_system_prompt(tmp_path: Path) -> None:
    said = [{"role": "user", "content": "hi"}, {"role": "nobody", "content": "x"}]
    value = {
        "version": 4,
        "folders": [],
        "history": [{"name": "N", "prompt": "be brief", "messages": said, "model": {"id": "m"}}],
    }
    conversation = loaded(value, tmp_path)
    assert texts(conversation) == ["be brief", "hi"]
    assert conversation.model == "m"
    assert len(conversation.origin.skipped) == 1


AIDER = """
# aider chat started at 2026-01-01 10:00:00

> Main model: claude-x with diff edit format

#### fix it
#### please

```json
{"a": 1}
```

> Applied edit to a.py

# aider chat started at 2026-01-02 10:00:00
"""


def test_aider_lines_of_one_speaker_are_one_message(tmp_path: Path) -> None:
    recording = opened(AIDER, tmp_path, ".aider.chat.history.md")
    (entry,) = recording.entries
    conversation = recording.load()
    assert (recording.format, entry.title, entry.model) == ("aider", "fix it please", "claude-x")
    assert texts(conversation)[1:3] == ["fix it\nplease", '```json\n{"a": 1}\n```']
    assert [bool(message.unused) for message in conversation.messages] == [True, False, False, True]
    assert conversation.messages[1].line == 6
    body = json.loads(write(conversation, Edit(range(4))))
    assert [message["role"] for message in body["messages"]] == ["user", "assistant"]


def test_text_is_not_read_as_json_nor_json_as_text(tmp_path: Path) -> None:
    path = tmp_path / "history.md"
    path.write_text(AIDER)
    with pytest.raises(InputError, match="text, not JSON: it cannot be read as openai-chat"):
        open_file(path, "openai-chat")
    path.write_text("[]")
    with pytest.raises(InputError, match="is JSON: it cannot be read as aider"):
        open_file(path, "aider")
