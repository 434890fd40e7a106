"""A handle on the budget bar: dragged with the mouse, stepped with the keys, read out loud."""

from __future__ import annotations

from PySide6.QtCore import QPointF, QRectF, Qt, Signal
from PySide6.QtGui import (
    QColor,
    QFontMetricsF,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPen,
    QPolygonF,
)
from PySide6.QtWidgets import QAbstractSlider, QWidget

from stm_inspector.app import theme

WIDTH = 16
"""Pixels that can be grabbed; the line is in the middle."""

_DASHES = {"budget": (1000, 1000), "watermark": (5, 8), "target": (2, 4)}
"""Length and distance of the dashes of each line, in pixels."""

_STEPS = {
    Qt.Key.Key_Left: -1,
    Qt.Key.Key_Down: -1,
    Qt.Key.Key_Right: 1,
    Qt.Key.Key_Up: 1,
    Qt.Key.Key_PageDown: -10,
    Qt.Key.Key_PageUp: 10,
}


class Handle(QAbstractSlider):
    """One mark in tokens. A slider to assistive technology.

    Arrows step by 1 % of the range, with Shift by 5 %, Page Up and Page Down by 10 %, Home and
    End go to its ends.

    Signals:
        grabbed(), released(): a drag with the mouse begins and ends.
        dragged(float): the pointer is at that x of the parent.
        stepped(int): the keys want this value.
    """

    grabbed = Signal()
    released = Signal()
    dragged = Signal(float)
    stepped = Signal(int)

    def __init__(self, name: str, title: str, parent: QWidget) -> None:
        super().__init__(parent)
        self.name = name
        self.head = 0.0
        self._hold = 0.0
        self._held = False
        self.setAccessibleName(title)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setCursor(Qt.CursorShape.SizeHorCursor)

    @property
    def held(self) -> bool:
        """The mouse holds it."""
        return self._held

    def show_value(self, tokens: int, most: int, words: str) -> None:
        """Stand for ``tokens`` of at most ``most``; ``words`` say it."""
        blocked = self.blockSignals(True)
        self.setRange(0, most)
        self.setSingleStep(max(1, most // 100))
        self.setPageStep(max(1, most // 10))
        self.setValue(tokens)
        self.blockSignals(blocked)
        self.setAccessibleDescription(words)
        keys = "Drag it, or arrows: 1 %, with Shift 5 %, Page Up and Page Down 10 %."
        self.setToolTip(f"{words}\n{keys}")

    def grab_at(self, x: float) -> None:
        """Begin a drag from ``x`` of the parent."""
        self._held = True
        self._hold = x - (self.x() + WIDTH / 2)
        self.setFocus(Qt.FocusReason.MouseFocusReason)
        self.raise_()
        self.grabbed.emit()
        self.update()

    def drag_to(self, x: float) -> None:
        """Go on with a drag to ``x`` of the parent."""
        if self._held:
            self.dragged.emit(x - self._hold)

    def let_go(self) -> None:
        """End the drag."""
        if self._held:
            self._held = False
            self.released.emit()
            self.update()

    def mousePressEvent(self, event: QMouseEvent) -> None:
        if event.button() == Qt.MouseButton.LeftButton:
            self.grab_at(self.mapToParent(event.position()).x())

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        self.drag_to(self.mapToParent(event.position()).x())

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        if event.button() == Qt.MouseButton.LeftButton:
            self.let_go()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        key = Qt.Key(event.key())
        if key in _STEPS:
            times = 5 if event.modifiers() & Qt.KeyboardModifier.ShiftModifier else 1
            target = self.value() + _STEPS[key] * times * self.singleStep()
        elif key == Qt.Key.Key_Home:
            target = self.minimum()
        elif key == Qt.Key.Key_End:
            target = self.maximum()
        else:
            event.ignore()
            return
        self.stepped.emit(max(self.minimum(), min(target, self.maximum())))

    def paintEvent(self, event: QPaintEvent) -> None:
        colours = theme.current()
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        x, head = WIDTH / 2, self.head
        if self.hasFocus():
            painter.setPen(QPen(QColor(colours.focus), 2))
            painter.drawRoundedRect(QRectF(self.rect()).adjusted(1, 1, -1, -1), 4, 4)
        names = {"budget": colours.text, "watermark": colours.watermark, "target": colours.target}
        colour = QColor(names[self.name])
        left, bottom = round(x - 1), self.height() - 3
        halo = QColor(colours.panel)
        halo.setAlphaF(0.75)
        painter.fillRect(QRectF(left - 1, head - 1, 4, bottom - head), halo)
        # Filled rectangles: an antialiased dashed line costs a fifth of a frame.
        dash, step = _DASHES[self.name]
        for y in range(round(head) - 1, bottom, step):
            painter.fillRect(QRectF(left, y, 2, min(dash, bottom - y)), colour)
        side = (0.37 if self.name != "target" else 0.3) * QFontMetricsF(theme.fonts().ui).height()
        side = min(side, x - 1)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(colour)
        top = head - side - 2
        painter.drawPolygon(
            QPolygonF([QPointF(x - side, top), QPointF(x + side, top), QPointF(x, head)])
        )
