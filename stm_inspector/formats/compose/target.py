"""What an API takes, as far as the conversion has to know it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from stm_inspector.conversation.model import Part, PartKind
from stm_inspector.formats.compose.entries import Entry, Piece
from stm_inspector.formats.compose.losses import Losses


@dataclass(frozen=True, slots=True)
class Names:
    """What a tool's name or a call's id may look like."""

    allowed: str
    longest: int

    def fits(self, word: str) -> bool:
        """Whether ``word`` may stay as it is."""
        return 0 < len(word) <= self.longest and not re.search(f"[^{self.allowed}]", word)

    def fitted(self, word: str) -> str:
        """``word`` with everything else replaced by underscores, and cut."""
        return re.sub(f"[^{self.allowed}]", "_", word)[: self.longest] or "tool"


@dataclass(frozen=True, slots=True)
class Rules:
    """The rules of an API for a list of messages.

    Attributes:
        alternates: neighbouring messages of one speaker become one.
        system_first: the system prompt stands before everything else and nowhere else.
        orphans: a result may stand without its call.
        empty_texts: a text may be empty.
        speakers: a message may carry the name of who speaks.
        cache_markers: a part may carry a cache breakpoint.
        errors: a result may say that the call failed.
        tool_names, ids: what they may look like; ``ids`` None: calls need none.
        unique_ids: no two calls may have the same id.
        is_own: which parts of the recording are the target's own and are written as they were
            read; None where the recording is of another API.
    """

    alternates: bool = False
    system_first: bool = False
    orphans: bool = False
    empty_texts: bool = False
    speakers: bool = False
    cache_markers: bool = False
    errors: bool = False
    tool_names: Names = Names(r"\w\-", 64)
    ids: Names | None = Names(r"\x21-\x7e", 64)
    unique_ids: bool = True
    is_own: Callable[[Part], bool] | None = None


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool definition. ``schema`` is the JSON schema of its arguments.

    ``free`` is the format of a tool that takes any text instead, None where it takes arguments.
    """

    name: str
    description: str
    schema: Any
    index: int | None
    free: Any = None
    cache_marker: bool = False


@dataclass(frozen=True, slots=True)
class Prepared:
    """A conversation in the order that the target wants, ready to be written part by part."""

    system: tuple[Piece, ...]
    tools: tuple[Tool, ...]
    entries: tuple[Entry, ...]
    model: str | None
    reply_tokens: int
    losses: Losses
    is_own: Callable[[Part], bool] | None = None


@dataclass(frozen=True, slots=True)
class Target:
    """An API that conversations can be written for.

    ``body`` makes the request body: JSON values, and ``Verbatim`` texts among them.
    ``is_own`` is as in ``Rules``, for a recording of this very API. ``names_model``: the body
    says which model is asked (else the address of the request does, or nothing).
    """

    id: str
    title: str
    rules: Rules
    body: Callable[[Prepared], Any]
    is_own: Callable[[Part], bool] | None = None
    names_model: bool = True


def in_turns(messages: Iterable[dict[str, Any]], key: str) -> list[dict[str, Any]]:
    """User and assistant in turn: what has no content goes, neighbours of one role join."""
    turns: list[dict[str, Any]] = []
    for message in messages:
        if not message[key]:
            continue
        if turns and turns[-1]["role"] == message["role"]:
            turns[-1] = {**message, key: turns[-1][key] + message[key]}
        else:
            turns.append(message)
    return turns


def texts_of(part: Part) -> list[str]:
    """The texts of a result or document: its own, then those of what stands in it."""
    own = [part.text] if part.text else []
    return own + [text for inner in part.parts for text in texts_of(inner)]


def images_in(part: Part) -> list[Part]:
    """The images and documents with data that stand in a result."""
    found: list[Part] = []
    for inner in part.parts:
        if inner.kind is PartKind.IMAGE or (inner.kind is PartKind.DOCUMENT and not inner.text):
            found.append(inner)
        else:
            found += images_in(inner)
    return found
