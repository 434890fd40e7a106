"""Small pieces that several panels are made of. Texts are plain text, always."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QPoint, QRect, QSize, Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import (
    QFrame,
    QLabel,
    QLayout,
    QLayoutItem,
    QPushButton,
    QSizePolicy,
    QWidget,
)

from stm_inspector.app.theme import fonts


def label(text: str = "", level: str = "", *, wrap: bool = False) -> QLabel:
    """A label that shows ``text`` as it stands; ``level`` is one of the style sheet's."""
    made = QLabel()
    made.setTextFormat(Qt.TextFormat.PlainText)
    made.setText(text)
    made.setWordWrap(wrap)
    if level:
        made.setProperty("level", level)
    if level == "caps":
        made.setFont(fonts().caps)
    return made


def link(text: str, tip: str = "") -> QPushButton:
    """A button that looks like a link; it can be reached by Tab and pressed by Space."""
    button = QPushButton(text)
    button.setAccessibleName(text)
    button.setToolTip(tip)
    button.setProperty("link", True)
    button.setCursor(Qt.CursorShape.PointingHandCursor)
    return button


def rule() -> QFrame:
    """A hairline between two panels."""
    line = QFrame()
    line.setProperty("rule", True)
    return line


class ElidedLabel(QLabel):
    """A one-line plain label that gives way: it ends in an ellipsis where space is short."""

    def __init__(
        self,
        text: str = "",
        elide: Qt.TextElideMode = Qt.TextElideMode.ElideMiddle,
        *,
        least: int = 60,
        padding: int = 2,
    ) -> None:
        """``least`` is the width it keeps, ``padding`` what the style adds at each side, pixels."""
        super().__init__()
        self._elide_mode, self._least, self._padding = elide, least, padding
        self.setTextFormat(Qt.TextFormat.PlainText)
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
        self._full = ""
        self.set_full_text(text)

    def set_full_text(self, text: str) -> None:
        """Show ``text``, shortened where need be."""
        self._full = text
        self.setAccessibleName(text)
        self.updateGeometry()
        self._elide()

    def sizeHint(self) -> QSize:
        # One pixel more than the sum: fractions of a pixel must not cost letters.
        width = self.fontMetrics().horizontalAdvance(self._full) + 2 * self._padding + 1
        return QSize(width, super().sizeHint().height())

    def minimumSizeHint(self) -> QSize:
        return QSize(min(self._least, self.sizeHint().width()), super().minimumSizeHint().height())

    def resizeEvent(self, event: QResizeEvent) -> None:
        self._elide()

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() in (QEvent.Type.FontChange, QEvent.Type.StyleChange):
            self.updateGeometry()
            self._elide()

    def _elide(self) -> None:
        room = max(self.width() - 2 * self._padding, 1)
        shown = self.fontMetrics().elidedText(self._full, self._elide_mode, room)
        if shown != self.text():
            self.setText(shown)


class FlowLayout(QLayout):
    """Lays its widgets out like words: left to right, wrapping at the edge."""

    def __init__(self, parent: QWidget | None = None, spacing: int = 6) -> None:
        super().__init__(parent)
        self._items: list[QLayoutItem] = []
        self.setContentsMargins(0, 0, 0, 0)
        self.setSpacing(spacing)

    def addItem(self, item: QLayoutItem) -> None:
        self._items.append(item)

    def count(self) -> int:
        return len(self._items)

    def itemAt(self, index: int) -> QLayoutItem | None:
        return self._items[index] if 0 <= index < len(self._items) else None

    def takeAt(self, index: int) -> QLayoutItem | None:
        return self._items.pop(index) if 0 <= index < len(self._items) else None

    def expandingDirections(self) -> Qt.Orientation:
        return Qt.Orientation(0)

    def hasHeightForWidth(self) -> bool:
        return True

    def heightForWidth(self, width: int) -> int:
        return self._arrange(QRect(0, 0, width, 0), move=False)

    def sizeHint(self) -> QSize:
        return self.minimumSize()

    def minimumSize(self) -> QSize:
        size = QSize()
        for item in self._items:
            size = size.expandedTo(item.minimumSize())
        return size

    def setGeometry(self, rect: QRect) -> None:
        super().setGeometry(rect)
        self._arrange(rect, move=True)

    def _arrange(self, rect: QRect, *, move: bool) -> int:
        """Place the items, all in the middle of one row height; returns the height needed."""
        hints = [item.sizeHint() for item in self._items]
        row = max((size.height() for size in hints), default=0)
        left, top = rect.x(), rect.y()
        for item, size in zip(self._items, hints, strict=True):
            if left > rect.x() and left + size.width() > rect.right() + 1:
                left, top = rect.x(), top + row
            if move:
                place = QPoint(left, top + (row - size.height()) // 2)
                item.setGeometry(QRect(place, size))
            left += size.width() + self.spacing()
        return top + row - rect.y()


def clear(layout: QLayout) -> None:
    """Take everything out of ``layout`` and delete it."""
    while (item := layout.takeAt(0)) is not None:
        widget, inner = item.widget(), item.layout()
        if widget is not None:
            widget.hide()
            widget.deleteLater()
        elif inner is not None:
            clear(inner)
