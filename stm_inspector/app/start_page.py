"""What the window shows while nothing is open: what to do first, samples, recent files."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QIcon
from PySide6.QtWidgets import QHBoxLayout, QLabel, QPushButton, QScrollArea, QVBoxLayout, QWidget

from stm_inspector.app import theme
from stm_inspector.app.widgets import clear, label, link
from stm_inspector.conversation.visible import visible
from stm_inspector.paths import resource

WIDTH = 800
RECENT_SHOWN = 5


@dataclass(frozen=True, slots=True)
class Sample:
    """A bundled conversation: where it is, what it is called, what it shows."""

    path: str
    title: str
    description: str


class SampleCard(QPushButton):
    """A button with a title and a line below it."""

    def __init__(self, sample: Sample) -> None:
        super().__init__()
        self.setProperty("card", True)
        self.setAccessibleName(f"Open the sample: {sample.title}")
        self.setAccessibleDescription(sample.description)
        title, description = label(sample.title), label(sample.description, "soft", wrap=True)
        title.setFont(theme.fonts().bold)
        column = self._column = QVBoxLayout(self)
        column.setContentsMargins(12, 7, 12, 8)
        column.setSpacing(2)
        for text in (title, description):
            text.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
            column.addWidget(text)

    def sizeHint(self) -> QSize:
        return self._column.sizeHint()

    def hasHeightForWidth(self) -> bool:
        return True

    def heightForWidth(self, width: int) -> int:
        return self._column.heightForWidth(width)


class StartPage(QScrollArea):
    """A welcome of a few lines.

    Signals:
        open_wanted: the user wants to choose a file.
        file_chosen(str): the user chose a sample or a recent file.
    """

    open_wanted = Signal()
    file_chosen = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._column = QVBoxLayout()
        self._column.setSpacing(10)
        self.setWidgetResizable(True)
        self.setFrameShape(QScrollArea.Shape.NoFrame)
        self.setAccessibleName("Welcome")
        page, inner = QWidget(), QWidget()
        inner.setMaximumWidth(WIDTH)
        inner.setLayout(self._column)
        centre = QHBoxLayout(page)
        centre.setContentsMargins(24, 12, 24, 12)
        centre.addStretch(1)
        centre.addWidget(inner, 100)
        centre.addStretch(1)
        self.setWidget(page)
        self._recent = QVBoxLayout()
        self._recent.setSpacing(0)
        self._recent_title = label("RECENT FILES", "caps")
        self._build()

    def _build(self) -> None:
        title = label("See what the model still remembers")
        font = theme.fonts().bold
        font = type(font)(font)
        font.setPointSizeF(font.pointSizeF() * 1.7)
        title.setFont(font)
        intro = label(
            "Open a recorded conversation, drag the token budget, and watch which messages would "
            "be kept, evicted or summarised. Then export exactly what stays.",
            "soft",
            wrap=True,
        )
        open_button = QPushButton("Open a conversation…")
        self.setFocusProxy(open_button)
        open_button.setProperty("primary", True)
        open_button.setAccessibleName("Open a recorded conversation")
        open_button.clicked.connect(self.open_wanted)
        drop = label("or drop a file anywhere in this window", "soft")
        row = QHBoxLayout()
        row.setSpacing(12)
        row.addWidget(open_button)
        row.addWidget(drop)
        row.addStretch()
        self._column.addStretch(2)
        self._column.addWidget(_logo())
        self._column.addWidget(title)
        self._column.addWidget(intro)
        self._column.addSpacing(8)
        self._column.addLayout(row)
        self._column.addWidget(label("Nothing leaves this computer.", "faint"))
        self._add_samples()
        self._column.addSpacing(14)
        self._column.addWidget(self._recent_title)
        self._column.addLayout(self._recent)
        self._column.addStretch(3)

    def _add_samples(self) -> None:
        self._column.addSpacing(16)
        self._column.addWidget(label("TRY A SAMPLE", "caps"))
        cards = QVBoxLayout()
        cards.setSpacing(6)
        for sample in bundled_samples():
            card = SampleCard(sample)
            card.clicked.connect(
                lambda _on=False, sample=sample: self.file_chosen.emit(sample.path)
            )
            cards.addWidget(card)
        self._column.addLayout(cards)

    def show_recent(self, paths: Sequence[str]) -> None:
        """List recent files; those that are gone are left out here (the menu greys them)."""
        clear(self._recent)
        there = [path for path in paths if Path(path).is_file()][:RECENT_SHOWN]
        self._recent_title.setVisible(bool(there))
        for path in there:
            name = visible(Path(path).name, keep="")
            folder = visible(str(Path(path).parent), keep="")
            button = link(name, visible(path, keep=""))
            button.setAccessibleName(f"Open {name}")
            button.clicked.connect(lambda _on=False, path=path: self.file_chosen.emit(path))
            row = QHBoxLayout()
            row.setSpacing(10)
            row.addWidget(button)
            row.addWidget(label(folder, "faint"))
            row.addStretch()
            self._recent.addLayout(row)


def bundled_samples() -> tuple[Sample, ...]:
    """The bundled sample conversations, in the order in which they are shown."""
    listed = json.loads(resource("samples", "index.json").read_text("utf-8"))
    return tuple(
        Sample(str(resource("samples", entry["file"])), entry["title"], entry["description"])
        for entry in listed
    )


def _logo() -> QLabel:
    picture = QLabel()
    icon = app_icon()
    if not icon.isNull():
        picture.setPixmap(icon.pixmap(QSize(56, 56)))
    picture.setAlignment(Qt.AlignmentFlag.AlignLeft)
    return picture


def app_icon() -> QIcon:
    """The program's icon; empty where it is not bundled."""
    file = resource("icons", "stm-inspector.svg")
    return QIcon(str(file)) if file.is_file() else QIcon()
