"""The data of an image or document.

The model of a conversation keeps only what is known of it (``Media``); the data itself stands in
the value that the part was read from, in one of a few spellings.
"""

from __future__ import annotations

import mimetypes
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from stm_inspector.conversation.model import Part

_DATA_KEYS = (
    "data",
    "bytes",
    "base64",
    "file_data",
    "url",
    "image_url",
    "fileUri",
    "file_uri",
    "uri",
    "image",
    "result",
    "content",
)
_TYPE_KEYS = ("media_type", "mediaType", "mimeType", "mime_type", "mimetype", "output_format")
_LEAST = 16
"""Characters of base64 data; what is shorter is a word."""

_URL_SAFE = str.maketrans("-_", "+/")
_BASE64 = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/-_=\r\n")


@dataclass(frozen=True, slots=True)
class Payload:
    """Either ``data`` (base64, standard alphabet) with its media type, or an address."""

    media_type: str
    data: str = ""
    url: str = ""

    @property
    def address(self) -> str:
        """The address, or the data as a ``data:`` URI."""
        return self.url or f"data:{self.media_type};base64,{self.data}"

    @property
    def subtype(self) -> str:
        """``jpeg`` of ``image/jpeg``."""
        return self.media_type.rpartition("/")[2]


def payload_of(part: Part, usual_type: str) -> Payload | None:
    """The data or address of ``part``; None where the file holds neither (a file id).

    ``usual_type`` is the media type that is assumed where nothing says it.
    """
    known = part.media.media_type if part.media else None
    for text in _texts(part.raw):
        found = _payload(text, known or _said_type(part.raw) or "", usual_type)
        if found is not None:
            return found
    url = part.media.url if part.media else None
    return _payload(url, known or "", usual_type) if url else None


def _payload(text: str, media_type: str, usual: str) -> Payload | None:
    if text.startswith("data:"):
        head, _, data = text.partition(",")
        said = head[5:].partition(";")[0]
        return Payload(said or media_type or usual, data) if ";base64" in head else None
    if text.startswith(("http://", "https://", "gs://", "s3://")):
        guessed = mimetypes.guess_type(text.partition("?")[0])[0]
        return Payload(media_type or guessed or usual, url=text)
    if len(text) < _LEAST or not _BASE64.issuperset(text[:200]):
        return None
    return Payload(media_type or _guessed(text) or usual, text.translate(_URL_SAFE))


def _texts(value: Any, depth: int = 0) -> Iterator[str]:
    """Texts in ``value`` that may be data or an address, the most probable member first."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict) and depth < 4:
        for key in _DATA_KEYS:
            if key in value:
                yield from _texts(value[key], depth + 1)
        for key, inner in value.items():
            if isinstance(inner, dict) and key not in _DATA_KEYS:
                yield from _texts(inner, depth + 1)


def _said_type(value: Any, depth: int = 0) -> str | None:
    if not isinstance(value, dict) or depth > 3:
        return None
    for key in _TYPE_KEYS:
        said = value.get(key)
        if isinstance(said, str):
            return said if "/" in said else f"image/{said}"
    inner = (_said_type(item, depth + 1) for item in value.values())
    return next((said for said in inner if said), None)


_BEGINNINGS = (
    ("iVBORw0KGgo", "image/png"),
    ("/9j/", "image/jpeg"),
    ("R0lGOD", "image/gif"),
    ("UklGR", "image/webp"),
    ("JVBERi", "application/pdf"),
)


def _guessed(data: str) -> str | None:
    """The media type that the first bytes of the data give away."""
    start = data[:16].translate(_URL_SAFE)
    return next((kind for begins, kind in _BEGINNINGS if start.startswith(begins)), None)
