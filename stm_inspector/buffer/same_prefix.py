"""How much of the beginning of a buffer is the same as at the call before: what can be cached."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from stm_inspector.buffer.outcome import changed_tokens
from stm_inspector.buffer.plan import Decision
from stm_inspector.tokens.counts import TokenCounts

K = TypeVar("K")


def shared(
    before: Decision | None,
    now: Decision,
    gone: NDArray[np.bool_],
    changed: NDArray[np.int64],
    counts: TokenCounts,
    sums: NDArray[np.int64],
) -> tuple[int, int]:
    """Messages and tokens at the beginning of what is sent that are byte-identical.

    ``gone`` is what is not sent now, ``changed`` the messages of the call before that are sent
    at one of the two calls only; ``sums`` are the tokens before each message. The same message
    in the same place is the same bytes; a synthetic message is if its role and text are.
    """
    if before is None:
        return 0, 0
    length = len(before.verdicts)
    end = int(changed[0]) if len(changed) else length
    if before.truncated or now.truncated:
        end = min([end, *_unlike(before.truncated, now.truncated)])
    if before.cleared or now.cleared:
        end = min([end, *(index for index, _ in _unlike(before.cleared, now.cleared))])
    synthetic = 0
    for one, other in zip(before.inserted, now.inserted, strict=False):
        same = one.before == other.before and (one.role, one.text) == (other.role, other.text)
        if not same or one.before > end:
            end = min(end, one.before, other.before)
            break
        synthetic += 1
    else:
        for rest in (before.inserted[synthetic:], now.inserted[synthetic:]):
            if rest:
                end = min(end, rest[0].before)
    same_inserted = now.inserted[:synthetic]
    left_out = gone[:end]
    number = end - int(np.count_nonzero(left_out)) + len(same_inserted)
    tokens = int(sums[end]) + sum(item.tokens for item in same_inserted)
    if left_out.any():
        tokens -= int(np.add.reduce(counts.messages[:end], where=left_out))
    return number, tokens + changed_tokens(counts, now, end)


def _unlike(one: Mapping[K, object], other: Mapping[K, object]) -> list[K]:
    """The keys under which two mappings differ."""
    if one == other:
        return []
    return [key for key in {**one, **other} if one.get(key) != other.get(key)]
