"""Conversations that branch: messages that know their parent, and the ways through them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Way:
    """The messages from the first to a leaf, by id, and a note where they do not reach a root."""

    ids: tuple[str, ...]
    note: str = ""


def leaves(parents: Mapping[str, str | None], live: str | None) -> list[str]:
    """The ends of all branches: the live one first, the others from the newest to the oldest.

    Args:
        parents: id -> id of the parent, in the order in which they were written.
        live: where the conversation stands; the last leaf where the file does not say.
    """
    with_children = set(parents.values())
    ends = [id for id in parents if id not in with_children]
    if not ends:  # The parents run in a circle.
        ends = list(parents)[-1:]
    first = live if live in parents else ends[-1] if ends else None
    return [*([first] if first else []), *(id for id in reversed(ends) if id != first)]


def way_to(leaf: str, parents: Mapping[str, str | None], roots: frozenset[str]) -> Way:
    """The messages that lead to ``leaf``. ``roots`` are parents that are no messages."""
    ids = [leaf]
    seen = {leaf}
    above = parents[leaf]
    while above and above not in roots:
        if above in seen:
            note = "The parents of the messages run in a circle: what came before cannot be told."
            return Way(tuple(reversed(ids)), note)
        if above not in parents:
            note = "The parent of the first message is not in this file: what came before is lost."
            return Way(tuple(reversed(ids)), note)
        ids.append(above)
        seen.add(above)
        above = parents[above]
    return Way(tuple(reversed(ids)))


def branch_title(title: str, place: int, count: int) -> str:
    """What to call a branch: the live one has the title of the whole."""
    return title if place == 0 else f"{title} (branch {place + 1} of {count})".strip()
