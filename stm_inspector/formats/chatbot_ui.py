"""Chatbot UI exports. See formats.md section 24."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from stm_inspector.conversation.model import Message, Skipped
from stm_inspector.formats.document import Document
from stm_inspector.formats.openai_parts import content_part
from stm_inspector.formats.parts import counted, string
from stm_inspector.formats.transcript import (
    Reading,
    Talk,
    TranscriptFormat,
    api_of,
    list_of,
    object_of,
    objects,
    some_objects,
    system_message,
    text_parts,
)
from stm_inspector.formats.wire import ROLES


class ChatbotUI(TranscriptFormat):
    """All conversations of Chatbot UI, as it exports them."""

    id = "chatbot-ui"
    title = "Chatbot UI export"
    recognised_by = "An object with version, history and folders."
    lacks = "Times and token counts."
    section = "24"
    help = (
        "Each element of the history is a conversation, its prompt the system prompt. Writes an "
        "OpenAI Chat request body, or an Anthropic one where the model is a Claude."
    )

    def detect(self, document: Document) -> str | None:
        found = any(
            isinstance(value.get("history"), list) and "version" in value and "folders" in value
            for value in some_objects(document)
        )
        return "version, history and folders" if found else None

    def talks(self, document: Document) -> Sequence[Talk]:
        return [
            Talk(
                partial(_read, chat),
                string(chat.get("name")) or "",
                _model(chat),
                len([raw for raw in chat["messages"] if _message(raw)]) + bool(_system(chat)),
            )
            for value in objects(document)
            for chat in list_of(value.get("history"))
            if isinstance(chat, dict)
            and chat.get("messages")
            and isinstance(chat["messages"], list)
        ]


def _model(chat: dict[str, Any]) -> str | None:
    return string(object_of(chat.get("model")).get("id")) or string(chat.get("model"))


def _system(chat: dict[str, Any]) -> list[Message]:
    return system_message(string(chat.get("prompt")), "prompt")


def _read(chat: dict[str, Any]) -> Reading:
    read = [_message(raw) for raw in chat["messages"]]
    messages = [message for message in read if message is not None]
    bad = len(read) - len(messages)
    skipped = [Skipped(None, f"{counted(bad, 'message')} without role or content")] if bad else []
    return Reading(
        [*_system(chat), *messages] if messages else [], skipped=skipped, api=api_of(_model(chat))
    )


def _message(raw: Any) -> Message | None:
    word = raw.get("role") if isinstance(raw, dict) else None
    if not isinstance(word, str) or word not in ROLES:
        return None
    content = raw.get("content")
    if isinstance(content, list):
        parts = [content_part(item) for item in content]
    else:
        parts = text_parts(content)
    return Message(ROLES[word], tuple(parts), source_role=word, raw=raw) if parts else None
