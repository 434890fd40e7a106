"""States of agent frameworks, data sets, Ollama, and the last resort."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from stm_inspector.conversation.edit import Edit
from stm_inspector.conversation.errors import InputError
from stm_inspector.conversation.model import PartKind, Role, Usage
from stm_inspector.formats import open_file, write

from .helpers import kinds, lines, loaded, opened, texts

PNG = "iVBORw0KGgoAAAANSUhEUgAAAAIAAAADCAYAAAC56t6BAAAAAElFTkSuQmCC"
"""A header that says 2 by 3 pixels."""


def roles(conversation: Any) -> list[str]:
    return [message.role.value for message in conversation.messages]


def test_sharegpt_calls_tools_and_a_call_that_is_no_json(tmp_path: Path) -> None:
    record = {
        "conversations": [
            {"from": "human", "value": "hi"},
            {"from": "function_call", "value": '{"name": "f", "arguments": {"a": 1}}'},
            {"from": "observation", "value": "ok"},
            {"from": "function_call", "value": '{"name": "f", '},
            {"from": "gpt", "value": "done"},
            {"from": "narrator", "value": "x"},
        ],
        "system": "be brief",
        "tools": '[{"name": "f", "parameters": {"type": "object"}}]',
    }
    conversation = loaded([record, record], tmp_path)
    assert roles(conversation) == [
        "system",
        "system",
        "user",
        "assistant",
        "tool",
        "assistant",
        "assistant",
    ]
    assert conversation.structure.groups == ((3, 4),)
    assert conversation.messages[5].parts[0].text == '{"name": "f", '
    assert "1 turn of unknown speakers" in conversation.origin.skipped[0].reason


def test_sharegpt_offers_the_chosen_and_the_rejected_answer(tmp_path: Path) -> None:
    record = {
        "conversations": [{"from": "human", "value": "hi"}],
        "chosen": {"from": "gpt", "value": "good"},
        "rejected": {"from": "gpt", "value": "bad"},
    }
    recording = opened(lines([record]), tmp_path)
    assert [texts(recording.load(n)) for n in (0, 1)] == [["hi", "good"], ["hi", "bad"]]
    assert recording.entries[1].title == "hi (rejected)"


def test_sharegpt_images_stand_where_their_placeholders_are(tmp_path: Path) -> None:
    said = {"role": "user", "content": "a<image>b<image>c"}
    conversation = loaded([{"messages": [said], "images": ["1.jpg"]}], tmp_path)
    parts = conversation.messages[0].parts
    assert [part.kind for part in parts][:2] == [PartKind.TEXT, PartKind.IMAGE]
    assert [part.text for part in parts] == ["a", "", "b", "<image>", "c"]
    assert parts[1].hidden


def test_a_fine_tuning_file_of_openai_stays_openai(tmp_path: Path) -> None:
    record = {"messages": [{"role": "user", "content": "x"}, {"role": "assistant", "content": "y"}]}
    assert opened(lines([record, record]), tmp_path).format == "openai-chat"


def test_llama_index_call_in_block_and_kwargs_counts_once(tmp_path: Path) -> None:
    made = {"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    block = {"block_type": "tool_call", "tool_call_id": "c", "tool_name": "f", "tool_kwargs": {}}
    image = {"block_type": "image", "image": PNG}
    messages = [
        {"role": "user", "additional_kwargs": {}, "blocks": [image]},
        {"role": "assistant", "additional_kwargs": {"tool_calls": [made]}, "blocks": [block]},
        {"role": "tool", "additional_kwargs": {"tool_call_id": "c"}, "content": "ok"},
    ]
    value = {"chat_store": {"store": {"k": messages}}, "token_limit": 9}
    conversation = loaded(value, tmp_path)
    assert [kinds(message) for message in conversation.messages] == [
        [PartKind.IMAGE],
        [PartKind.TOOL_CALL],
        [PartKind.TOOL_RESULT],
    ]
    media = conversation.messages[0].parts[0].media
    assert media is not None
    assert (media.width, media.height) == (2, 3)
    assert "at most 9 tokens" in conversation.origin.notes[-1]


def test_autogen_thought_belongs_to_the_call_and_the_summary_is_a_copy(tmp_path: Path) -> None:
    call = {"id": "c", "name": "f", "arguments": "{}"}
    answer = {"call_id": "c", "name": "f", "content": "boom", "is_error": True}
    events = [
        {"type": "TextMessage", "source": "user", "content": "hi"},
        {"type": "ThoughtEvent", "source": "a", "content": "hm"},
        {
            "type": "ToolCallRequestEvent",
            "source": "a",
            "content": [call],
            "models_usage": {"prompt_tokens": 7, "completion_tokens": 2},
        },
        {"type": "ToolCallExecutionEvent", "source": "a", "content": [answer]},
        {"type": "ToolCallSummaryMessage", "source": "a", "content": "boom"},
        {"type": "SomethingNew", "source": "a", "content": {"x": 1}},
    ]
    conversation = loaded(lines(events), tmp_path)
    assert [kinds(message) for message in conversation.messages] == [
        [PartKind.TEXT],
        [PartKind.THINKING, PartKind.TOOL_CALL],
        [PartKind.TOOL_RESULT],
        [PartKind.TEXT],
        [PartKind.OPAQUE],
    ]
    assert conversation.messages[1].usage == Usage(7, 2)
    assert conversation.messages[2].parts[0].is_error
    assert conversation.messages[3].unused
    assert conversation.messages[4].parts[0].raw == events[-1]


def test_autogen_team_shows_the_contexts_of_its_agents_first(tmp_path: Path) -> None:
    said = [{"type": "UserMessage", "source": "user", "content": "hi"}]
    thread = [{"type": "TextMessage", "source": "user", "content": "hi"}] * 2
    value = {
        "agent_states": {
            "manager": {"message_thread": thread},
            "writer": {"agent_state": {"llm_context": {"messages": said}}},
        }
    }
    titles = [entry.title for entry in opened(value, tmp_path).entries]
    assert titles == ["writer", "manager: message thread"]


def test_pydantic_ai_parts_of_a_request_and_the_newest_instructions(tmp_path: Path) -> None:
    def request(instructions: str, *parts: dict[str, Any]) -> dict[str, Any]:
        return {"kind": "request", "instructions": instructions, "parts": list(parts)}

    retry = {"part_kind": "retry-prompt", "content": "again", "tool_call_id": "c"}
    messages = [
        request("old", {"part_kind": "user-prompt", "content": "hi"}),
        {
            "kind": "response",
            "provider_name": "anthropic",
            "model_name": "m",
            "usage": {"input_tokens": 9, "output_tokens": 1, "cache_read_tokens": 4},
            "parts": [
                {"part_kind": "tool-call", "tool_name": "f", "args": "{", "tool_call_id": "c"}
            ],
        },
        request("new", {**retry, "tool_name": "f"}, retry, {"part_kind": "unheard-of"}),
    ]
    conversation = loaded(messages, tmp_path)
    assert roles(conversation) == ["system", "user", "assistant", "tool", "user"]
    assert texts(conversation)[0] == "new"
    assert conversation.api == "anthropic-messages"
    assert conversation.messages[2].usage == Usage(9, 1, 4)
    assert conversation.messages[3].parts[0].is_error
    assert kinds(conversation.messages[4]) == [PartKind.TEXT, PartKind.OPAQUE]


def test_vercel_steps_part_a_message_and_v4_invocations_are_read(tmp_path: Path) -> None:
    def tool(id: str, state: str = "output-available") -> dict[str, Any]:
        return {"type": "tool-f", "toolCallId": id, "state": state, "input": {}, "output": id}

    step = {"type": "step-start"}
    parts = [
        step,
        tool("1"),
        tool("2"),
        step,
        tool("3"),
        {"type": "data-x", "data": 1},
        tool("4", "input-available"),
    ]
    value = {"messages": [{"id": "a", "role": "assistant", "parts": parts}]}
    conversation = loaded(value, tmp_path)
    assert roles(conversation) == [
        "assistant",
        "tool",
        "assistant",
        "tool",
    ]
    assert conversation.structure.groups == ((0, 1), (2, 3))
    assert len(conversation.structure.unanswered) == 1
    made = {"state": "result", "toolCallId": "c", "toolName": "f", "args": {}, "result": {"a": 1}}
    old = [{"role": "assistant", "content": "so", "toolInvocations": [made]}]
    conversation = loaded(old, tmp_path)
    assert texts(conversation) == ["so|{}", '{"a": 1}']


def test_semantic_kernel_unknown_items_stay_verbatim(tmp_path: Path) -> None:
    item = {"content_type": "annotation", "quote": "q"}
    value = {"messages": [{"role": "assistant", "items": [item]}, {"role": "user", "items": []}]}
    conversation = loaded(value, tmp_path)
    assert conversation.messages[0].parts[0].raw == item
    assert kinds(conversation.messages[0]) == [PartKind.OPAQUE]


OLLAMA: dict[str, Any] = {
    "model": "m",
    "options": {"num_ctx": 2048},
    "messages": [
        {"role": "user", "content": "hi", "images": [PNG]},
        {
            "role": "assistant",
            "content": "",
            "thinking": "hm",
            "tool_calls": [{"function": {"name": "f", "arguments": {"a": 1}}}],
        },
        {"role": "tool", "tool_name": "f", "content": "ok"},
    ],
}


def test_ollama_body_is_written_as_it_was_read(tmp_path: Path) -> None:
    text = json.dumps(OLLAMA)
    conversation = loaded(text, tmp_path)
    assert conversation.format == "ollama"
    assert conversation.structure.groups == ((1, 2),)
    assert "2,048 tokens" in conversation.origin.notes[-1]
    assert write(conversation, Edit(range(3))) == text
    body = json.loads(write(conversation, Edit(range(3), results={(2, 0): "short"})))
    assert body["messages"][2] == {"role": "tool", "tool_name": "f", "content": "short"}
    body = json.loads(write(conversation, Edit((1, 2), dropped_parts=frozenset({(1, 0)}))))
    assert "thinking" not in body["messages"][0]
    body = json.loads(write(conversation, Edit((0,), texts={0: "x"})))
    assert body["messages"] == [{"role": "user", "content": "x"}]


def test_ollama_stream_is_one_answer(tmp_path: Path) -> None:
    pieces = [
        {"model": "m", "message": {"role": "assistant", "content": word}, "done": False}
        for word in ("Hel", "lo")
    ]
    end = {"role": "assistant", "content": ""}
    last = {"model": "m", "message": end, "done": True, "prompt_eval_count": 5, "eval_count": 2}
    conversation = loaded(lines([*pieces, last]), tmp_path)
    assert texts(conversation) == ["Hello"]
    assert conversation.messages[0].usage == Usage(5, 2)


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ([{"speaker": "Human", "utterance": "hi"}, {"speaker": "Bot", "utterance": "yo"}], "guess"),
        ({"name": "N", "log": [{"sender": "user", "body": "hi"}]}, "'sender' and 'body'"),
        ([{"type": "ai", "text": "hi"}, {"type": "human", "text": "yo"}], "'type' and 'text'"),
    ],
)
def test_plain_is_a_guess_and_says_so(value: Any, said: str, tmp_path: Path) -> None:
    recording = opened(value, tmp_path)
    conversation = recording.load()
    assert recording.format == "plain"
    assert said in recording.signature
    assert "This is a guess" in conversation.origin.notes[0]


def test_plain_keeps_unknown_speakers_by_name_and_counts_what_it_leaves(tmp_path: Path) -> None:
    value = [
        {"from": "user", "text": "hi", "mood": 1, "ts": 1700000000},
        {"from": "Ada", "text": "hello"},
        {"from": "bot"},
    ]
    conversation = loaded(value, tmp_path)
    assert [(m.role, m.name) for m in conversation.messages] == [
        (Role.USER, None),
        (Role.USER, "Ada"),
    ]
    assert conversation.messages[0].time == 1700000000
    assert "'mood'" in conversation.origin.notes[-1]
    assert conversation.origin.skipped


@pytest.mark.parametrize(
    "value",
    [
        [{"type": "user", "text": "x"}, {"type": "event", "text": "y"}],
        [{"role": "nobody", "content": "x"}],
        [{"name": "x", "value": 1}],
        {"rows": [{"from": "2020", "value": "x"}]},
    ],
)
def test_lists_in_which_nobody_known_speaks_are_refused(value: Any, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no conversation that is known here"):
        opened(value, tmp_path)


def test_a_format_that_is_asked_for_refuses_in_a_sentence(tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    path.write_text('[{"role": "user", "content": "x"}]')
    for id in ("chatgpt", "claude-ai", "open-webui", "librechat", "chatbot-ui", "autogen"):
        with pytest.raises(InputError, match="holds no conversation of the kind"):
            open_file(path, id)
