"""What stands in for summarised messages."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from stm_inspector.conversation.model import Conversation


@dataclass(frozen=True, slots=True)
class Summary:
    """A text that stands for messages, with its real tokens (as a message of its own)."""

    text: str
    tokens: int
    stands_for: tuple[int, ...]


class Summariser(Protocol):
    """Makes summaries. A summariser that asks a network first says what it will send."""

    @property
    def id(self) -> str: ...
    @property
    def title(self) -> str: ...

    def summarise(
        self,
        conversation: Conversation,
        indices: Sequence[int],
        *,
        max_tokens: int,
        count: Callable[[str], int],
        previous: Summary | None = None,
    ) -> Summary:
        """Summarise the messages ``indices`` (ascending, at least one).

        With ``previous``, the new summary carries that one on: it is made from its text and from
        ``indices``, and stands for both.

        ``max_tokens`` bounds the summary as ``count`` counts it; one line is always written.
        """
        ...
