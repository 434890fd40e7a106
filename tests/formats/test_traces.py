"""Traces: OpenTelemetry GenAI, OpenInference, Langfuse. See formats.md sections 20 and 22."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from stm_inspector.conversation.errors import InputError
from stm_inspector.conversation.model import PartKind

from .helpers import kinds, lines, loaded, opened, texts


def otlp(*spans: dict[str, Any]) -> dict[str, Any]:
    """Spans as OTLP writes them; the attributes of a span are given as plain values."""
    return {"resourceSpans": [{"scopeSpans": [{"spans": [_span(span) for span in spans]}]}]}


def _span(span: dict[str, Any]) -> dict[str, Any]:
    told = [{"key": k, "value": _value(v)} for k, v in span["attributes"].items()]
    return {"name": "chat", "startTimeUnixNano": "1700000000000000000", **span, "attributes": told}


def _value(value: Any) -> dict[str, Any]:
    if isinstance(value, int):
        return {"intValue": str(value)}
    if isinstance(value, list):
        return {"arrayValue": {"values": [_value(item) for item in value]}}
    if isinstance(value, dict):
        pairs = [{"key": k, "value": _value(v)} for k, v in value.items()]
        return {"kvlistValue": {"values": pairs}}
    return {"stringValue": value}


def turn(role: str, *parts: dict[str, Any]) -> dict[str, Any]:
    return {"role": role, "parts": list(parts)}


SAID = [
    turn("user", {"type": "text", "content": "weather?"}),
    turn(
        "assistant",
        {"type": "reasoning", "content": "hm"},
        {"type": "tool_call", "id": "c", "name": "get", "arguments": {"city": "東京"}},
    ),
    turn("tool", {"type": "tool_call_response", "id": "c", "response": {"c": 18}}),
]
GENAI = {
    "gen_ai.operation.name": "chat",
    "gen_ai.request.model": "claude-x",
    "gen_ai.system_instructions": json.dumps([{"type": "text", "content": "be"}]),
    "gen_ai.tool.definitions": json.dumps([{"type": "function", "name": "get", "parameters": {}}]),
    "gen_ai.input.messages": json.dumps(SAID),
    "gen_ai.output.messages": json.dumps([turn("assistant", {"type": "text", "content": "18"})]),
    "gen_ai.usage.input_tokens": 50,
    "gen_ai.usage.output_tokens": 5,
}


def test_otlp_span_is_one_exact_window(tmp_path: Path) -> None:
    structured = GENAI | {"gen_ai.input.messages": SAID}
    for attributes in (GENAI, structured):
        conversation = loaded(otlp({"attributes": attributes}), tmp_path)
        assert (conversation.format, conversation.api) == ("otel-genai", "anthropic-messages")
        assert [m.source_field for m in conversation.messages[:3]] == ["system", "tools", None]
        assert kinds(conversation.messages[3]) == [PartKind.THINKING, PartKind.TOOL_CALL]
        assert conversation.messages[4].parts[0].text == '{"c": 18}'
        usage = conversation.messages[-1].usage
        assert usage is not None
        assert (usage.input, usage.output) == (50, 5)


def test_spans_of_the_sdk_and_a_record_a_line(tmp_path: Path) -> None:
    sdk = {
        "name": "chat",
        "context": {"span_id": "0x1"},
        "start_time": "2026-01-01T00:00:00Z",
        "attributes": GENAI,
    }
    assert texts(loaded([sdk], tmp_path))[-1] == "18"
    later = otlp({"attributes": {"gen_ai.prompt.0.role": "user", "gen_ai.prompt.0.content": "x"}})
    recording = opened(lines([otlp({"attributes": GENAI}), later]), tmp_path)
    assert [entry.messages for entry in recording.entries] == [6, 1]
    assert recording.default == 0


def test_older_conventions(tmp_path: Path) -> None:
    flat = {
        "gen_ai.prompt.0.role": "user",
        "gen_ai.prompt.0.content": "hi",
        "gen_ai.completion.0.role": "assistant",
        "gen_ai.completion.0.tool_calls.0.id": "c",
        "gen_ai.completion.0.tool_calls.0.name": "get",
        "gen_ai.completion.0.tool_calls.0.arguments": '{"a": 1}',
    }
    answer = loaded(otlp({"attributes": flat}), tmp_path).messages[-1]
    assert (answer.parts[0].name, answer.parts[0].text) == ("get", '{"a": 1}')
    event = {
        "name": "gen_ai.user.message",
        "attributes": [{"key": "content", "value": _value("yo")}],
    }
    assert texts(loaded(otlp({"attributes": {}, "events": [event]}), tmp_path)) == ["yo"]


def test_value_that_a_limit_cut_stays_text(tmp_path: Path) -> None:
    cut = GENAI | {"gen_ai.input.messages": json.dumps(SAID)[:40]}
    conversation = loaded(otlp({"attributes": cut}), tmp_path)
    assert json.dumps(SAID)[:40] in texts(conversation)
    assert "no valid JSON, perhaps cut" in " ".join(conversation.origin.notes)


def test_spans_without_messages(tmp_path: Path) -> None:
    silent = otlp({"attributes": {"gen_ai.tool.name": "get"}})
    with pytest.raises(InputError, match="holds 1 span without messages: let the tracer record"):
        opened(silent, tmp_path)


def test_openinference_sorts_by_number(tmp_path: Path) -> None:
    attributes: dict[str, Any] = {"llm.model_name": "gpt-x", "llm.token_count.prompt": 12}
    for place in range(11):
        attributes[f"llm.input_messages.{place}.message.role"] = "user"
        attributes[f"llm.input_messages.{place}.message.content"] = str(place)
    said = "llm.input_messages.11.message.contents"
    attributes["llm.input_messages.11.message.role"] = "user"
    attributes[f"{said}.0.message_content.type"] = "text"
    attributes[f"{said}.0.message_content.text"] = "see"
    attributes[f"{said}.1.message_content.type"] = "image"
    attributes[f"{said}.1.message_content.image.image.url"] = "https://example.org/x.png"
    answer = "llm.output_messages.0.message"
    attributes[f"{answer}.role"] = "assistant"
    attributes[f"{answer}.tool_calls.0.tool_call.function.name"] = "get"
    attributes[f"{answer}.tool_calls.0.tool_call.function.arguments"] = '{"a": 1}'
    conversation = loaded(otlp({"attributes": attributes}), tmp_path)
    assert conversation.format == "openinference"
    assert texts(conversation)[:11] == [str(place) for place in range(11)]
    assert kinds(conversation.messages[11]) == [PartKind.TEXT, PartKind.IMAGE]
    last = conversation.messages[-1]
    assert (last.parts[0].name, last.parts[0].call_id) == ("get", None)
    assert last.usage is not None
    assert last.usage.input == 12


def observation(id: str, parent: str | None, **members: Any) -> dict[str, Any]:
    return {"id": id, "parentObservationId": parent, "type": "GENERATION", **members}


def test_langfuse_takes_the_innermost_generations(tmp_path: Path) -> None:
    sent = json.dumps([{"role": "user", "content": "hi"}])
    call = {"toolCallId": "c", "toolName": "get", "input": {"a": 1}}
    trace = {
        "trace": {},
        "observations": [
            observation("root", None, input='"hi"', output="bye"),
            observation("span", "root", type="SPAN"),
            observation(
                "leaf",
                "span",
                name="doStream",
                model="gpt-x",
                input=sent,
                output=json.dumps({"text": "let me", "toolCalls": [call]}),
                metadata={"tools": [json.dumps({"type": "function", "name": "get"})]},
                usageDetails={"input": 5, "input_cached_tokens": 3, "output": 2},
            ),
            observation("empty", "span", name="doStream", input=None, output=None),
        ],
    }
    recording = opened(trace, tmp_path)
    assert [(e.title, e.model, e.messages) for e in recording.entries] == [("doStream", "gpt-x", 3)]
    tools, asked, answer = recording.load().messages
    assert tools.parts[0].kind is PartKind.TOOL_DEFINITION
    assert asked.parts[0].text == "hi"
    assert kinds(answer) == [PartKind.TEXT, PartKind.TOOL_CALL]
    assert answer.usage is not None
    assert (answer.usage.input, answer.usage.cache_read) == (8, 3)


def test_langfuse_without_content(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="holds 1 generation and none with an input"):
        opened({"trace": {}, "observations": [observation("a", None)]}, tmp_path)
    circle = [observation("a", "b", input="x"), observation("b", "a", input="y")]
    with pytest.raises(InputError, match="none with an input"):
        opened({"trace": {}, "observations": circle}, tmp_path)
