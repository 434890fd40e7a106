"""Paints the budget bar: header, reserves, coloured runs, excess, break and ticks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QFont, QFontMetricsF, QPainter, QPen, QPolygonF

from stm_inspector.app import glyphs, theme
from stm_inspector.app.budget_scale import FIT_SHARE, SYNTHETIC, Run, Scale, reserves, short
from stm_inspector.buffer.plan import Plan, Zone
from stm_inspector.tokens.counts import Exactness

_EXCESS = QColor("#9f1d12")
"""Dark enough to be seen on every zone colour, in both themes."""


class HandleLabel(NamedTuple):
    """The label of the handle ``name``, in its place."""

    name: str
    text: str
    font: QFont
    rect: QRectF


class BarPainter:
    """One painting of the bar. ``end`` is where the header has to end."""

    def __init__(
        self,
        painter: QPainter,
        plan: Plan,
        scale: Scale,
        runs: Sequence[Run],
        bar: QRectF,
        end: float,
        ratio: float,
    ) -> None:
        self._painter, self._plan, self._scale, self._runs = painter, plan, scale, runs
        self._bar, self._width, self._end, self._ratio = bar, bar.width(), end, ratio
        self._colours, self._fonts = theme.current(), theme.fonts()
        self._em = QFontMetricsF(self._fonts.ui).height()

    def paint(self, labels: Sequence[HandleLabel]) -> None:
        """Paint everything but the handles."""
        painter, colours, bar = self._painter, self._colours, self._bar
        self._paint_header()
        painter.fillRect(bar, QColor(colours.raised))
        self._paint_reserves()
        self._paint_runs()
        self._paint_recorded()
        if self._plan.totals.over_budget:
            self._paint_excess()
        painter.setPen(QPen(QColor(colours.line_strong), 1))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawRect(bar.adjusted(0.5, 0.5, -0.5, -0.5))
        if self._scale.knee is not None:
            self._paint_break()
        self._paint_ticks()
        for label in labels:
            names = {"budget": colours.text, "watermark": colours.watermark}
            painter.setFont(label.font)
            painter.setPen(QColor(names.get(label.name, colours.text_soft)))
            painter.drawText(label.rect, _LEFT, label.text)

    def _paint_header(self) -> None:
        em, totals = self._em, self._plan.totals
        about = "≈ " if totals.exactness >= Exactness.CALIBRATED else ""
        right = self._end
        window = f"context window {self._plan.budget.window:,}"
        self._painter.setFont(self._fonts.small)
        width = QFontMetricsF(self._fonts.small).horizontalAdvance(window) + 1
        self._painter.setPen(QColor(self._colours.text_soft))
        self._painter.drawText(QRectF(right - width, 0, width, 1.7 * em), _LEFT, window)
        pieces = [
            (f"{about}{totals.after.tokens:,}", self._fonts.bold, self._colours.text),
            (
                f" of {self._plan.budget.input:,} tokens would be sent",
                self._fonts.ui,
                self._colours.text_soft,
            ),
        ]
        if totals.over_budget:
            pieces.append(
                (f"  {totals.over_budget:,} over budget", self._fonts.bold, self._colours.error)
            )
        pieces.append(
            (
                f" · {about}{totals.before.tokens:,} in the whole log",
                self._fonts.ui,
                self._colours.text_faint,
            )
        )
        x, end = 0.0, right - width - em
        for text, font, colour in pieces:
            metrics = QFontMetricsF(font)
            shown = metrics.elidedText(text, Qt.TextElideMode.ElideRight, max(0.0, end - x))
            self._painter.setFont(font)
            self._painter.setPen(QColor(colour))
            self._painter.drawText(QRectF(x, 0, end - x + 1, 1.7 * em), _LEFT, shown)
            x += metrics.horizontalAdvance(text)
            if x >= end:
                break

    def _paint_reserves(self) -> None:
        bar = self._bar
        tile = glyphs.hatch(QColor(self._colours.reserve), self._ratio, 9, 2.6)
        for number, (_, start, end) in enumerate(reserves(self._plan)):
            left, right = self._scale.x(start), self._scale.x(end)
            rect = QRectF(left, bar.top(), right - left, bar.height())
            self._painter.drawTiledPixmap(rect, tile, QPointF(left % 9, 0))
            if number and right - left > 4:
                self._painter.fillRect(
                    QRectF(round(left), bar.top(), 1, bar.height()),
                    QColor(self._colours.background),
                )

    def _paint_runs(self) -> None:
        bar, em = self._bar, self._em
        metrics = QFontMetricsF(self._fonts.small)
        allowed = self._scale.x(self._plan.budget.input)
        self._painter.setFont(self._fonts.small)
        for run in self._runs:
            rect = QRectF(run.left, bar.top(), run.right - run.left, bar.height())
            if run.zone == SYNTHETIC:
                self._paint_synthetic(rect)
                continue
            self._painter.fillRect(rect, self._colours.zone(run.zone))
            if run.left and rect.width() > 3:
                self._painter.fillRect(
                    QRectF(rect.left(), rect.top(), 1, rect.height()), QColor(self._colours.panel)
                )
            word = glyphs.ZONE_WORDS[Zone(run.zone)]
            clear = run.right <= allowed or not self._plan.totals.over_budget
            if clear and metrics.horizontalAdvance(word) + em < rect.width():
                light = run.zone == Zone.SYSTEM
                self._painter.setPen(QColor("#ffffff" if light else "#16191d"))
                self._painter.drawText(rect, Qt.AlignmentFlag.AlignCenter, word)

    def _paint_synthetic(self, rect: QRectF) -> None:
        self._painter.fillRect(rect, QColor(self._colours.background))
        tile = glyphs.hatch(QColor(self._colours.summarised), self._ratio, 6, 2.0)
        self._painter.drawTiledPixmap(rect, tile)

    def _paint_recorded(self) -> None:
        """A thin line under the bar, as long as the recording; an arrow where it goes on."""
        recorded = self._plan.totals.before.tokens
        if recorded <= self._plan.totals.after.tokens:
            return
        y, x = self._bar.bottom() + 3.5, self._scale.x(recorded)
        colour = QColor(self._colours.text_faint)
        self._painter.fillRect(QRectF(0, y - 0.5, x, 1), colour)
        self._painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        if recorded > self._scale.most:
            self._painter.setBrush(colour)
            self._painter.setPen(Qt.PenStyle.NoPen)
            tip = QPointF(x, y)
            self._painter.drawPolygon(
                QPolygonF([tip, tip + QPointF(-7, -3.5), tip + QPointF(-7, 3.5)])
            )
        else:
            self._painter.setPen(QPen(colour, 1))
            self._painter.drawLine(QPointF(round(x) - 0.5, y - 3), QPointF(round(x) - 0.5, y + 3))
        self._painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)

    def _paint_excess(self) -> None:
        """What stands above the budget, crossed out in the colour of errors."""
        bar = self._bar
        left, right = (
            self._scale.x(self._plan.budget.input),
            self._scale.x(self._plan.totals.after.tokens),
        )
        rect = QRectF(left, bar.top(), max(3.0, right - left), bar.height())
        tile = glyphs.hatch(_EXCESS, self._ratio, 7, 3.4)
        self._painter.drawTiledPixmap(rect, tile)
        self._painter.setPen(QPen(QColor(self._colours.error), 2))
        self._painter.setBrush(Qt.BrushStyle.NoBrush)
        self._painter.drawRect(rect.adjusted(1, 1, -1, -1))

    def _paint_break(self) -> None:
        """A zigzag through the bar, where the scale changes."""
        bar, x = self._bar, FIT_SHARE * self._width
        steps, half = 6, 3.5
        height = (bar.height() + 6) / steps
        points = [
            QPointF(x + (half if n % 2 else -half), bar.top() - 3 + n * height)
            for n in range(steps + 1)
        ]
        self._painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        self._painter.setPen(QPen(QColor(self._colours.panel), 6))
        self._painter.drawPolyline(QPolygonF(points))
        for shift in (-3, 3):
            self._painter.setPen(QPen(QColor(self._colours.text_faint), 1.2))
            self._painter.drawPolyline(QPolygonF([p + QPointF(shift, 0) for p in points]))
        self._painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)

    def _paint_ticks(self) -> None:
        em, bar = self._em, self._bar
        metrics = QFontMetricsF(self._fonts.small)
        self._painter.setFont(self._fonts.small)
        self._painter.setPen(QColor(self._colours.text_faint))
        top = bar.bottom() + 0.45 * em
        limit = float(self._width)
        reserve = self._reserve_words(metrics)
        if reserve:
            width = metrics.horizontalAdvance(reserve)
            limit = self._width - width
            self._painter.drawText(QRectF(limit, top, width + 1, 1.2 * em), _LEFT, reserve)
        for tick in self._scale.ticks:
            word, x = short(tick), self._scale.x(tick)
            width = metrics.horizontalAdvance(word) + 1
            if x + width / 2 > limit - em:
                break
            self._painter.drawText(QRectF(x - width / 2, top, width, 1.2 * em), _CENTRE, word)
        if self._scale.knee is not None and not reserve:
            word = short(self._scale.most)
            width = metrics.horizontalAdvance(word) + 1
            self._painter.drawText(QRectF(self._width - width, top, width, 1.2 * em), _LEFT, word)

    def _reserve_words(self, metrics: QFontMetricsF) -> str:
        """The names of the reserves, where they have room under the bar."""
        names = {"tool headroom": "tools", "safety headroom": "safety", "reply reserve": "reply"}
        words = " · ".join(names[name] for name, start, end in reserves(self._plan) if end > start)
        room = self._width - self._scale.x(self._plan.budget.window - self._plan.budget.reserved)
        fits = metrics.horizontalAdvance(words) <= 0.3 * self._width
        return words if fits and room > 2 * self._em else ""


_LEFT = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
_CENTRE = Qt.AlignmentFlag.AlignHCenter | Qt.AlignmentFlag.AlignVCenter
