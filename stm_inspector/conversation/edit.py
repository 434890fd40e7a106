"""What a plan does to a conversation, in the form in which a format writes it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Insert:
    """A synthetic message. It stands before message ``before`` (``len(messages)`` = at the end)."""

    before: int
    role: str
    text: str


@dataclass(frozen=True, slots=True)
class Edit:
    """Which messages stay, which of them change, and what is put in.

    Attributes:
        kept: indices of the messages that are written, ascending. A kept message that is in
            neither of the mappings below is written exactly as it was read.
        texts: message index -> the text that replaces the whole content of the message.
        results: (message index, part index) -> the text that replaces a tool result's content;
            the call id and everything else of the part stay.
        dropped_parts: (message index, part index) of parts that go although the message stays.
        inserts: synthetic messages, ascending by ``before``.
    """

    kept: Sequence[int]
    texts: Mapping[int, str] = field(default_factory=dict)
    results: Mapping[tuple[int, int], str] = field(default_factory=dict)
    dropped_parts: frozenset[tuple[int, int]] = frozenset()
    inserts: Sequence[Insert] = ()
