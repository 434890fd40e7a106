"""What the header of a picture or document says, without decoding the rest of it."""

from __future__ import annotations

import base64
import binascii
import re
import struct

from stm_inspector.conversation.model import Media

_HEADER = 1 << 18
"""Characters of base64 that are decoded to look for a picture's size. EXIF data and colour
profiles can push the size of a JPEG back by up to some 64 KB each."""

_MAX_PDF = 32 << 20
"""Bytes; the largest request that the Anthropic API takes."""

_DATA_URI = re.compile(r"data:([^;,]*)((?:;[^;,]*)*?)(;base64)?,", re.IGNORECASE)

# A page object of a PDF; /Pages is the tree above them.
_PDF_PAGE = re.compile(rb"/Type\s*/Page(?![A-Za-z])")


def from_url(url: str, detail: str | None = None) -> Media:
    """Of a ``data:`` URI or of an address, which is noted and never fetched."""
    found = _DATA_URI.match(url, 0, 400)
    if found is None:
        return Media(url=url, detail=detail)
    if found.group(3) is None:
        return Media(media_type=found.group(1) or None, size=len(url) - found.end(), detail=detail)
    return from_base64(url[found.end() :], found.group(1) or None, detail)


def from_base64(data: str, media_type: str | None = None, detail: str | None = None) -> Media:
    """Of base64 text: pixel size of PNG, JPEG, GIF and WebP; pages of a PDF where they show."""
    size = len(data) * 3 // 4 - data[-2:].count("=")
    header = _decoded(data[:_HEADER])
    width, height = pixel_size(header) or (None, None)
    pages = None
    if header.startswith(b"%PDF") and size <= _MAX_PDF:
        pages = len(_PDF_PAGE.findall(_decoded(data))) or None
    return Media(media_type, width, height, size, pages, detail)


def _decoded(data: str) -> bytes:
    clean = data.encode("ascii", "ignore").translate(_URL_SAFE, b" \r\n\t=")
    try:
        clean = clean[:-1] if len(clean) % 4 == 1 else clean
        return base64.b64decode(clean + b"=" * (-len(clean) % 4))
    except binascii.Error:
        return b""


_URL_SAFE = bytes.maketrans(b"-_", b"+/")


def pixel_size(data: bytes) -> tuple[int, int] | None:
    """(width, height) in pixels from the first bytes of a picture, or None.

    PNG: IHDR. GIF: logical screen. WebP: VP8, VP8L or VP8X chunk. JPEG: the first start-of-frame
    marker.
    """
    try:
        if data.startswith(b"\x89PNG\r\n\x1a\n"):
            width, height = struct.unpack_from(">II", data, 16)
            return width, height
        if data.startswith((b"GIF87a", b"GIF89a")):
            width, height = struct.unpack_from("<HH", data, 6)
            return width, height
        if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
            return _webp(data)
        if data.startswith(b"\xff\xd8"):
            return _jpeg(data)
    except (struct.error, IndexError):
        return None
    return None


def _webp(data: bytes) -> tuple[int, int] | None:
    chunk = data[12:16]
    if chunk == b"VP8 ":
        width, height = struct.unpack_from("<HH", data, 26)
        return width & 0x3FFF, height & 0x3FFF
    if chunk == b"VP8L":
        (bits,) = struct.unpack_from("<I", data, 21)
        return (bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1
    if chunk == b"VP8X":
        low_w, high_w, low_h, high_h = struct.unpack_from("<HBHB", data, 24)
        return (low_w | high_w << 16) + 1, (low_h | high_h << 16) + 1
    return None


def _jpeg(data: bytes) -> tuple[int, int] | None:
    pos = 2
    while pos < len(data):
        if data[pos] != 0xFF:
            return None
        marker = data[pos + 1]
        if marker == 0xFF:  # fill byte
            pos += 1
            continue
        # SOF0..SOF15, of which C4, C8 and CC are other things (ITU T.81, table B.1).
        if 0xC0 <= marker <= 0xCF and marker not in (0xC4, 0xC8, 0xCC):
            height, width = struct.unpack_from(">HH", data, pos + 5)
            return width, height
        (length,) = struct.unpack_from(">H", data, pos + 2)
        pos += 2 + length
    return None
