"""The last resort: any list of objects in which somebody says something."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any, NamedTuple

from stm_inspector.conversation.model import Message, Role, Skipped
from stm_inspector.formats.document import Document
from stm_inspector.formats.openai_parts import content_part
from stm_inspector.formats.parts import counted, string
from stm_inspector.formats.transcript import (
    Reading,
    Talk,
    TranscriptFormat,
    latest,
    lists,
    objects,
    result,
    shortened,
    text_parts,
    when,
)

_SPEAKER_KEYS = ("role", "from", "sender", "author", "speaker", "type")
_CONTENT_KEYS = ("content", "text", "value", "message", "body", "utterance")
_TIME_KEYS = ("timestamp", "time", "created_at", "createdAt", "date", "ts")

_ROLES = {
    "system": Role.SYSTEM,
    "developer": Role.DEVELOPER,
    "user": Role.USER,
    "human": Role.USER,
    "customer": Role.USER,
    "assistant": Role.ASSISTANT,
    "ai": Role.ASSISTANT,
    "bot": Role.ASSISTANT,
    "gpt": Role.ASSISTANT,
    "model": Role.ASSISTANT,
    "agent": Role.ASSISTANT,
    "llm": Role.ASSISTANT,
    "chatgpt": Role.ASSISTANT,
    "claude": Role.ASSISTANT,
    "tool": Role.TOOL,
    "function": Role.TOOL,
    "observation": Role.TOOL,
}


class _Keys(NamedTuple):
    speaker: str
    content: str


class Plain(TranscriptFormat):
    """Tried when nothing else fits; what it finds is a guess and says so."""

    id = "plain"
    title = "Any list of messages (a guess)"
    recognised_by = (
        "A list of objects that have one key for who speaks (role, from, sender, ...) and one for "
        "what is said (content, text, value, ...). Tried last."
    )
    lacks = "Whatever stands in other keys; which of them the model saw is not known."
    section = "0"
    help = (
        "A guess: speaker and content are read from the keys that look like it, everything else "
        "is left alone. Writes an OpenAI Chat request body."
    )

    def detect(self, document: Document) -> str | None:
        for _, messages, keys in _found(document):
            return f"a guess: {counted(len(messages), 'object')} with {keys.speaker!r} and " + (
                f"{keys.content!r}"
            )
        return None

    def talks(self, document: Document) -> Sequence[Talk]:
        return [
            Talk(
                partial(_read, messages, keys),
                title or _title(messages, keys),
                None,
                None,
                latest(_time(raw) for raw in messages),
            )
            for title, messages, keys in _found(document)
        ]


def _found(document: Document) -> Iterator[tuple[str, list[Any], _Keys]]:
    """Title, messages and keys of each list in the file, or in the objects of the file."""
    for messages in lists(document):
        keys = _keys(messages)
        if keys is not None:
            yield "", messages, keys
            return
    for value in objects(document):
        for inner in value.values():
            keys = _keys(inner)
            if keys is not None:
                title = string(value.get("title")) or string(value.get("name")) or ""
                yield title, inner, keys


def _keys(value: Any) -> _Keys | None:
    """The keys of speaker and content in a list of messages; None if it is none.

    All its elements have to be objects, and a known speaker has to be among them.
    """
    if not isinstance(value, list) or not value:
        return None
    if not all(isinstance(raw, dict) for raw in value):
        return None
    for speaker in _SPEAKER_KEYS:
        words = [raw[speaker] for raw in value if speaker in raw]
        known = [word for word in words if _role(word) is not None]
        # Many things have a type; it names a speaker only if it always does.
        enough = len(known) == len(value) if speaker == "type" else bool(known)
        for content in _CONTENT_KEYS:
            if enough and any(_is_content(raw.get(content)) for raw in value if speaker in raw):
                return _Keys(speaker, content)
    return None


def _is_content(value: Any) -> bool:
    return isinstance(value, str | list) and bool(value)


def _role(word: Any) -> Role | None:
    return _ROLES.get(word.strip().lower()) if isinstance(word, str) else None


def _time(raw: dict[str, Any]) -> float | None:
    return next((time for key in _TIME_KEYS if (time := when(raw.get(key))) is not None), None)


def _title(messages: Sequence[dict[str, Any]], keys: _Keys) -> str:
    said = (raw.get(keys.content) for raw in messages if _role(raw.get(keys.speaker)) is Role.USER)
    return shortened(next((text for text in said if isinstance(text, str)), ""))


def _read(messages: Sequence[dict[str, Any]], keys: _Keys) -> Reading:
    read: list[Message] = []
    bad = 0
    for raw in messages:
        word, content = raw.get(keys.speaker), raw.get(keys.content)
        if not isinstance(word, str) or content in (None, "", []):
            bad += 1
            continue
        role = _role(word)
        if isinstance(content, list):
            parts = [content_part(item) for item in content]
        else:
            parts = text_parts(content)
        if role is Role.TOOL:
            texts = [part for part in parts if part is not parts[0]]
            name = raw.get("name", raw.get("tool_name"))
            id = raw.get("tool_call_id", raw.get("id"))
            parts = [result(name, parts[0].text, id, raw, "tool", parts=texts)]
        read.append(
            Message(
                role or Role.USER,
                tuple(parts),
                source_role=word,
                name=None if role else word,
                time=_time(raw),
                raw=raw,
            )
        )
    others = sorted({key for raw in messages for key in raw} - set(keys) - set(_TIME_KEYS))
    notes = [
        "This is a guess: nothing in the file says what it is. Who speaks was read from "
        f"{keys.speaker!r}, what is said from {keys.content!r}."
    ]
    if others:
        shown = ", ".join(repr(key[:40]) for key in others[:6])
        more = " and others" if len(others) > 6 else ""
        notes.append(f"Not looked at: what stands in {shown}{more}.")
    skipped = [Skipped(None, f"{counted(bad, 'object')} without speaker or content")]
    return Reading(read, notes, skipped if bad else [])
