"""The whole log at the edge of the list: every message as high as its share of the tokens."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QEvent, QRectF, QSize, Qt, Signal
from PySide6.QtGui import (
    QColor,
    QHelpEvent,
    QImage,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPen,
    QResizeEvent,
    QWheelEvent,
)
from PySide6.QtWidgets import QApplication, QSizePolicy, QToolTip, QWidget

from stm_inspector.app import theme
from stm_inspector.app.buffer_view import BufferView
from stm_inspector.app.glyphs import VERDICT_WORDS, ZONE_WORDS
from stm_inspector.buffer.plan import Plan, Verdict, Zone
from stm_inspector.tokens.counts import TokenCounts

_MARGIN = 7
_GAP_FROM = 5
"""Blocks at least this many device pixels high are kept apart by a gap."""

_LEAST_SHARE = 0.1
"""Of the height, shared out evenly, so that a message of few tokens can still be pointed at."""


class Minimap(QWidget):
    """A picture of the whole log, with a frame around what the list shows.

    Heights go by tokens; what is not sent is pale and hatched. Click or drag to scroll there.
    The picture is made once a plan and size, in numpy, whatever the number of messages.

    Signals:
        wanted(int): the user points at this message.
    """

    wanted = Signal(int)

    def __init__(self, view: BufferView | None = None, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._plan: Plan | None = None
        self._tokens: NDArray[np.int64] | None = None
        self._ends: NDArray[np.float64] = np.zeros(0)
        self._image: QImage | None = None
        self._sight = (0, 0)
        self._matches: NDArray[np.int64] = np.zeros(0, dtype=np.int64)
        self._view = view
        self.setAccessibleName("Minimap")
        self.setAccessibleDescription("The whole conversation; click to scroll there.")
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Expanding)
        self.setMouseTracking(True)
        if view is not None:
            view.viewport_changed.connect(self.set_viewport)
            self.wanted.connect(view.centre)

    def sizeHint(self) -> QSize:
        return QSize(32, 200)

    def set_plan(self, plan: Plan | None, counts: TokenCounts | None = None) -> None:
        """Show ``plan``; with ``counts`` also, pale, what came after its call."""
        tokens = plan.tokens if plan is not None and counts is None else None
        tokens = counts.messages if plan is not None and counts is not None else tokens
        if tokens is None:
            self._ends = np.zeros(0)
        elif tokens is not self._tokens:
            self._ends = _ends(tokens)
        self._tokens = tokens
        self._plan = plan
        self._image = None
        self.update()

    def set_viewport(self, first: int, last: int) -> None:
        """Frame messages ``first`` to ``last``."""
        if (first, last) != self._sight:
            self._sight = (first, last)
            self.update()

    def set_matches(self, indices: NDArray[np.integer]) -> None:
        """Mark these messages as found by a search."""
        self._matches = np.asarray(indices, dtype=np.int64)
        self.update()

    # Places

    def _height(self) -> int:
        return max(1, self.height() - 2 * _MARGIN)

    def message_at(self, y: float) -> int | None:
        """The message drawn at ``y``."""
        if not len(self._ends):
            return None
        share = (y - _MARGIN) / self._height()
        place = int(np.searchsorted(self._ends, share, side="right"))
        return min(max(place, 0), len(self._ends) - 1)

    def span_of(self, first: int, last: int) -> tuple[float, float]:
        """Upper and lower edge of messages ``first`` to ``last``."""
        last = min(last, len(self._ends) - 1)
        first = min(first, last)
        start = self._ends[first - 1] if first > 0 else 0.0
        return (
            _MARGIN + float(start) * self._height(),
            _MARGIN + float(self._ends[last]) * self._height(),
        )

    # Events

    def resizeEvent(self, event: QResizeEvent) -> None:
        self._image = None
        super().resizeEvent(event)

    def changeEvent(self, event: QEvent) -> None:
        if event.type() in (QEvent.Type.PaletteChange, QEvent.Type.StyleChange):
            self._image = None
            self.update()
        super().changeEvent(event)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        self._scroll_to(event)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        if event.buttons() & Qt.MouseButton.LeftButton:
            self._scroll_to(event)

    def _scroll_to(self, event: QMouseEvent) -> None:
        index = self.message_at(event.position().y())
        if index is not None:
            self.wanted.emit(index)

    def wheelEvent(self, event: QWheelEvent) -> None:
        if self._view is not None:
            QApplication.sendEvent(self._view.viewport(), event)

    def event(self, event: QEvent) -> bool:
        if isinstance(event, QHelpEvent) and event.type() == QEvent.Type.ToolTip:
            QToolTip.showText(event.globalPos(), self._tip(event.pos().y()), self)
            return True
        return super().event(event)

    def _tip(self, y: float) -> str:
        index, plan = self.message_at(y), self._plan
        if index is None or plan is None:
            return ""
        if index >= plan.length:
            return f"message {index}: comes after the call that is shown"
        zone = ZONE_WORDS[Zone(int(plan.zones[index]))]
        word = VERDICT_WORDS[Verdict(int(plan.decision.verdicts[index]))]
        return f"message {index}: {int(plan.tokens[index]):,} tokens, {zone}, {word}"

    # Painting

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        colours = theme.current()
        painter.fillRect(self.rect(), QColor(colours.background))
        painter.fillRect(0, 0, 1, self.height(), QColor(colours.line))
        painter.fillRect(self.width() - 1, 0, 1, self.height(), QColor(colours.line))
        if self._plan is None or not len(self._ends):
            return
        ratio = self.devicePixelRatioF()
        if self._image is None or self._image.devicePixelRatio() != ratio:
            self._image = self._draw(self._plan, colours, ratio)
        painter.drawImage(_MARGIN, _MARGIN, self._image)
        self._paint_matches(painter, colours)
        self._paint_frame(painter, colours)

    def _draw(self, plan: Plan, colours: theme.Theme, ratio: float) -> QImage:
        """The blocks: one message looked up for each line of device pixels."""
        width = max(1, round((self.width() - 2 * _MARGIN) * ratio))
        height = max(1, round(self._height() * ratio))
        lines = (np.arange(height) + 0.5) / height
        count = len(self._ends)
        owner = np.minimum(np.searchsorted(self._ends, lines, side="right"), count - 1)
        later = owner >= plan.length
        there = np.where(later, 0, owner)
        zones = np.array([_rgb(colours.zone(zone).name()) for zone in Zone], dtype=np.uint32)
        pale = np.array(
            [_mixed(colours.zone(zone).name(), colours.background) for zone in Zone],
            dtype=np.uint32,
        )
        verdicts = np.where(later, np.uint8(Verdict.KEEP), plan.decision.verdicts[there])
        gone = (verdicts == Verdict.EVICT) | (verdicts == Verdict.SUMMARISE)
        column = np.where(gone, pale[plan.zones[there]], zones[plan.zones[there]])
        column[later] = _rgb(colours.raised)
        pixels = np.repeat(column[:, None], width, axis=1)
        self._hatch(pixels, verdicts, colours, ratio)
        background = _rgb(colours.background)
        starts = np.flatnonzero(np.diff(owner)) + 1
        blocks = np.diff(np.concatenate([[0], starts, [height]]))
        high = np.minimum(blocks[:-1], blocks[1:]) >= _GAP_FROM * ratio
        for line in range(max(1, round(ratio))):
            pixels[starts[high] - 1 - line] = background
        # copy() takes the pixels over before numpy lets go of them.
        image = QImage(pixels.data, width, height, 4 * width, QImage.Format.Format_RGB32).copy()
        image.setDevicePixelRatio(ratio)
        return image

    def _hatch(
        self,
        pixels: NDArray[np.uint32],
        verdicts: NDArray[np.uint8],
        colours: theme.Theme,
        ratio: float,
    ) -> None:
        """Diagonals over what is evicted, dots over what is summarised."""
        height, width = pixels.shape
        step = round(5 * ratio)
        y, x = np.arange(height)[:, None], np.arange(width)[None, :]
        diagonal = (x + y) % step < max(1, round(ratio))
        dotted = (x % step < round(1.5 * ratio)) & (y % step < round(1.5 * ratio))
        ink = _mixed(colours.text_faint, colours.background, 0.5)
        evicted = (verdicts == Verdict.EVICT)[:, None] & diagonal
        summarised = (verdicts == Verdict.SUMMARISE)[:, None] & dotted
        pixels[evicted | summarised] = ink

    def _paint_matches(self, painter: QPainter, colours: theme.Theme) -> None:
        if not self._matches.size:
            return
        known = self._matches[self._matches < len(self._ends)]
        places = np.unique((_MARGIN + self._ends[known] * self._height()).astype(int))
        for y in places:
            painter.fillRect(self.width() - 5, int(y) - 2, 4, 3, QColor(colours.warning))

    def _paint_frame(self, painter: QPainter, colours: theme.Theme) -> None:
        top, bottom = self.span_of(*self._sight)
        if bottom - top < 10:
            middle = (top + bottom) / 2
            top, bottom = middle - 5, middle + 5
        frame = QRectF(2.5, top - 1.5, self.width() - 5, bottom - top + 3)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(QPen(QColor(colours.accent), 1.5))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawRoundedRect(frame, 4, 4)


def _ends(tokens: NDArray[np.int64]) -> NDArray[np.float64]:
    """float64[n], where each message ends on a height of 1."""
    count = len(tokens)
    if not count:
        return np.zeros(0)
    total = max(1, int(tokens.sum()))
    shares = (1 - _LEAST_SHARE) * tokens / total + _LEAST_SHARE / count
    ends = np.cumsum(shares)
    result: NDArray[np.float64] = ends / ends[-1]
    return result


def _rgb(name: str) -> int:
    """A colour as the four bytes of a 32-bit pixel."""
    return 0xFF000000 | int(name[1:], 16)


def _mixed(name: str, background: str, share: float = 0.3) -> int:
    """``share`` of a colour on the background."""
    one, other = QColor(name), QColor(background)
    mixed = QColor.fromRgbF(
        share * one.redF() + (1 - share) * other.redF(),
        share * one.greenF() + (1 - share) * other.greenF(),
        share * one.blueF() + (1 - share) * other.blueF(),
    )
    return _rgb(mixed.name())
