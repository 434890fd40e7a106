"""Short ways to write conversations, and random ones, for all tests."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence

import numpy as np
from hypothesis import strategies as st

from stm_inspector.buffer.plan import Plan, Verdict
from stm_inspector.conversation.model import Conversation, Message, Part, PartKind, Role
from stm_inspector.tokens.counts import Exactness, TokenCounts


def text(words: str) -> Part:
    return Part(PartKind.TEXT, words)


def call(call_id: str | None, name: str | None = "f", *, server: bool = False) -> Part:
    return Part(PartKind.TOOL_CALL, "{}", name=name, call_id=call_id, server=server)


def result(
    call_id: str | None, name: str | None = None, words: str = "ok", *, server: bool = False
) -> Part:
    return Part(PartKind.TOOL_RESULT, words, name=name, call_id=call_id, server=server)


def system(words: str = "Be brief.") -> Message:
    return Message(Role.SYSTEM, (text(words),))


def user(*parts: Part | str) -> Message:
    return Message(Role.USER, _parts(parts))


def assistant(*parts: Part | str) -> Message:
    return Message(Role.ASSISTANT, _parts(parts))


def tool(*parts: Part) -> Message:
    return Message(Role.TOOL, parts)


def _parts(parts: Sequence[Part | str]) -> tuple[Part, ...]:
    return tuple(text(part) if isinstance(part, str) else part for part in parts)


def talk(*messages: Message, api: str = "openai-chat") -> Conversation:
    return Conversation(api, api, messages)


def plain(count: int) -> Conversation:
    """m0 … m(count-1): user and assistant in turn, no system prompt."""
    return talk(*((user, assistant)[i % 2](f"m{i}") for i in range(count)))


def one_each(_text: str) -> int:
    return 1


def counted(
    conversation: Conversation,
    tokens: Sequence[int] | None = None,
    *,
    parts: int = 1,
    overhead: int = 0,
    of_message: Callable[[str], int] = one_each,
) -> TokenCounts:
    """Counts that are given; one token a message if they are not, and ``parts`` a part."""
    messages = conversation.messages
    starts = np.zeros(len(messages) + 1, dtype=np.int64)
    np.cumsum([len(message.parts) for message in messages], out=starts[1:])
    return TokenCounts(
        counter="given",
        messages=np.asarray([1] * len(messages) if tokens is None else tokens, dtype=np.int64),
        exactness=np.zeros(len(messages), dtype=np.uint8),
        parts=np.full(int(starts[-1]), parts, dtype=np.int64),
        part_starts=starts,
        overhead=overhead,
        overhead_exactness=Exactness.EXACT,
        of_message=of_message,
    )


GONE = (Verdict.EVICT, Verdict.SUMMARISE)


def kept(plan: Plan) -> list[int]:
    return np.flatnonzero(~np.isin(plan.decision.verdicts, GONE)).tolist()


def having(plan: Plan, verdict: Verdict) -> list[int]:
    return np.flatnonzero(plan.decision.verdicts == verdict).tolist()


def words(text: str) -> int:
    return len(text.split())


_IDS = (None, "", "a", "b", "c", "d")
_SERVER_IDS = (None, "", "sa", "sb", "sc")
_NAMES = (None, "f", "g")
_WORDS = ("", " ", "Go on.", "Look at the parser. Then test it.", "word " * 120)


def _random_part(dice: random.Random, kinds: str) -> Part:
    words = dice.choice(_WORDS)
    match dice.choice(kinds):
        case "c":
            return call(dice.choice(_IDS), dice.choice(_NAMES))
        case "r":
            return result(dice.choice(_IDS), dice.choice(_NAMES), words)
        case "C":
            return call(dice.choice(_SERVER_IDS), dice.choice(_NAMES), server=True)
        case "R":
            return result(dice.choice(_SERVER_IDS), dice.choice(_NAMES), words, server=True)
        case "d":
            return Part(PartKind.DOCUMENT, words)
        case "t":
            return Part(PartKind.THINKING, words)
        case _:
            return text(words)


_TAGS = ({"importance": 0.9}, {"priority": 2}, {"sticky": True}, {"metadata": {"salience": 0.2}})


def _random_message(dice: random.Random) -> Message:
    def some(kinds: str, most: int) -> tuple[Part, ...]:
        return tuple(_random_part(dice, kinds) for _ in range(dice.randint(0, most)))

    time = dice.choice([0.0, 1_800.0, 7_200.0]) if dice.random() < 0.5 else None
    tags = dice.choice(_TAGS) if dice.random() < 0.2 else {}
    match dice.choice("suuaaaatt"):
        case "s":
            return Message(Role.SYSTEM, some("x", 1), time=time, tags=tags)
        case "u":
            injected = dice.random() < 0.2
            return Message(Role.USER, some("xrd", 3), injected=injected, time=time, tags=tags)
        case "a":
            lock = dice.choice(["x", "y"]) if dice.random() < 0.2 else ""
            return Message(Role.ASSISTANT, some("xtccCR", 4), lock=lock, time=time, tags=tags)
        case _:
            return Message(Role.TOOL, (_random_part(dice, "r"),), time=time, tags=tags)


_DICE = random.Random(2)
_POOL = [_random_message(_DICE) for _ in range(400)]

conversations = st.lists(st.sampled_from(_POOL), max_size=60).map(lambda chosen: talk(*chosen))
"""Anything: parallel calls, orphans, reused, empty and missing ids, server tools, empty texts.

Drawn from a pool of messages, which is many times faster than drawing each part.
"""
