"""Every export and framework file opens as what it is, and survives export and damage."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

import pytest

from stm_inspector.buffer.edits import edit_of
from stm_inspector.conversation.edit import Edit
from stm_inspector.conversation.errors import InputError
from stm_inspector.conversation.model import Conversation, Part, PartKind
from stm_inspector.engine import make_plan
from stm_inspector.formats import open_file, write
from stm_inspector.formats.document import parse
from stm_inspector.formats.registry import recording_of

from .expected_exports import EXPORTS
from .helpers import reread
from .test_mutations import BYTES, CASES, with_a_cut, with_wrong_value

SPOKEN = (PartKind.TEXT, PartKind.TOOL_CALL, PartKind.TOOL_RESULT)
TEXT_FILES = [name for name in EXPORTS if not name.endswith(".db")]


def all_of(conversation: Conversation) -> range:
    return range(len(conversation.messages))


def words(parts: Iterable[Part]) -> Counter[str]:
    """The texts of prose, calls and results: what every target can hold."""
    found: Counter[str] = Counter()
    for part in parts:
        if part.kind in SPOKEN:
            found[part.text] += bool(part.text.strip())
            found += words(part.parts)
    return found


def sent(conversation: Conversation) -> Counter[str]:
    return words(part for m in conversation.messages if not m.unused for part in m.parts)


@pytest.mark.parametrize("name", EXPORTS)
def test_sample_opens_as_what_it_is(name: str, samples: Path) -> None:
    recording = open_file(samples / name)
    loaded = [recording.load(entry.number) for entry in recording.entries]
    kinds = Counter(p.kind for c in loaded for m in c.messages for p in m.parts)
    assert (
        recording.format,
        len(loaded),
        sum(len(conversation.messages) for conversation in loaded),
        kinds[PartKind.TOOL_CALL],
        kinds[PartKind.TOOL_RESULT],
    ) == EXPORTS[name]
    assert not any(conversation.origin.skipped for conversation in loaded)
    for entry, conversation in zip(recording.entries, loaded, strict=True):
        assert entry.messages in (None, len(conversation.messages))


@pytest.mark.parametrize("name", EXPORTS)
def test_every_text_call_and_result_is_in_the_request_that_is_written(
    name: str, samples: Path
) -> None:
    recording = open_file(samples / name)
    for entry in list(recording.entries)[:40]:
        conversation = recording.load(entry.number)
        again = reread(write(conversation, Edit(all_of(conversation))), conversation.api)
        assert sent(again) == sent(conversation)


@pytest.mark.parametrize("name", EXPORTS)
def test_sample_can_be_planned_and_its_plan_exported(name: str, samples: Path) -> None:
    conversation = open_file(samples / name).load()
    plan = make_plan(conversation, policy="sliding-window", counter="chars4")
    assert plan.totals.before.messages == len(conversation.messages)
    again = reread(write(conversation, edit_of(conversation, plan)), conversation.api)
    assert sent(again) <= sent(conversation)


@pytest.mark.parametrize("name", TEXT_FILES)
def test_damaged_sample_gives_a_sentence_or_a_conversation(name: str, samples: Path) -> None:
    text = (samples / name).read_text(encoding="utf-8-sig")
    chance = random.Random(name)
    for _ in range(max(1, min(CASES, BYTES // len(text)))):
        survives(with_a_cut(text, chance))
        if not name.endswith(".md"):
            survives(with_wrong_value(text, chance))


def survives(text: str) -> None:
    refusal = ""
    try:
        conversation = recording_of(parse(text, "damaged.json")).load()
    except InputError as error:
        refusal = str(error)
    if refusal:
        assert refusal.endswith(".")
        assert "\n" not in refusal
        return
    assert conversation.messages
    written = write(conversation, Edit(all_of(conversation)))
    assert recording_of(parse(written, "written.json")).load().messages
