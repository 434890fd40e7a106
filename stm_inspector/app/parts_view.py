"""The parts of a message: what each is, its tokens and how they came about, and facts."""

from __future__ import annotations

import base64
import binascii
from typing import Any

from PySide6.QtCore import QBuffer, QByteArray, QIODevice, QSize, Qt
from PySide6.QtGui import QIcon, QImage, QImageReader, QPixmap
from PySide6.QtWidgets import QHeaderView, QTreeWidget, QTreeWidgetItem, QVBoxLayout, QWidget

from stm_inspector.app.rendering import media_facts, part_title
from stm_inspector.app.widgets import label
from stm_inspector.conversation.model import Message, Part, PartKind
from stm_inspector.conversation.visible import visible
from stm_inspector.tokens.counts import UNKNOWN, Exactness, TokenCounts

LIMIT = 500
"""Parts listed; a message with more says so."""
THUMBNAIL = 64
"""Pixels, the longer side."""
LARGEST_IMAGE = 8_000_000
"""Characters of base64 beyond which an image is not decoded for a picture of it."""
LARGEST_SIDE = 8_192
"""Pixels beyond which an image is not decoded, whatever its file size."""
IMAGE_FORMATS = ("png", "jpeg", "gif", "webp")


class PartsView(QWidget):
    """A tree: parts, and below a tool result or document what it holds."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.tree = QTreeWidget()
        self.tree.setAccessibleName("Parts of the message")
        self.tree.setHeaderLabels(["Part", "Tokens", "Facts"])
        self.tree.setIconSize(QSize(THUMBNAIL, THUMBNAIL))
        self.tree.setAlternatingRowColors(False)
        self.tree.setIndentation(14)
        header = self.tree.header()
        header.setSectionResizeMode(0, QHeaderView.ResizeMode.ResizeToContents)
        header.setSectionResizeMode(1, QHeaderView.ResizeMode.ResizeToContents)
        header.setMaximumSectionSize(220)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 8, 0, 0)
        column.addWidget(self.tree, 1)
        self._note = label(level="soft", wrap=True)
        column.addWidget(self._note)

    def show_message(self, message: Message, counts: TokenCounts, index: int) -> None:
        """List the parts of ``message``, which is number ``index``."""
        self.tree.clear()
        exactness = Exactness(int(counts.exactness[index]))
        tokens = counts.parts_of(index)
        for place, part in enumerate(message.parts[:LIMIT]):
            number = int(tokens[place])
            self.tree.addTopLevelItem(_item(part, token_text(number, exactness)))
        self.tree.expandAll()
        self._note.setText(_overhead(message, counts, index, exactness))

    def clear(self) -> None:
        """Show nothing."""
        self.tree.clear()
        self._note.setText("")


def token_text(tokens: int, exactness: Exactness) -> str:
    """A number of tokens with its exactness: "8,214 exact"; "unknown" is never 0."""
    return "not in the file" if tokens == UNKNOWN else f"{tokens:,} {exactness.word}"


def _overhead(message: Message, counts: TokenCounts, index: int, exactness: Exactness) -> str:
    known = counts.parts_of(index)
    frame = int(counts.messages[index]) - int(known[known != UNKNOWN].sum())
    notes = []
    if frame > 0:
        notes.append(f"{frame:,} further tokens ({exactness.word}) frame the message.")
    if len(message.parts) > LIMIT:
        notes.append(f"{len(message.parts) - LIMIT:,} more parts are not listed here.")
    return " ".join(notes)


def _item(part: Part, tokens: str) -> QTreeWidgetItem:
    item = QTreeWidgetItem([part_title(part), tokens, _facts(part)])
    item.setTextAlignment(1, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
    picture = thumbnail(part)
    if picture is not None:
        item.setIcon(0, QIcon(QPixmap.fromImage(picture)))
    for inner in part.parts[:LIMIT]:
        item.addChild(_item(inner, ""))
    return item


def _facts(part: Part) -> str:
    facts = [media_facts(part.media)] if part.media is not None else []
    if part.text:
        facts.append(f"{len(part.text):,} characters")
    if part.hidden:
        facts.append(visible(part.hidden))
    if part.call_id:
        facts.append(f"id {visible(part.call_id)[:80]}")
    if part.signed:
        facts.append("signed: bound to what stands before it")
    if part.cache_marker:
        facts.append("cache breakpoint")
    return " · ".join(facts)


def thumbnail(part: Part) -> QImage | None:
    """A small picture of an image whose data stand in the file; None for every other part.

    Only common raster formats of bounded size are decoded, straight to the small size.
    """
    data = _base64_of(part.raw) if part.kind is PartKind.IMAGE else None
    if data is None or len(data) > LARGEST_IMAGE:
        return None
    try:
        content = base64.b64decode(data, validate=False)
    except (binascii.Error, ValueError):
        return None
    device = QBuffer()
    device.setData(QByteArray(content))
    device.open(QIODevice.OpenModeFlag.ReadOnly)
    reader = QImageReader(device)
    reader.setDecideFormatFromContent(True)
    if bytes(reader.format().data()).decode("ascii", "replace") not in IMAGE_FORMATS:
        return None
    size = reader.size()
    if not size.isValid() or max(size.width(), size.height()) > LARGEST_SIDE:
        return None
    reader.setScaledSize(
        size.scaled(THUMBNAIL, THUMBNAIL, Qt.AspectRatioMode.KeepAspectRatio).expandedTo(
            QSize(1, 1)
        )
    )
    image = reader.read()
    return None if image.isNull() else image


def _base64_of(raw: Any) -> str | None:
    """The base64 text of an image part, as the known APIs write it."""
    if not isinstance(raw, dict):
        return None
    source = raw.get("source")
    if isinstance(source, dict) and isinstance(source.get("data"), str):
        return str(source["data"])
    url = raw.get("image_url")
    if isinstance(url, dict):
        url = url.get("url")
    if isinstance(url, str) and url.startswith("data:image/") and ";base64," in url[:100]:
        return url.partition(";base64,")[2]
    return None
