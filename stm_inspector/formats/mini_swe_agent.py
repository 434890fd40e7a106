"""mini-swe-agent trajectories. See formats.md section 14b.

https://mini-swe-agent.com/latest/usage/output_files/
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

from stm_inspector.conversation.model import Message, Usage
from stm_inspector.formats.chat_messages import chat_message, is_chat
from stm_inspector.formats.document import Document
from stm_inspector.formats.parts import string
from stm_inspector.formats.transcript import (
    Reading,
    Talk,
    TranscriptFormat,
    api_of,
    latest,
    lists,
    number,
    object_of,
    objects,
    when,
)

_NAME = ".traj.json"
_NOT_SENT = "written by the agent when it stopped"


class MiniSWEAgent(TranscriptFormat):
    """What ``mini`` saves: an object with info and messages, or before version 2 the messages."""

    id = "mini-swe-agent"
    title = "mini-swe-agent trajectory"
    recognised_by = (
        "trajectory_format, or info beside messages; a list of messages in a file *.traj.json."
    )
    lacks = "The tool definitions."
    section = "14"
    help = (
        "Reads the messages; results stand in messages of the user, or of the tool from version "
        "2 on. Writes an OpenAI Chat request body."
    )
    not_here = ("The tool definitions are not in a trajectory.",)

    def detect(self, document: Document) -> str | None:
        for value in objects(document):
            if not is_chat(value.get("messages")):
                continue
            said = value.get("trajectory_format")
            if isinstance(said, str):
                return f"trajectory_format {said[:40]!r}"
            if isinstance(value.get("info"), dict) and "model" not in value:
                return "info beside messages"
        if document.name.endswith(_NAME) and any(is_chat(found) for found in lists(document)):
            return f"a list of messages in a file *{_NAME}"
        return None

    def talks(self, document: Document) -> Sequence[Talk]:
        return [
            Talk(
                partial(_read, messages, model),
                model=model,
                messages=len(messages),
                time=latest(_extra(raw).get("timestamp") for raw in messages),
            )
            for messages, model in _runs(document)
        ]


def _runs(document: Document) -> Iterator[tuple[list[Any], str | None]]:
    for found in lists(document):
        if is_chat(found):
            yield found, None
    for value in objects(document):
        messages = value.get("messages")
        if isinstance(messages, list) and messages:
            config = object_of(object_of(value.get("info")).get("config"))
            yield messages, string(object_of(config.get("model")).get("model_name"))


def _read(messages: Sequence[Any], model: str | None) -> Reading:
    return Reading([_message(raw) for raw in messages], api=api_of(model), model=model)


def _message(raw: Any) -> Message:
    extra = _extra(raw)
    role = raw.get("role") if isinstance(raw, dict) else None
    return chat_message(
        raw,
        unused=_NOT_SENT if role == "exit" else None,
        time=when(extra.get("timestamp")),
        usage=_usage(extra) if role == "assistant" else None,
    )


def _extra(raw: Any) -> dict[str, Any]:
    return object_of(raw.get("extra")) if isinstance(raw, dict) else {}


def _usage(extra: dict[str, Any]) -> Usage | None:
    """Of the response as LiteLLM gives it: cached tokens are part of ``prompt_tokens``."""
    usage = object_of(object_of(extra.get("response")).get("usage"))
    if not usage:
        return None
    cached = number(object_of(usage.get("prompt_tokens_details")).get("cached_tokens"))
    sent, written = number(usage.get("prompt_tokens")), number(usage.get("completion_tokens"))
    return Usage(sent, written, cached)
