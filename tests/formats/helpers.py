"""Small builders for the tests of the formats."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from stm_inspector.conversation.model import Conversation, Message, Part, PartKind
from stm_inspector.formats import Recording, get_format, open_file, recording_of
from stm_inspector.formats.document import parse


def opened(value: Any, tmp_path: Path, name: str = "file.json") -> Recording:
    """The recording of a file that holds ``value`` (a text as it is, else as JSON)."""
    path = tmp_path / name
    if isinstance(value, bytes):
        path.write_bytes(value)
    else:
        path.write_text(value if isinstance(value, str) else json.dumps(value), encoding="utf-8")
    return open_file(path)


def loaded(value: Any, tmp_path: Path, name: str = "file.json") -> Conversation:
    """The conversation that is shown first of such a file."""
    return opened(value, tmp_path, name).load()


def reread(text: str, format_id: str) -> Conversation:
    """The conversation in a text."""
    return recording_of(parse(text), get_format(format_id)).load()


def lines(records: Iterable[Any]) -> str:
    """A record a line."""
    return "".join(json.dumps(record) + "\n" for record in records)


def said(messages: Iterable[Message]) -> list[tuple[str, tuple[Part, ...]]]:
    """What an API sees of messages: role and parts."""
    return [(message.source_role, message.parts) for message in messages]


def spoken(messages: Iterable[Message]) -> list[tuple[str, tuple[Part, ...]]]:
    """As ``said``, in our own words for the roles."""
    return [(message.role.value, message.parts) for message in messages]


def kinds(message: Message) -> list[PartKind]:
    """The kinds of the parts of a message."""
    return [part.kind for part in message.parts]


def texts(conversation: Conversation) -> list[str]:
    """The texts of the parts of each message, joined."""
    return ["|".join(part.text for part in message.parts) for message in conversation.messages]
