"""Entities by rules: the names, identifiers, paths, addresses and numbers that a text mentions."""

from __future__ import annotations

import re
from collections.abc import Iterable
from enum import StrEnum

from stm_inspector.conversation.model import Message

_LOOK_AT = 20_000  # characters of a part
_LONGEST = 120  # characters of an entity


class EntityKind(StrEnum):
    """What an entity is, in the order in which a list shows them."""

    NAME = "names"
    IDENTIFIER = "identifiers"
    PATH = "paths"
    URL = "URLs"
    NUMBER = "numbers"


# One pattern: what an address holds is not looked at again as a path, a name or a number.
_ENTITY = re.compile(
    r"(?P<URL>\bhttps?://[^\s<>\"'`)\]}]+)"
    r"|(?P<PATH>(?<![\w/])(?:~|\.{1,2})?/(?:[\w.@+-]+/)*[\w.@+-]+|\b[\w-]+(?:/[\w.-]+)+\.\w+\b)"
    r"|(?P<NUMBER>(?<![\w.])[$€£]?\d[\d,]*(?:\.\d+)?\s?(?:%|[KMGT]i?B\b|[kKMG]Hz\b|ms\b|min\b|"
    r"kg\b|km\b|cm\b|mm\b|tokens?\b|hours?\b|days?\b|minutes?\b|seconds?\b|USD\b|EUR\b)"
    r"|(?<![\w.])[$€£]\d[\d,]*(?:\.\d+)?)"
    r"|(?P<IDENTIFIER>\b(?:[a-zA-Z]\w*_\w+|[a-z]+[A-Z]\w*|[A-Z][a-z]+[A-Z]\w*|[A-Z]{2,}-\d+|"
    r"\w+\(\))(?!\w))"
    r"|(?P<NAME>(?<![.!?:]\s)(?<!^)\b[A-Z][a-z]+(?:\s[A-Z][a-z]+)*\b)",
    re.MULTILINE,
)


def entities_of(message: Message) -> tuple[tuple[EntityKind, str], ...]:
    """(kind, text) of each entity, in the order in which the message first mentions them.

    A name is words in capitals that do not begin a sentence or a line; a rule, so a guess.
    """
    found: dict[tuple[EntityKind, str], None] = {}
    for part in message.parts:
        for text in (part.text, *(inner.text for inner in part.parts)):
            for match in _ENTITY.finditer(text, 0, _LOOK_AT):
                kind = EntityKind[match.lastgroup or "NAME"]
                found[kind, match.group().rstrip(".,;")[:_LONGEST]] = None
    return tuple(found)


def list_of(entities: Iterable[tuple[EntityKind, str]], most: int) -> str:
    """The entities as a text, a line a kind; of more than ``most`` the newest, and how many are
    left out. "" for none."""
    known = tuple(dict.fromkeys(entities))
    if not known:
        return ""
    newest = known[len(known) - min(most, len(known)) :]
    lines = ["[Mentioned earlier]"]
    for kind in EntityKind:
        texts = [text for one, text in newest if one is kind]
        if texts:
            lines.append(f"{kind.value}: {', '.join(texts)}")
    if len(newest) < len(known):
        lines.append(f"… {len(known) - len(newest):,} more")
    return "\n".join(lines)
