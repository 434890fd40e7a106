"""What only Responses has: items, streams, history that is kept by the provider."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from stm_inspector.conversation.edit import Edit, Insert
from stm_inspector.conversation.errors import InputError
from stm_inspector.conversation.model import PartKind, Role
from stm_inspector.formats import write

from .helpers import kinds, lines, loaded, reread, texts

_CALL = {"type": "function_call", "id": "fc_1", "call_id": "call_1", "name": "f", "arguments": "{}"}
_OUTPUT = {"type": "function_call_output", "call_id": "call_1", "output": "ok"}
_REASONING = {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "gAAA"}


def _events(*events: dict[str, Any]) -> str:
    return "".join(f"event: {e['type']}\ndata: {json.dumps(e)}\n\n" for e in events)


def test_pairs_by_call_id_and_never_by_id(tmp_path: Path) -> None:
    user = {"role": "user", "content": "Go"}
    conversation = loaded([user, _CALL, _OUTPUT], tmp_path)
    assert [link.call for link in conversation.structure.links] == [(1, 0)]
    assert conversation.messages[1].parts[0].call_id == "call_1"


def test_reasoning_goes_with_the_item_behind_it(tmp_path: Path) -> None:
    user = {"role": "user", "content": "Go"}
    conversation = loaded([user, _REASONING, _CALL, _OUTPUT], tmp_path)
    assert conversation.structure.groups == ((1, 2, 3),)
    thought = conversation.messages[1].parts[0]
    assert (thought.kind, thought.hidden) == (PartKind.THINKING, "encrypted by the provider")


def test_history_at_the_provider_is_said(tmp_path: Path) -> None:
    body = {"model": "m", "input": "And now?", "previous_response_id": "resp_7"}
    conversation = loaded(body, tmp_path)
    assert texts(conversation) == ["And now?"]
    assert conversation.origin.notes[0].startswith("Partial:")
    assert "resp_7" in conversation.origin.notes[0]


def test_text_as_input_stays_a_text_until_something_joins_it(tmp_path: Path) -> None:
    text = '{"model": "m", "instructions": "Be brief.", "input":  "G\\u006f"}'
    conversation = loaded(text, tmp_path)
    assert [message.role for message in conversation.messages] == [Role.SYSTEM, Role.USER]
    assert write(conversation, Edit(kept=[0, 1])) == text
    more = write(conversation, Edit(kept=[0, 1], inserts=[Insert(1, "user", "Before.")]))
    assert texts(reread(more, "openai-responses")) == ["Be brief.", "Before.", "Go"]


@pytest.mark.parametrize(
    ("item", "call", "result"),
    [
        ({"type": "mcp_call", "name": "ask", "arguments": "{}", "output": "yes"}, "{}", "yes"),
        (
            {
                "type": "code_interpreter_call",
                "code": "1+1",
                "outputs": [{"type": "logs", "logs": "2"}],
            },
            "1+1",
            "2",
        ),
        (
            {"type": "file_search_call", "queries": ["q"], "results": [{"text": "hit"}]},
            '["q"]',
            "hit",
        ),
    ],
)
def test_call_and_result_in_one_record(
    item: dict[str, Any], call: str, result: str, tmp_path: Path
) -> None:
    conversation = loaded([{"role": "user", "content": "Go"}, {"id": "x", **item}], tmp_path)
    message = conversation.messages[1]
    assert kinds(message) == [PartKind.TOOL_CALL, PartKind.TOOL_RESULT]
    assert [part.text for part in message.parts] == [call, result]
    assert all(part.server for part in message.parts)
    cleared = write(conversation, Edit(kept=[0, 1], results={(1, 1): "[cleared]"}))
    assert reread(cleared, "openai-responses").messages[1].parts[1].text == "[cleared]"


def test_what_a_web_search_found_is_unknown_and_not_nothing(tmp_path: Path) -> None:
    item = {"type": "web_search_call", "id": "ws", "action": {"type": "search", "query": "q"}}
    conversation = loaded([{"role": "user", "content": "Go"}, item], tmp_path)
    assert conversation.messages[1].parts[1].hidden == "kept by the provider"


def test_definitions_inside_the_items(tmp_path: Path) -> None:
    tool = {"name": "ask", "input_schema": {"type": "object"}}
    items = [{"type": "mcp_list_tools", "server_label": "s", "tools": [tool]}, _CALL, _OUTPUT]
    message = loaded(items, tmp_path).messages[0]
    assert (message.role, kinds(message)) == (Role.SYSTEM, [PartKind.TOOL_DEFINITION])


def test_unknown_items_are_kept_verbatim(tmp_path: Path) -> None:
    items = [{"type": "hologram", "data": 1.50}, _CALL, _OUTPUT]
    text = json.dumps(items).replace("1.5", "1.50")
    conversation = loaded(text, tmp_path)
    assert kinds(conversation.messages[0]) == [PartKind.OPAQUE]
    assert write(conversation, Edit(kept=[0, 1, 2])) == text


def test_stream_gives_its_last_response(tmp_path: Path) -> None:
    message = {
        "type": "message",
        "role": "assistant",
        "content": [{"type": "output_text", "text": "Hi"}],
    }
    response = {"object": "response", "model": "m", "output": [message]}
    stream = _events(
        {"type": "response.created", "response": {**response, "output": []}},
        {"type": "response.output_text.delta", "output_index": 0, "delta": "H"},
        {"type": "response.completed", "response": response},
    )
    conversation = loaded(stream + "data: [DONE]\n", tmp_path, "run.sse.txt")
    assert conversation.format == "openai-responses"
    assert (texts(conversation), conversation.model) == (["Hi"], "m")
    assert conversation.origin.notes[0].startswith("The answer was put together from 3 events")


def test_stream_that_breaks_off_gives_what_had_arrived(tmp_path: Path) -> None:
    stream = _events(
        {"type": "response.created", "response": {"object": "response", "output": []}},
        {"type": "response.output_text.delta", "output_index": 0, "content_index": 0, "delta": "H"},
        {"type": "response.output_text.delta", "output_index": 0, "content_index": 0, "delta": "i"},
        {
            "type": "response.output_item.added",
            "output_index": 1,
            "item": {**_CALL, "arguments": ""},
        },
        {"type": "response.function_call_arguments.delta", "output_index": 1, "delta": '{"a'},
    )
    conversation = loaded(stream, tmp_path, "run.sse.txt")
    assert texts(conversation) == ["Hi", '{"a']
    assert "breaks off" in conversation.origin.notes[1]


def test_items_a_line(tmp_path: Path) -> None:
    conversation = loaded(lines([{"role": "user", "content": "Go"}, _CALL, _OUTPUT]), tmp_path)
    assert (conversation.format, len(conversation.messages)) == ("openai-responses", 3)


@pytest.mark.parametrize(
    "body",
    [
        {"model": "text-embedding-3-small", "input": "words"},
        {"model": "tts-1", "input": "words", "voice": "alloy"},
    ],
)
def test_other_requests_with_an_input_are_not_taken(body: dict[str, Any], tmp_path: Path) -> None:
    with pytest.raises(InputError):
        loaded(body, tmp_path)
