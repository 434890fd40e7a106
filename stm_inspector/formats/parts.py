"""Small readers that the formats share."""

from __future__ import annotations

from typing import Any

from stm_inspector.conversation.model import Media, Part, PartKind
from stm_inspector.formats.rewrite import dumps

_BLOB = 400
"""Characters without a space from which a string is taken for encoded data, not for text."""

ONLY_ADDRESS = "only its address is in the file"
AT_PROVIDER = "kept by the provider"
ENCRYPTED = "encrypted by the provider"


def counted(number: int, noun: str, plural: str = "") -> str:
    """``1 line``, ``2 lines``."""
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"


def string(value: Any) -> str | None:
    """``value`` if it is a text, else None."""
    return value if isinstance(value, str) else None


def as_text(value: Any) -> str:
    """A text as it stands; any other value as JSON."""
    return value if isinstance(value, str) else dumps(value)


def opaque(value: Any, media: Media | None = None, hidden: str | None = None) -> Part:
    """A piece of a kind that is not known here; encoded data in it is not counted as text."""
    text = "" if media else as_text(value)
    if not hidden and (media or _has_blob(value)):
        text, hidden = "", "encoded data of a kind whose tokens are not known"
    kind = value.get("type") if isinstance(value, dict) else None
    return Part(
        PartKind.OPAQUE,
        text,
        media=media,
        hidden=hidden,
        cache_marker=isinstance(value, dict) and "cache_control" in value,
        source_type=kind if isinstance(kind, str) else type(value).__name__,
        raw=value,
    )


def _has_blob(value: Any) -> bool:
    if isinstance(value, str):
        return len(value) > _BLOB and not any(c in value[:_BLOB] for c in " \n\t")
    if isinstance(value, dict):
        return any(_has_blob(item) for item in value.values())
    return isinstance(value, list) and any(_has_blob(item) for item in value)


def first_and_rest(parts: list[Part]) -> tuple[str, tuple[Part, ...]]:
    """The pieces of a tool result as its text and what it holds beside it."""
    if parts and parts[0].kind is PartKind.TEXT:
        return parts[0].text, tuple(parts[1:])
    return "", tuple(parts)
