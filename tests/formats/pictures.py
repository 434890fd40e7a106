"""Smallest pictures and documents of each kind, made here."""

from __future__ import annotations

import base64
import struct
import zlib


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def png(width: int, height: int) -> bytes:
    """A white picture."""
    header = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    rows = (b"\0" + b"\xff" * width) * height
    return (
        b"\x89PNG\r\n\x1a\n"
        + _chunk(b"IHDR", header)
        + _chunk(b"IDAT", zlib.compress(rows))
        + _chunk(b"IEND", b"")
    )


def gif(width: int, height: int) -> bytes:
    """The header of a GIF."""
    return b"GIF89a" + struct.pack("<HH", width, height) + bytes(3)


def jpeg(width: int, height: int) -> bytes:
    """A JPEG with 70 KB of application data before the frame, as cameras write it."""
    application = b"\xff\xe1" + struct.pack(">H", 35_002) + bytes(35_000)
    tables = b"\xff\xc4" + struct.pack(">H", 4) + bytes(2)
    frame = b"\xff\xff\xc2" + struct.pack(">HBHH", 11, 8, height, width) + bytes(4)
    return b"\xff\xd8" + application * 2 + tables + frame


def webp(kind: bytes, width: int, height: int) -> bytes:
    """The header of a WebP of one of its three kinds."""
    if kind == b"VP8 ":
        data = bytes(3) + b"\x9d\x01\x2a" + struct.pack("<HH", width, height)
    elif kind == b"VP8L":
        data = b"\x2f" + struct.pack("<I", (width - 1) | (height - 1) << 14)
    else:
        data = bytes(4) + (width - 1).to_bytes(3, "little") + (height - 1).to_bytes(3, "little")
    return b"RIFF" + bytes(4) + b"WEBP" + kind + struct.pack("<I", len(data)) + data


PDF = b"%PDF-1.4\n<</Type /Pages /Count 2>>\n<< /Type /Page >>\n<</Type/Page/Parent 1 0 R>>\n"
PNG = png(3, 2)
PNG_BASE64 = base64.b64encode(PNG).decode()
PNG_URI = f"data:image/png;base64,{PNG_BASE64}"
