"""The size of pictures and documents, from their header alone."""

from __future__ import annotations

import base64
from pathlib import Path

import pytest

from stm_inspector.conversation.model import Media
from stm_inspector.formats import media, open_file

from .pictures import PDF, PNG_BASE64, gif, jpeg, png, webp


@pytest.mark.parametrize(
    "data",
    [
        png(640, 480),
        gif(640, 480),
        jpeg(640, 480),
        webp(b"VP8 ", 640, 480),
        webp(b"VP8L", 640, 480),
        webp(b"VP8X", 640, 480),
    ],
)
def test_pixel_size(data: bytes) -> None:
    found = media.from_base64(base64.b64encode(data).decode())
    assert (found.width, found.height, found.size) == (640, 480, len(data))
    assert media.pixel_size(data[:9]) is None


@pytest.mark.parametrize("data", ["", "!!!!", "A", "QUJD", "\ud800", "é" * 9])
def test_nonsense_has_no_size(data: str) -> None:
    found = media.from_base64(data, "image/png")
    assert (found.width, found.height, found.pages) == (None, None, None)


def test_line_breaks_and_url_safe_letters() -> None:
    broken = "\r\n".join(PNG_BASE64[at : at + 20] for at in range(0, len(PNG_BASE64), 20))
    assert media.from_base64(broken).width == 3
    safe = PNG_BASE64.replace("+", "-").replace("/", "_")
    assert media.from_base64(safe).width == 3


def test_pages_of_a_pdf() -> None:
    found = media.from_base64(base64.b64encode(PDF).decode(), "application/pdf")
    assert (found.pages, found.size) == (2, len(PDF))


def test_data_uri_without_base64() -> None:
    assert media.from_url("data:text/plain,hello") == Media("text/plain", size=5)


def test_pictures_of_recorded_conversations(samples: Path) -> None:
    found = [
        (part.media.width, part.media.height)
        for name in (
            "openai-chat/image-base64.request.json",
            "claude-code/ccl-debug_image_message.jsonl",
        )
        for message in open_file(samples / name).load().messages
        for part in message.parts
        if part.media
    ]
    assert found == [(540, 360), (1200, 741), (1200, 741)]
