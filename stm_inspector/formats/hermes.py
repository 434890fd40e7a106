"""Sessions of the Hermes agent. See formats.md section 25."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from stm_inspector.conversation.model import Message
from stm_inspector.formats.chat_messages import chat_message, is_chat
from stm_inspector.formats.document import Document
from stm_inspector.formats.parts import counted, string
from stm_inspector.formats.transcript import (
    Reading,
    Talk,
    TranscriptFormat,
    api_of,
    list_of,
    objects,
    system_message,
    tools_message,
    when,
)

_OWN = "session_meta"
"""The role of a record that is for the agent itself."""


class Hermes(TranscriptFormat):
    """A session as Hermes saves it: the system prompt, the tools and the messages."""

    id = "hermes"
    title = "Hermes agent session"
    recognised_by = "session_id with session_start or platform beside messages."
    lacks = "Times of the messages and token counts."
    section = "25"
    help = (
        "Reads the system prompt, the tool definitions and the messages without the agent's own "
        "records. Writes an OpenAI Chat request body."
    )

    def detect(self, document: Document) -> str | None:
        for value in objects(document):
            if _is_session(value):
                return "session_id and session_start beside messages"
        return None

    def talks(self, document: Document) -> Sequence[Talk]:
        return [
            Talk(
                partial(_read, value),
                string(value.get("platform")) or "",
                string(value.get("model")),
                time=when(value.get("last_updated")),
            )
            for value in objects(document)
            if is_chat(value.get("messages"))
        ]


def _is_session(value: dict[str, Any]) -> bool:
    return (
        isinstance(value.get("session_id"), str)
        and ("session_start" in value or "platform" in value)
        and is_chat(value.get("messages"))
    )


def _read(value: dict[str, Any]) -> Reading:
    raws = list_of(value.get("messages"))
    said = [raw for raw in raws if not (isinstance(raw, dict) and raw.get("role") == _OWN)]
    notes = []
    if len(said) < len(raws):
        notes.append(f"{counted(len(raws) - len(said), 'record')} of the agent itself: left out.")
    messages = [
        *system_message(value.get("system_prompt"), "system_prompt"),
        *tools_message(value.get("tools")),
        *(_message(raw) for raw in said),
    ]
    return Reading(messages, notes, api=api_of(value.get("model")))


def _message(raw: Any) -> Message:
    if isinstance(raw, dict) and "tool_name" in raw and "name" not in raw:
        return chat_message(raw, adapted={**raw, "name": raw["tool_name"]})
    return chat_message(raw)
