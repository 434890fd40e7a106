"""The chart of a replay: tokens at each call, and the call that is shown."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import (
    QColor,
    QFontMetricsF,
    QHelpEvent,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPen,
    QPixmap,
    QPolygonF,
    QWheelEvent,
)
from PySide6.QtWidgets import QAbstractSlider, QSizePolicy, QToolTip, QWidget

from stm_inspector.app import theme
from stm_inspector.app.tooltips import plain
from stm_inspector.buffer.plan import Plan
from stm_inspector.buffer.replay import Replay

MARGIN_X, MARGIN_TOP = 14, 16
ROW = 9
"""Height of a row of marks below the chart, in pixels."""
HEADROOM = 1.12
"""Of the chart above its highest line, so that the labels have a place."""
FARTHEST = 2.5
"""A budget more than that many times what was ever said is named at the edge, not drawn."""

_STEPS = {
    Qt.Key.Key_Left: -1,
    Qt.Key.Key_Down: -1,
    Qt.Key.Key_Right: 1,
    Qt.Key.Key_Up: 1,
    Qt.Key.Key_PageDown: -10,
    Qt.Key.Key_PageUp: 10,
}

Floats = NDArray[np.float64]


class TimelineStrip(QAbstractSlider):
    """The calls from left to right. A slider to assistive technology.

    The area is what is sent, the thin line what the whole log would be; ticks below mark the
    calls at which the policy acts and, a row further down, those that miss the budget. Click or
    drag to a call; the arrows step by one, Page Up and Page Down by ten, Home and End go to the
    ends.

    Signals:
        call_wanted(int): the user wants to see that call.
    """

    call_wanted = Signal(int)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._replay: Replay | None = None
        self._plan: Plan | None = None
        self._picture: QPixmap | None = None
        self.setAccessibleName("Call")
        self.setAccessibleDescription("The call of the recording that the window shows.")
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self.setMouseTracking(True)

    def sizeHint(self) -> QSize:
        return QSize(600, 120)

    def set_replay(self, replay: Replay | None) -> None:
        """Draw ``replay``; None while there is none yet."""
        self._replay = replay
        self._picture = None
        self.update()

    def set_plan(self, plan: Plan) -> None:
        """Show the call of ``plan``, with the budget and watermark that it has."""
        before = self._plan
        if before is None or (before.budget, before.watermark) != (plan.budget, plan.watermark):
            self._picture = None
        self._plan = plan
        self.setRange(0, plan.calls - 1)
        self.setValue(plan.call)
        self.update()

    # Places

    def _chart(self) -> QRectF:
        bottom = self.height() - 2 * ROW - 6
        width = max(1.0, self.width() - 2.0 * MARGIN_X)
        return QRectF(MARGIN_X, MARGIN_TOP, width, max(1.0, bottom - MARGIN_TOP))

    def x_of(self, call: int) -> float:
        """Where a call stands, in pixels."""
        chart, last = self._chart(), max(1, self.maximum())
        return chart.left() + chart.width() * call / last

    def call_at(self, x: float) -> int:
        """The call that stands nearest to ``x``."""
        chart = self._chart()
        share = (x - chart.left()) / chart.width()
        return round(min(max(share, 0.0), 1.0) * self.maximum())

    def _highest(self, replay: Replay, plan: Plan) -> float:
        """Tokens at the upper edge of the chart."""
        said = max(int(replay.before.max()), int(replay.after.max()), 1)
        budget = plan.budget.input
        top = max(int(replay.after.max()), budget if budget <= FARTHEST * said else said)
        return HEADROOM * max(top, 1)

    # Events

    def changeEvent(self, event: QEvent) -> None:
        if event.type() in (QEvent.Type.PaletteChange, QEvent.Type.StyleChange):
            self._picture = None
            self.update()
        super().changeEvent(event)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        if event.button() == Qt.MouseButton.LeftButton:
            self.call_wanted.emit(self.call_at(event.position().x()))

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        if event.buttons() & Qt.MouseButton.LeftButton:
            self.call_wanted.emit(self.call_at(event.position().x()))

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        event.accept()

    def wheelEvent(self, event: QWheelEvent) -> None:
        steps = event.angleDelta().y() or event.angleDelta().x()
        if steps:
            self._want(self.value() + (-1 if steps > 0 else 1))
        event.accept()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        key = Qt.Key(event.key())
        ends = {Qt.Key.Key_Home: 0, Qt.Key.Key_End: self.maximum()}
        if event.modifiers() & ~Qt.KeyboardModifier.KeypadModifier:
            event.ignore()
        elif key in _STEPS:
            self._want(self.value() + _STEPS[key])
        elif key in ends:
            self._want(ends[key])
        else:
            event.ignore()

    def _want(self, call: int) -> None:
        self.call_wanted.emit(min(max(call, 0), self.maximum()))

    def event(self, event: QEvent) -> bool:
        if isinstance(event, QHelpEvent) and event.type() == QEvent.Type.ToolTip:
            text = self.tip(self.call_at(event.pos().x()))
            QToolTip.showText(event.globalPos(), plain(text), self)
            return True
        return super().event(event)

    def tip(self, call: int) -> str:
        """The numbers of a call."""
        replay = self._replay
        if replay is None or call >= len(replay):
            return ""
        lines = [
            f"Call {call + 1:,} of {len(replay):,}, after {int(replay.lengths[call]):,} messages",
            f"{int(replay.before[call]):,} → {int(replay.after[call]):,} tokens "
            f"({replay.exactness.word})",
        ]
        if call:
            lines.append(f"{int(replay.same_tokens[call]):,} the same as at the call before")
        if replay.why[call]:
            lines.append(f"▾ {replay.why[call]}")
        if replay.over_budget[call]:
            lines.append(f"✗ {int(replay.over_budget[call]):,} over the budget")
        return "\n".join(lines)

    # Painting

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        replay, plan = self._replay, self._plan
        if replay is None or plan is None or len(replay) != plan.calls:
            painter.end()
            return
        ratio = self.devicePixelRatioF()
        size = self.size() * ratio
        if self._picture is None or self._picture.size() != size:
            self._picture = QPixmap(size)
            self._picture.setDevicePixelRatio(ratio)
            self._picture.fill(QColor(theme.current().background))
            inner = QPainter(self._picture)
            inner.setRenderHint(QPainter.RenderHint.Antialiasing)
            self._paint_chart(inner, replay, plan)
            inner.end()
        painter.drawPixmap(0, 0, self._picture)
        self._paint_head(painter, replay, plan)
        painter.end()

    def _paint_chart(self, painter: QPainter, replay: Replay, plan: Plan) -> None:
        colours, chart = theme.current(), self._chart()
        scale = chart.height() / self._highest(replay, plan)
        painter.save()
        painter.setClipRect(chart.adjusted(-1, -MARGIN_TOP + 2, 1, 1))
        places, after = self._columns(replay.after)
        line = [
            QPointF(x, y)
            for x, y in zip(places, (chart.bottom() - scale * after).tolist(), strict=True)
        ]
        fill = QColor(colours.accent)
        fill.setAlphaF(0.28 if colours.dark else 0.18)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(fill)
        ends = [QPointF(places[-1], chart.bottom()), QPointF(places[0], chart.bottom())]
        painter.drawPolygon(QPolygonF([*line, *ends]))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.setPen(QPen(QColor(colours.text_faint), 1, Qt.PenStyle.DashLine))
        places, before = self._columns(replay.before)
        ys = (chart.bottom() - scale * before).tolist()
        painter.drawPolyline(QPolygonF([QPointF(x, y) for x, y in zip(places, ys, strict=True)]))
        painter.setPen(QPen(QColor(colours.accent), 1.6))
        painter.drawPolyline(QPolygonF(line))
        painter.restore()
        painter.setPen(QPen(QColor(colours.line_strong), 1))
        painter.drawLine(QPointF(chart.left(), chart.bottom()), chart.bottomRight())
        self._paint_lines(painter, chart, scale, plan)
        self._paint_marks(painter, replay.fired, chart.bottom() + 3, colours.watermark)
        self._paint_marks(painter, replay.over_budget > 0, chart.bottom() + 4 + ROW, colours.error)

    def _columns(self, values: NDArray[np.int64]) -> tuple[list[float], Floats]:
        """Places and values of a line; of the calls that share a column of pixels the highest."""
        chart = self._chart()
        count = len(values)
        xs = chart.left() + chart.width() * np.arange(count) / max(1, count - 1)
        if count <= chart.width():
            return xs.tolist(), values.astype(np.float64)
        starts = np.flatnonzero(np.diff(xs.astype(np.int64), prepend=-1))
        return xs[starts].tolist(), np.maximum.reduceat(values, starts).astype(np.float64)

    def _paint_lines(self, painter: QPainter, chart: QRectF, scale: float, plan: Plan) -> None:
        """Budget and watermark, each with its number at the right end."""
        colours = theme.current()
        painter.setFont(theme.fonts().small)
        budget, mark = plan.budget.input, plan.watermark
        entries = [(f"budget {budget:,}", budget, colours.text_soft, Qt.PenStyle.SolidLine)]
        if mark is not None and mark != budget:
            entries.append((f"watermark {mark:,}", mark, colours.watermark, Qt.PenStyle.DashLine))
        taken = 1e9
        for text, tokens, colour, style in entries:
            y = chart.bottom() - scale * tokens
            if y < chart.top() - MARGIN_TOP / 2:
                text, y = f"{text} ↑", chart.top() - 2
            else:
                painter.setPen(QPen(QColor(colour), 1.3, style))
                painter.drawLine(QPointF(chart.left(), y), QPointF(chart.right(), y))
            painter.setPen(QColor(colour))
            height = QFontMetricsF(painter.font()).height()
            top = y - height
            if abs(top - taken) < height:  # one above its line, the other below
                top = y + 1
            taken = top
            painter.drawText(
                QRectF(chart.left(), top, chart.width(), height),
                Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter,
                text,
            )

    def _paint_marks(
        self, painter: QPainter, where: NDArray[np.bool_], top: float, colour: str
    ) -> None:
        """A tick below each call that is marked; ticks grow together where calls are dense."""
        chart, last = self._chart(), max(1, len(where) - 1)
        xs = chart.left() + chart.width() * np.flatnonzero(where) / last
        for x in np.unique(np.round(xs * 2) / 2).tolist():
            painter.fillRect(QRectF(x - 0.75, top, 1.5, ROW - 4), QColor(colour))

    def _paint_head(self, painter: QPainter, replay: Replay, plan: Plan) -> None:
        colours, chart = theme.current(), self._chart()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        x = self.x_of(plan.call)
        scale = chart.height() / self._highest(replay, plan)
        painter.setPen(QPen(QColor(colours.accent), 2))
        painter.drawLine(QPointF(x, 7), QPointF(x, chart.bottom()))
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(QColor(colours.accent))
        painter.drawEllipse(QPointF(x, 6), 4.5, 4.5)
        painter.setPen(QPen(QColor(colours.background), 1.5))
        y = chart.bottom() - scale * plan.totals.after.tokens
        painter.drawEllipse(QPointF(x, max(y, chart.top())), 4, 4)
        if self.hasFocus():
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.setPen(QPen(QColor(colours.focus), 2))
            painter.drawRoundedRect(QRectF(self.rect()).adjusted(1, 1, -1, -1), 4, 4)
