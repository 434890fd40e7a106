"""Finding out the format of a long file by a part of it."""

from __future__ import annotations

import json
from typing import Any

import pytest

from stm_inspector.formats.document import parse
from stm_inspector.formats.registry import recording_of
from stm_inspector.formats.sampling import sample

PLAIN: list[dict[str, Any]] = [
    {"role": "assistant" if number % 2 else "user", "content": f"words {number}"}
    for number in range(3_000)
]
CALL = {"id": "c", "type": "function", "function": {"name": "run", "arguments": "{}"}}
TOOL_USE = {"type": "tool_use", "id": "c", "name": "run", "input": {}}


def test_short_documents_are_looked_at_whole() -> None:
    document = parse(json.dumps(PLAIN[:200]))
    assert sample(document) is document


@pytest.mark.parametrize("wrapped", [False, True], ids=["list", "body"])
def test_long_lists_are_cut_down_to_their_shapes(wrapped: bool) -> None:
    document = parse(json.dumps({"messages": PLAIN} if wrapped else PLAIN))
    value = sample(document).records[0].value
    few = value["messages"] if wrapped else value
    assert few[0] == PLAIN[0]
    assert few[-1] == PLAIN[-1]
    assert len(few) < 100
    whole = document.records[0].value
    assert len(whole["messages"] if wrapped else whole) == len(PLAIN)


def test_lines_are_cut_down_as_well() -> None:
    document = parse("\n".join(map(json.dumps, PLAIN)))
    assert len(sample(document).records) < 100


@pytest.mark.parametrize(
    ("message", "format_id"),
    [
        ({"role": "assistant", "content": None, "tool_calls": [CALL]}, "openai-chat"),
        ({"role": "assistant", "content": [TOOL_USE]}, "anthropic-messages"),
    ],
    ids=["keys", "content"],
)
@pytest.mark.parametrize("place", [0, 1_500, 3_000])
def test_one_message_in_a_long_log_gives_the_format_away(
    message: dict[str, Any], format_id: str, place: int
) -> None:
    talk = [*PLAIN[:place], message, *PLAIN[place:]]
    for text in (json.dumps(talk), json.dumps({"messages": talk})):
        recording = recording_of(parse(text))
        assert recording.format == format_id
        assert len(recording.load().messages) == len(talk)


def test_requests_are_counted_in_the_whole_file() -> None:
    body = {"messages": PLAIN[:2], "tools": [{"type": "function", "function": {"name": "run"}}]}
    recording = recording_of(parse("\n".join([json.dumps(body)] * 500)))
    assert recording.signature.startswith("500 requests")
    assert len(recording.entries) == 500


def test_long_lists_note_what_is_odd_once() -> None:
    odd = '{"role": "user", "role": "assistant", "content": "x", "weight": NaN}'
    text = f'{{"a": {odd}, "messages": [{", ".join([odd] * 100)}]}}'
    document = parse(text)
    assert any("name a key twice: 101." in note for note in document.notes)
    assert any(note.startswith("NaN") for note in document.notes)


def test_long_lists_that_are_cut_keep_what_stands_before() -> None:
    text = json.dumps(PLAIN)
    document = parse(text[: text.index("words 2000")])
    assert document.records[0].value == PLAIN[:2_000]
    assert document.skipped
