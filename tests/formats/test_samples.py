"""Every recorded conversation of the three formats opens, counts right, and survives export."""

from __future__ import annotations

from pathlib import Path

import pytest

from stm_inspector.conversation.edit import Edit
from stm_inspector.conversation.errors import InputError
from stm_inspector.conversation.model import PartKind
from stm_inspector.formats import open_file, write

from .expected import SAMPLES, WITHOUT_MESSAGES
from .helpers import reread, spoken


def test_every_file_of_the_three_formats_is_in_the_table(samples: Path) -> None:
    folders = ("openai-chat", "anthropic-messages", "claude-code", "claude-web-session")
    found = {
        str(path.relative_to(samples))
        for folder in folders
        for path in (samples / folder).rglob("*.json*")
        if not path.name.endswith(".meta.json")
    }
    assert found == {name for name in SAMPLES if name.startswith(folders)} | set(WITHOUT_MESSAGES)


@pytest.mark.parametrize("name", SAMPLES)
def test_sample_opens_as_what_it_is(name: str, samples: Path) -> None:
    recording = open_file(samples / name)
    conversation = recording.load()
    kinds = [part.kind for message in conversation.messages for part in message.parts]
    assert (
        recording.format,
        len(conversation.messages),
        kinds.count(PartKind.TOOL_CALL),
        kinds.count(PartKind.TOOL_RESULT),
    ) == SAMPLES[name]
    assert not conversation.origin.skipped
    announced = recording.entries[recording.default].messages
    assert announced in (None, len(conversation.messages))


@pytest.mark.parametrize("name", SAMPLES)
def test_every_conversation_of_a_sample_exports_to_the_same_messages(
    name: str, samples: Path
) -> None:
    recording = open_file(samples / name)
    for entry in recording.entries:
        conversation = recording.load(entry.number)
        text = write(conversation, Edit(kept=range(len(conversation.messages))))
        again = reread(text, conversation.api)
        assert spoken(again.messages) == spoken(conversation.messages)


@pytest.mark.parametrize("name", WITHOUT_MESSAGES)
def test_session_without_messages_is_refused_in_one_sentence(name: str, samples: Path) -> None:
    with pytest.raises(InputError, match="session without messages: it holds nothing but"):
        open_file(samples / name)


def test_results_of_parallel_calls_stand_right_behind_their_calls(samples: Path) -> None:
    for name in (name for name in SAMPLES if name.startswith("claude-code/")):
        messages = open_file(samples / name).load().messages
        for at, message in enumerate(messages):
            calls = {p.call_id for p in message.parts if p.kind is PartKind.TOOL_CALL}
            if calls and at + 1 < len(messages):
                after = messages[at + 1].parts
                assert {p.call_id for p in after if p.kind is PartKind.TOOL_RESULT} == calls, name


def test_notes_of_a_compacted_session(samples: Path) -> None:
    conversation = open_file(samples / "claude-code/spotter-4d5611e5.jsonl").load()
    notes = " ".join(conversation.origin.notes)
    assert "system prompt and the tool definitions are not in this file" in notes
    assert "compacted in line 754 (auto at 170,251 tokens): 132 messages before it" in notes
    assert conversation.messages[0].injected
    assert conversation.messages[0].tags == {"compaction": "summary"}


def test_error_as_response_is_said(samples: Path) -> None:
    first = open_file(samples / "openai-chat/groq-tool-use-failed.log.jsonl").load(0)
    assert len(first.messages) == 3
    assert "Tool call validation failed" in " ".join(first.origin.notes)


def test_nothing_of_a_log_is_kept_but_the_body(samples: Path) -> None:
    conversation = open_file(samples / "anthropic-messages/cache-real.log.jsonl").load()
    assert "https://" not in conversation.source.text
