"""Messages in the shape of OpenAI Chat that agents and tracers keep, with members of their own."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from stm_inspector.conversation.model import Message, Part, Role, Usage
from stm_inspector.formats.base import Opened
from stm_inspector.formats.document import Document
from stm_inspector.formats.openai_chat import OpenAIChat
from stm_inspector.formats.parts import opaque, string
from stm_inspector.formats.transcript import TranscriptFormat
from stm_inspector.formats.wire import ROLES

_CHAT = OpenAIChat()

_NO_ROLE = "it has no role that is known"


class WindowsFormat(TranscriptFormat):
    """A log of calls, in the order in which they were made: the longest is shown first."""

    def open(self, document: Document) -> Opened:
        opened = super().open(document)
        longest = max(opened.entries, key=lambda entry: (entry.messages or 0, entry.number))
        return replace(opened, default=longest.number)


def chat_message(
    raw: Any,
    *,
    adapted: dict[str, Any] | None = None,
    parts_of: Callable[[dict[str, Any]], Sequence[Part]] | None = None,
    injected: bool = False,
    unused: str | None = None,
    time: float | None = None,
    model: str | None = None,
    usage: Usage | None = None,
) -> Message:
    """A message with a role; anything else is kept as it is, as nothing that was sent.

    Args:
        adapted: the message with the members that OpenAI has, where the file names them otherwise.
        parts_of: reads its parts; those of OpenAI Chat where None.
    """
    known = raw if adapted is None else adapted
    word = string(known.get("role")) if isinstance(known, dict) else None
    role = ROLES.get(word or "")
    if role is None:
        return Message(
            Role.USER,
            (opaque(raw),),
            source_role=word or "",
            time=time,
            injected=True,
            unused=unused or _NO_ROLE,
            raw=raw,
        )
    parts = parts_of(known) if parts_of else [part for _, part in _CHAT.pieces(known)]
    name = string(known.get("name"))
    return Message(
        role,
        tuple(parts),
        source_role=word or "",
        name=None if role is Role.TOOL else name,
        id=string(known.get("id")),
        time=time,
        model=model,
        injected=injected,
        unused=unused,
        usage=usage,
        raw=raw,
    )


def is_chat(value: Any) -> bool:
    """A list of which some elements are messages with a role that is known."""
    return isinstance(value, list) and any(
        isinstance(item, dict) and isinstance(item.get("role"), str) and item["role"] in ROLES
        for item in value
    )
