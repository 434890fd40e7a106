"""Conversations written as one line, in the notation of bug reports.

``S`` system, ``U`` user, ``A`` assistant, ``A{a,b}`` an assistant that calls tools with those
ids, ``A*{a}`` one whose first part is signed thinking, ``T:a`` a tool message (OpenAI), ``R:a,b``
a user message of results (Anthropic), ``R:a+`` with a text behind them, ``+R:a`` before them.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from stm_inspector.buffer.plan import Decision, Inserted, Replacement, Verdict
from stm_inspector.conversation.model import Conversation, Message, Part, PartKind, Role
from stm_inspector.tokens.counts import Exactness

OPENAI, ANTHROPIC = "openai-chat", "anthropic-messages"
TEXT, CALL, RESULT = PartKind.TEXT, PartKind.TOOL_CALL, PartKind.TOOL_RESULT


def text(words: str = "words") -> Part:
    return Part(TEXT, words, raw={"type": "text", "text": words})


def message(word: str) -> Message:
    """One message in the notation above."""
    if word in ("S", "U"):
        return Message(Role.SYSTEM if word == "S" else Role.USER, (text(),))
    ids = [name for name in re.sub(r"^[^{:]*[{:]?|[}+]", "", word).split(",") if name]
    if word.startswith("A"):
        thinking = (Part(PartKind.THINKING, "so", signed=True),) if "*" in word else ()
        calls = tuple(Part(CALL, "{}", name="look", call_id=name) for name in ids)
        return Message(Role.ASSISTANT, thinking + (calls or (text(),)))
    results = tuple(Part(RESULT, "found", call_id=name) for name in ids)
    before, behind = ((text(),) * word.startswith("+"), (text(),) * word.endswith("+"))
    role = Role.TOOL if word.startswith("T") else Role.USER
    return Message(role, before + results + behind)


def conversation(line: str, api: str = OPENAI, thinking: bool | None = None) -> Conversation:
    """The conversation of a line; a ``|`` (where a trim cuts) is passed over."""
    words = line.replace("|", " ").split()
    return Conversation(api, api, tuple(message(word) for word in words), thinking=thinking)


def cut(line: str) -> Decision:
    """The decision that drops all messages before the ``|`` of a line."""
    before, _, after = line.partition("|")
    gone = len(before.split())
    return dropping(gone + len(after.split()), range(gone))


def dropping(total: int, gone: Sequence[int]) -> Decision:
    """The decision that drops some of ``total`` messages."""
    verdicts = np.zeros(total, dtype=np.uint8)
    verdicts[list(gone)] = Verdict.EVICT
    return decision(verdicts)


def decision(
    verdicts: np.ndarray,
    *,
    inserted: tuple[Inserted, ...] = (),
    truncated: dict[int, Replacement] | None = None,
    cleared: dict[tuple[int, int], Replacement] | None = None,
) -> Decision:
    return Decision(
        verdicts,
        np.zeros(len(verdicts), dtype=np.uint8),
        ("because",),
        truncated=truncated or {},
        cleared=cleared or {},
        inserted=inserted,
    )


def summary(before: int, role: str = "user", stands_for: tuple[int, ...] = ()) -> Inserted:
    return Inserted(before, role, "summary", "so far", 5, Exactness.EXACT, stands_for)
