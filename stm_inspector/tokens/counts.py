"""Token numbers and how each of them came about."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import IntEnum

import numpy as np
from numpy.typing import NDArray

UNKNOWN = -1
"""Tokens of a part whose content is not in the file. Never shown as 0."""


class Exactness(IntEnum):
    """How a number came about, best first; the worst of its parts holds for a sum."""

    EXACT = 0
    RECORDED = 1
    CALIBRATED = 2
    ESTIMATE = 3

    @property
    def word(self) -> str:
        """As it is written on screen and in JSON."""
        return self.name.lower()


@dataclass(frozen=True, eq=False, slots=True)
class TokenCounts:
    """Tokens of every message and part of one conversation under one counter.

    Attributes:
        counter: id of the counter ("tiktoken:o200k_base").
        messages: int64[n], tokens of each message with the API's per-message overhead.
        exactness: uint8[n], an ``Exactness`` for each message.
        parts: int64[total parts], tokens of each part, or ``UNKNOWN``.
        part_starts: int64[n + 1]; the parts of message i are ``parts[starts[i]:starts[i + 1]]``.
        overhead: tokens that the request costs beside its messages (reply priming).
        overhead_exactness: of ``overhead``.
        of_message: tokens of a synthetic message of that text, per-message overhead included.
        notes: how the numbers came about, one sentence each, for tooltips and docs.
        complete: False while a better count is still on its way.
    """

    counter: str
    messages: NDArray[np.int64]
    exactness: NDArray[np.uint8]
    parts: NDArray[np.int64]
    part_starts: NDArray[np.int64]
    overhead: int
    overhead_exactness: Exactness
    of_message: Callable[[str], int]
    notes: tuple[str, ...] = ()
    complete: bool = True

    def parts_of(self, index: int) -> NDArray[np.int64]:
        """Tokens of each part of message ``index``."""
        return self.parts[self.part_starts[index] : self.part_starts[index + 1]]

    def first(self, length: int) -> TokenCounts:
        """The counts of the first ``length`` messages; the arrays are views of these."""
        starts = self.part_starts[: length + 1]
        return TokenCounts(
            counter=self.counter,
            messages=self.messages[:length],
            exactness=self.exactness[:length],
            parts=self.parts[: starts[-1]],
            part_starts=starts,
            overhead=self.overhead,
            overhead_exactness=self.overhead_exactness,
            of_message=self.of_message,
            notes=self.notes,
            complete=self.complete,
        )

    @property
    def unknown(self) -> int:
        """How many parts have content that is not in the file."""
        return int(np.count_nonzero(self.parts == UNKNOWN))

    @property
    def worst(self) -> Exactness:
        """The exactness of a total over all messages."""
        worst = int(self.exactness.max()) if self.exactness.size else 0
        return Exactness(max(worst, self.overhead_exactness))
