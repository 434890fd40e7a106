"""Damaged files give one sentence or a partial conversation, never another exception."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest

from stm_inspector.conversation.edit import Edit
from stm_inspector.conversation.errors import InputError
from stm_inspector.conversation.model import Conversation
from stm_inspector.formats import write
from stm_inspector.formats.document import parse
from stm_inspector.formats.registry import recording_of

from .expected import SAMPLES
from .helpers import reread

CASES = 20
BYTES = 1_000_000
"""Of damaged text read for one sample: large ones repeat the same shapes and get fewer cases."""

WRONG: tuple[Any, ...] = (None, True, 0, -1.5, 10**30, float("nan"), "", "x", [], {}, [[]], [None])


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """The paths to everything inside ``value``."""
    inside = value.items() if isinstance(value, dict) else enumerate(value)
    found = []
    for key, child in inside:
        found.append((*path, key))
        if isinstance(child, dict | list):
            found += places(child, (*path, key))
    return found


def with_wrong_value(text: str, chance: random.Random) -> str:
    """``text`` with one value in it replaced by one of another type, taken out or doubled."""
    try:
        whole, split = [json.loads(text)], False
    except ValueError:
        whole, split = [json.loads(line) for line in text.split("\n") if line.strip()], True
    value = chance.choice(whole)
    path = chance.choice(places(value))
    for key in path[:-1]:
        value = value[key]
    what = chance.randrange(4)
    if what == 0:
        del value[path[-1]]
    elif what == 1 and isinstance(value, list):
        value.append(value[path[-1]])
        chance.shuffle(value)
    else:
        value[path[-1]] = chance.choice(WRONG)
    return "\n".join(json.dumps(one) for one in whole) if split else json.dumps(whole[0])


def with_a_cut(text: str, chance: random.Random) -> str:
    """``text`` without some run of it."""
    at = chance.randrange(len(text))
    return text[:at] + text[at + chance.choice((1, 1, 100, len(text))) :]


def survives(text: str) -> Conversation | None:
    """Read and write ``text`` in all ways; None where it is refused in one sentence."""
    refusal = ""
    try:
        conversation = recording_of(parse(text, "damaged.json")).load()
    except InputError as error:
        refusal = str(error)
    if refusal:
        assert refusal.endswith(".")
        assert "\n" not in refusal
        return None
    count = len(conversation.messages)
    assert count
    written = write(conversation, Edit(kept=range(count)))
    again = reread(written, conversation.api)
    assert len(again.messages) == count
    write(conversation, Edit(kept=range(count), texts=dict.fromkeys(range(1), "short")))
    return conversation


@pytest.mark.parametrize("name", SAMPLES)
def test_damaged_samples(name: str, samples: Path) -> None:
    path = samples / name
    text = path.read_text(encoding="utf-8-sig")
    chance = random.Random(name)
    for _ in range(max(1, min(CASES, BYTES // len(text)))):
        survives(with_wrong_value(text, chance))
        survives(with_a_cut(text, chance))


def test_cut_body_keeps_what_came_before_the_cut(samples: Path) -> None:
    path = samples / "anthropic-messages/parallel-tools.request.json"
    text = path.read_text(encoding="utf-8")
    start = text[: text.index("alice is bob's wife")]
    conversation = survives(start)
    assert conversation is not None
    assert [skip.line for skip in conversation.origin.skipped] == [start.count("\n") + 1]
    assert len(conversation.messages) == 2
