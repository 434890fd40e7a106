"""Recordings of Responses, Gemini, Bedrock, LangChain and LangSmith open and survive export."""

from __future__ import annotations

from pathlib import Path

import pytest

from stm_inspector.conversation.edit import Edit
from stm_inspector.conversation.model import PartKind
from stm_inspector.formats import open_file, recording_of, write
from stm_inspector.formats.compose import compose, targets
from stm_inspector.formats.document import parse

from .expected_wire import SAMPLES
from .helpers import reread, spoken

_FOLDERS = ("openai-responses", "gemini-contents", "bedrock-converse", "langsmith")


def test_every_file_of_these_formats_is_in_the_table(samples: Path) -> None:
    found = {
        str(path.relative_to(samples))
        for folder in _FOLDERS
        for path in (samples / folder).rglob("*.json*")
    }
    assert found == {name for name in SAMPLES if name.startswith(_FOLDERS)}


@pytest.mark.parametrize("name", SAMPLES)
def test_sample_opens_as_what_it_is(name: str, samples: Path) -> None:
    recording = open_file(samples / name)
    conversation = recording.load()
    kinds = [part.kind for message in conversation.messages for part in message.parts]
    counts = kinds.count(PartKind.TOOL_CALL), kinds.count(PartKind.TOOL_RESULT)
    assert (recording.format, len(conversation.messages), *counts) == SAMPLES[name]
    assert not conversation.origin.skipped
    assert PartKind.OPAQUE not in kinds
    assert recording.entries[recording.default].messages == len(conversation.messages)


@pytest.mark.parametrize("name", [n for n in SAMPLES if SAMPLES[n][0] != "langsmith"])
def test_every_conversation_exports_to_the_same_messages(name: str, samples: Path) -> None:
    recording = open_file(samples / name)
    for entry in recording.entries:
        conversation = recording.load(entry.number)
        text = write(conversation, Edit(kept=range(len(conversation.messages))))
        again = recording_of(parse(text)).load()
        assert again.format == conversation.format
        assert spoken(again.messages) == spoken(conversation.messages)


@pytest.mark.parametrize("target", [target.id for target in targets()])
@pytest.mark.parametrize("name", SAMPLES)
def test_calls_and_results_survive_conversion(name: str, target: str, samples: Path) -> None:
    conversation = open_file(samples / name).load()
    composed = compose(conversation, Edit(kept=range(len(conversation.messages))), target)
    again = reread(composed.text, target)
    kinds = [part.kind for message in again.messages for part in message.parts]
    counts = kinds.count(PartKind.TOOL_CALL), kinds.count(PartKind.TOOL_RESULT)
    assert counts == SAMPLES[name][2:]
    assert not again.structure.orphans


def test_credentials_for_tool_servers_are_not_kept(samples: Path) -> None:
    recording = open_file(samples / "openai-responses/mcp-server-tool.log.jsonl")
    conversation = recording.load()
    written = write(conversation, Edit(kept=range(len(conversation.messages))))
    for text in (written, repr(conversation), conversation.source.text):
        assert "custom-header-value" not in text
