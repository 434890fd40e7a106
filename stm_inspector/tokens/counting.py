"""Counting a conversation: ``count`` properly, ``quick`` at once."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from stm_inspector.conversation.model import Conversation, Part
from stm_inspector.tokens.bpe import measure
from stm_inspector.tokens.cache import Cache
from stm_inspector.tokens.counters import Counter, make_counter
from stm_inspector.tokens.counts import UNKNOWN, Exactness, TokenCounts
from stm_inspector.tokens.encoder import Cancelled, count_texts
from stm_inspector.tokens.encodings import encoding
from stm_inspector.tokens.ledger import Ledger

__all__ = ["Cancelled", "count", "quick"]

_MEMO = 4096
"""Synthetic messages whose tokens are kept."""


def count(
    conversation: Conversation,
    counter_id: str = "auto",
    *,
    model: str | None = None,
    cache: Cache | None = None,
    progress: Callable[[float], None] | None = None,
    cancelled: Callable[[], bool] | None = None,
) -> TokenCounts:
    """Count every message and part. Blocks; made to be called off the GUI thread.

    Args:
        conversation: what to count.
        counter_id: one of ``counter_ids()``.
        model: overrides the recorded model.
        cache: counts kept on disk; the user's own unless given.
        progress: is told the fraction done, 0 to 1, from this thread.
        cancelled: asked now and then whether to give up.

    Raises CounterError for a counter that is not there, and Cancelled.
    """
    counter = make_counter(counter_id, conversation, model)
    if counter.id == "unit":
        return _units(conversation, counter)
    if counter.framing is None:
        return _quarters(conversation, counter)
    ledger = Ledger(
        conversation.messages, counter.framing, conversation.api, model or conversation.model
    )
    store = Cache() if cache is None else cache
    raw = count_texts(
        counter.encoding, ledger.texts, cache=store, progress=progress, cancelled=cancelled
    )
    inexact = raw < 0
    tokens = np.where(inexact, ~raw, raw) * counter.factor
    parts, overheads = ledger.part_tokens(tokens), ledger.overheads(tokens)
    exact = (
        ledger.plain & ~ledger.with_any(inexact) if counter.exact else np.zeros_like(ledger.plain)
    )
    messages = overheads + _sums(parts, ledger.part_starts)
    parts[ledger.unknown] = UNKNOWN
    notes = (*counter.notes, *([store.trouble] if store.trouble else []))
    return TokenCounts(
        counter=counter.id,
        messages=messages,
        exactness=np.where(exact, Exactness.EXACT, Exactness.ESTIMATE).astype(np.uint8),
        parts=parts,
        part_starts=ledger.part_starts,
        overhead=counter.framing.reply,
        overhead_exactness=Exactness.EXACT if counter.exact else Exactness.ESTIMATE,
        of_message=_of_message(counter.encoding, counter.factor, counter.framing.message),
        notes=notes,
    )


def quick(conversation: Conversation, counter_id: str = "auto") -> TokenCounts:
    """Rough counts at once (a quarter of the characters), for the first paint.

    ``complete`` is False: ``count`` gives the real ones. "unit" and "chars4" are already real.
    """
    counter = make_counter(counter_id, conversation)
    if counter.id == "unit":
        return _units(conversation, counter)
    return _quarters(conversation, counter, rough=counter.id != "chars4")


def _units(conversation: Conversation, counter: Counter) -> TokenCounts:
    n = len(conversation.messages)
    starts = _part_starts(conversation)
    return TokenCounts(
        counter=counter.id,
        messages=np.ones(n, dtype=np.int64),
        exactness=np.full(n, Exactness.EXACT, dtype=np.uint8),
        parts=np.zeros(int(starts[-1]), dtype=np.int64),
        part_starts=starts,
        overhead=0,
        overhead_exactness=Exactness.EXACT,
        of_message=_one,
        notes=counter.notes,
    )


def _quarters(conversation: Conversation, counter: Counter, *, rough: bool = False) -> TokenCounts:
    """A quarter of each message's characters; the parts of a message add up to it."""
    starts = _part_starts(conversation)
    chars = np.fromiter(
        (_chars(part) for message in conversation.messages for part in message.parts),
        dtype=np.int64,
        count=int(starts[-1]),
    )
    upto = np.concatenate(([0], np.cumsum(chars)))
    first = np.repeat(upto[starts[:-1]], np.diff(starts))
    parts = (upto[1:] - first) // 4 - (upto[:-1] - first) // 4
    return TokenCounts(
        counter=counter.id,
        messages=_sums(parts, starts),
        exactness=np.full(len(starts) - 1, Exactness.ESTIMATE, dtype=np.uint8),
        parts=parts,
        part_starts=starts,
        overhead=0,
        overhead_exactness=Exactness.ESTIMATE,
        of_message=_quarter,
        notes=("A rough count; the real one is under way.",) if rough else counter.notes,
        complete=not rough,
    )


def _chars(part: Part) -> int:
    inner = sum(map(_chars, part.parts)) if part.parts else 0
    return len(part.text) + inner


def _part_starts(conversation: Conversation) -> NDArray[np.int64]:
    lengths = [len(message.parts) for message in conversation.messages]
    return np.concatenate(([0], np.cumsum(lengths, dtype=np.int64))).astype(np.int64)


def _sums(parts: NDArray[np.int64], starts: NDArray[np.int64]) -> NDArray[np.int64]:
    """Sums of the parts of each message: int64[n]."""
    upto = np.concatenate(([0], np.cumsum(parts, dtype=np.int64)))
    return (upto[starts[1:]] - upto[starts[:-1]]).astype(np.int64)


def _one(text: str) -> int:
    return 1


def _quarter(text: str) -> int:
    return len(text) // 4


def _of_message(name: str, factor: float, overhead: int) -> Callable[[str], int]:
    @lru_cache(maxsize=_MEMO)
    def of_message(text: str) -> int:
        return overhead + round(measure(encoding(name), text).tokens * factor)

    return of_message
