"""What a conversion could not keep: collected while it runs, told in sentences."""

from __future__ import annotations

from collections.abc import Iterable

_SHOWN = 8
"""Message indices named in a sentence; the rest is counted."""


class Losses:
    """Counts of what was lost or changed, and the messages it stood in."""

    def __init__(self) -> None:
        self._found: dict[tuple[str, str, str], list[int | None]] = {}
        self._facts: dict[str, None] = {}

    def add(self, noun: str, what: str, index: int | None, plural: str = "") -> None:
        """One more ``noun`` of message ``index`` (None: a message that the plan put in).

        ``what`` ends the sentence that begins "3 <noun>s of messages 1, 2 and 5".
        """
        self._found.setdefault((noun, plural or f"{noun}s", what), []).append(index)

    def say(self, sentence: str) -> None:
        """A sentence about the whole conversation; said once."""
        self._facts[sentence] = None

    def sentences(self) -> tuple[str, ...]:
        """All of it, in the order in which it was first met."""
        found = [
            f"{len(at):,} {noun if len(at) == 1 else plural}{_where(at)} {what}."
            for (noun, plural, what), at in self._found.items()
        ]
        return (*found, *self._facts)


def _where(indices: Iterable[int | None]) -> str:
    known = sorted({index for index in indices if index is not None})
    if not known:
        return " of inserted messages"
    shown = [f"{index:,}" for index in known[:_SHOWN]]
    last = f"{len(known) - _SHOWN:,} more" if len(known) > _SHOWN else shown.pop()
    noun = "message" if len(known) == 1 else "messages"
    return f" ({noun} {', '.join(shown)} and {last})" if shown else f" ({noun} {last})"
