"""Short ways to write conversations in the tests of the token counts."""

from __future__ import annotations

from typing import Any

from stm_inspector.conversation.model import Conversation, Message, Part, PartKind, Role


def text(value: str) -> Part:
    """A part of text."""
    return Part(PartKind.TEXT, value)


def said(*texts: str, role: Role = Role.USER, **more: Any) -> Message:
    """A message that says ``texts``, a part each."""
    return Message(role, tuple(text(value) for value in texts), **more)


def chat(*messages: Message, api: str = "openai-chat", model: str | None = None) -> Conversation:
    """A conversation of ``messages``."""
    return Conversation(api, api, messages, model=model)
