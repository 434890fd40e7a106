"""Logs of agents, evaluations and traces open as what they are, and survive export and damage."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from stm_inspector.buffer.edits import edit_of
from stm_inspector.conversation.edit import Edit
from stm_inspector.conversation.errors import InputError
from stm_inspector.conversation.model import PartKind
from stm_inspector.engine import make_plan
from stm_inspector.formats import open_file, recording_of, write
from stm_inspector.formats.document import parse, read_document

from .expected_logs import LOGS, WITHOUT_MESSAGES
from .helpers import reread
from .test_exports import all_of, sent
from .test_mutations import BYTES, CASES, with_a_cut, with_wrong_value

_FOLDERS = (
    "inspect-ai",
    "otel-genai",
    "langfuse",
    "swe-agent-traj",
    "mini-swe-agent",
    "hermes",
    "langgraph",
)
_IDS = frozenset(row[0] for row in LOGS.values())


def test_every_file_of_these_formats_is_in_the_table(samples: Path) -> None:
    found = {
        f"{folder}/{path.name}" for folder in _FOLDERS for path in (samples / folder).iterdir()
    }
    assert found == {name for name in LOGS if name.startswith(_FOLDERS)}


@pytest.mark.parametrize("name", LOGS)
def test_sample_opens_as_what_it_is(name: str, samples: Path) -> None:
    recording = open_file(samples / name)
    loaded = [recording.load(entry.number) for entry in recording.entries]
    kinds = Counter(p.kind for c in loaded for m in c.messages for p in m.parts)
    messages = sum(len(conversation.messages) for conversation in loaded)
    counts = kinds[PartKind.TOOL_CALL], kinds[PartKind.TOOL_RESULT]
    assert (recording.format, len(loaded), messages, *counts) == LOGS[name]
    assert PartKind.OPAQUE not in kinds
    assert not any(conversation.origin.skipped for conversation in loaded)
    for entry, conversation in zip(recording.entries, loaded, strict=True):
        assert entry.messages in (None, len(conversation.messages))


@pytest.mark.parametrize("name", LOGS)
def test_every_text_call_and_result_is_in_the_request_that_is_written(
    name: str, samples: Path
) -> None:
    recording = open_file(samples / name)
    for entry in recording.entries:
        conversation = recording.load(entry.number)
        again = reread(write(conversation, Edit(all_of(conversation))), conversation.api)
        assert sent(again) == sent(conversation)


@pytest.mark.parametrize("name", LOGS)
def test_sample_can_be_planned_and_its_plan_exported(name: str, samples: Path) -> None:
    conversation = open_file(samples / name).load()
    plan = make_plan(conversation, policy="sliding-window", counter="chars4")
    assert plan.totals.before.messages == len(conversation.messages)
    again = reread(write(conversation, edit_of(conversation, plan)), conversation.api)
    assert again.messages


@pytest.mark.parametrize("name", WITHOUT_MESSAGES)
def test_spans_without_messages_are_refused_in_one_sentence(name: str, samples: Path) -> None:
    with pytest.raises(InputError, match=r"holds \d spans without messages: [^.]+\.$"):
        open_file(samples / name)


@pytest.mark.parametrize("name", LOGS)
def test_damaged_samples(name: str, samples: Path) -> None:
    text = read_document(samples / name).text
    chance = random.Random(name)
    for _ in range(max(1, min(CASES, BYTES // len(text)))):
        for damaged in (with_wrong_value(text, chance), with_a_cut(text, chance)):
            _survives(damaged, Path(name).name)


def _refusal(work: Callable[[], object]) -> str:
    """What ``work`` is refused with; "" where it is not."""
    try:
        work()
    except InputError as error:
        return str(error)
    return ""


def _survives(text: str, name: str) -> None:
    refusal = _refusal(lambda: recording_of(parse(text, name)).load())
    if refusal:
        assert refusal.endswith(".")
        assert "\n" not in refusal
        return
    recording = recording_of(parse(text, name))
    conversation = recording.load()
    assert conversation.messages
    if recording.format not in _IDS:  # Damage can make it another's.
        return
    assert recording.entries[recording.default].messages in (None, len(conversation.messages))
    edit = Edit(all_of(conversation))
    refusal = _refusal(lambda: write(conversation, edit))
    if refusal:
        assert refusal.startswith("Nothing is left to export")
        return
    # What is of no known kind may be written as text: more than was there is no loss.
    again = reread(write(conversation, edit), conversation.api)
    assert not sent(conversation) - sent(again)
