"""What only Gemini, Bedrock and LangChain have."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from stm_inspector.conversation.edit import Edit, Insert
from stm_inspector.conversation.model import PartKind
from stm_inspector.formats import write

from .helpers import kinds, loaded, reread, texts


def _gemini(snake: bool) -> dict[str, Any]:
    call, response, system = (
        ("function_call", "function_response", "system_instruction")
        if snake
        else ("functionCall", "functionResponse", "systemInstruction")
    )
    said = {"name": "f", "response": {"output": "ok"}}
    return {
        system: {"parts": [{"text": "Be brief."}]},
        "contents": [
            {"parts": [{"text": "Go"}]},
            {
                "role": "model",
                "parts": [{call: {"name": "f", "args": {}}, "thoughtSignature": "s"}],
            },
            {"role": "user", "parts": [{response: said}]},
        ],
    }


@pytest.mark.parametrize("snake", [False, True])
def test_gemini_in_both_spellings(snake: bool, tmp_path: Path) -> None:
    conversation = loaded(_gemini(snake), tmp_path)
    assert texts(conversation) == ["Be brief.", "Go", "{}", "ok"]
    assert len(conversation.structure.links) == 1
    edit = Edit(kept=[0, 1, 2, 3], results={(3, 0): "-"}, inserts=[Insert(1, "user", "Before.")])
    again = reread(write(conversation, edit), "gemini")
    assert texts(again) == ["Be brief.", "Before.", "Go", "{}", "-"]


def test_gemini_result_without_a_call_is_an_orphan(tmp_path: Path) -> None:
    contents = _gemini(False)["contents"]
    conversation = loaded([contents[0], contents[2]], tmp_path)
    assert conversation.structure.orphans == ((1, 0),)


def test_gemini_history_in_a_checkpoint_and_parts_without_a_content(tmp_path: Path) -> None:
    contents = _gemini(False)["contents"]
    contents[2] = contents[2]["parts"]
    text = json.dumps({"history": contents, "authType": "x"})
    conversation = loaded(text, tmp_path)
    assert (conversation.format, len(conversation.structure.links)) == ("gemini", 1)
    assert write(conversation, Edit(kept=range(3))) == text


def test_bedrock_cache_points_mark_what_stands_before_them(tmp_path: Path) -> None:
    point = {"cachePoint": {"type": "default"}}
    body = {
        "system": [{"text": "Be brief."}, point],
        "messages": [{"role": "user", "content": [{"text": "a"}, point, {"text": "b"}]}],
        "inferenceConfig": {},
    }
    conversation = loaded(body, tmp_path)
    marks = [part.cache_marker for message in conversation.messages for part in message.parts]
    assert marks == [True, True, False]
    dropped = write(conversation, Edit(kept=[0, 1], dropped_parts=frozenset([(1, 0)])))
    assert json.loads(dropped)["messages"][0]["content"] == [{"text": "b"}]


def test_bedrock_usage_takes_the_cache_in(tmp_path: Path) -> None:
    usage = {"inputTokens": 2, "outputTokens": 5, "cacheReadInputTokens": 1322}
    message = {"role": "assistant", "content": [{"text": "21"}]}
    conversation = loaded({"output": {"message": message}, "usage": usage}, tmp_path)
    found = conversation.messages[0].usage
    assert found is not None
    assert (found.input, found.cache_read) == (1324, 1322)


def _told_twice() -> dict[str, Any]:
    block = {"type": "tool_use", "id": "t1", "name": "f", "input": {"a": 1}}
    call = {"name": "f", "args": {"a": 1}, "id": "t1", "type": "tool_call"}
    content = [{"type": "text", "text": "I look."}, block]
    data = {"content": content, "type": "ai", "tool_calls": [call]}
    return {"type": "ai", "data": data}


def test_langchain_call_that_is_told_twice_counts_once_and_goes_whole(tmp_path: Path) -> None:
    human = {"type": "human", "data": {"content": "Go", "type": "human"}}
    conversation = loaded([human, _told_twice()], tmp_path)
    assert kinds(conversation.messages[1]) == [PartKind.TEXT, PartKind.TOOL_CALL]
    text = write(conversation, Edit(kept=[0, 1], dropped_parts=frozenset([(1, 1)])))
    assert "t1" not in text


@pytest.mark.parametrize("kind", [None, 1, [], {}, "hologram"])
def test_langchain_block_of_any_type_is_kept(kind: Any, tmp_path: Path) -> None:
    block = {"type": kind, "x": 1}
    conversation = loaded([{"type": "human", "content": [block]}], tmp_path)
    assert kinds(conversation.messages[0]) == [PartKind.OPAQUE]
    assert json.loads(write(conversation, Edit(kept=[0])))[0]["content"] == [block]


def test_langchain_removals_are_carried_out(tmp_path: Path) -> None:
    messages = [
        {"type": "human", "content": "Old", "id": "h1"},
        {"type": "human", "content": "New", "id": "h2"},
        {"type": "remove", "content": "", "id": "h1"},
    ]
    conversation = loaded({"messages": messages}, tmp_path)
    assert texts(conversation) == ["New"]
    assert "2 entries with RemoveMessage" in conversation.origin.notes[0]


def test_langchain_remembers_whose_api_it_spoke(tmp_path: Path) -> None:
    told = {"model_provider": "anthropic", "model_name": "claude-sonnet-4-5"}
    messages = [
        {"type": "human", "content": "Go"},
        {"type": "ai", "content": "Done.", "response_metadata": told},
    ]
    conversation = loaded(messages, tmp_path)
    assert (conversation.format, conversation.api) == ("langchain", "anthropic-messages")
    assert conversation.model == "claude-sonnet-4-5"


def test_langsmith_takes_each_call_of_a_model_as_a_conversation(tmp_path: Path) -> None:
    human = {"lc": 1, "id": ["HumanMessage"], "kwargs": {"content": "Go"}}
    answer = {"lc": 1, "id": ["AIMessage"], "kwargs": {"content": "Done."}}
    run = {
        "run_type": "llm",
        "trace_id": "t",
        "dotted_order": "2",
        "inputs": {"messages": [[human]]},
        "outputs": {"generations": [[{"message": answer}]]},
        "extra": {"invocation_params": {"model": "m", "tools": [{"name": "f"}]}},
    }
    conversation = loaded([run, {**run, "run_type": "tool"}], tmp_path)
    assert (conversation.origin.count, conversation.model) == (1, "m")
    assert texts(conversation)[1:] == ["Go", "Done."]
    again = reread(write(conversation, Edit(kept=[1, 2])), "openai-chat")
    assert texts(again) == ["Go", "Done."]
