"""The cells of a row of the block list: columns that line up, and what stands in them."""

from __future__ import annotations

from dataclasses import dataclass

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QFontMetricsF, QPainter, QPen, QPixmap

from stm_inspector.app import glyphs
from stm_inspector.app.theme import Fonts, Theme
from stm_inspector.buffer.plan import Severity

_LARGEST_CACHE = 20_000


@dataclass(frozen=True, slots=True)
class Columns:
    """Left edges and widths in device-independent pixels; all follow the font's size."""

    width: int
    row: int
    zone: float
    index_right: float
    badge: float
    title: float
    title_right: float
    tokens_left: float
    tokens_right: float
    verdict: float
    word: bool
    pin: float


def make_columns(fonts: Fonts, width: int, length: int, widest_tokens: str) -> Columns:
    """Lay out the columns for a list ``width`` wide of ``length`` messages."""
    metrics = QFontMetricsF(fonts.ui)
    em = metrics.height()
    digits = len(str(max(length - 1, 0)))
    span = "0" * min(2 * digits, digits + 5)
    index_width = metrics.horizontalAdvance(f"{span}–")
    zone = 2.25 * em
    index_right = zone + 0.55 * em + index_width
    badge = index_right + 0.55 * em
    title = badge + 1.7 * em
    words = max(metrics.horizontalAdvance(word) for word in ("summarised", "synthetic"))
    word = width > 30 * em
    pin = width - 1.55 * em
    verdict = (pin - words - 1.5 * em) if word else pin - 1.4 * em
    tokens_right = verdict - 1.45 * em
    tokens_left = tokens_right - metrics.horizontalAdvance(widest_tokens) - 0.5 * em
    return Columns(
        width=width,
        row=4 * round(1.95 * em / 4),
        zone=zone,
        index_right=index_right,
        badge=badge,
        title=title,
        title_right=tokens_left - 0.7 * em,
        tokens_left=tokens_left,
        tokens_right=tokens_right,
        verdict=verdict,
        word=word,
        pin=pin,
    )


class Cells:
    """Draws single cells with one theme, one set of fonts and one layout."""

    def __init__(self, theme: Theme, fonts: Fonts, columns: Columns, ratio: float) -> None:
        self._theme, self._fonts, self.columns = theme, fonts, columns
        self._ui = QFontMetricsF(fonts.ui)
        self._bold = QFontMetricsF(fonts.bold)
        self._small = QFontMetricsF(fonts.caps)
        self._mono = QFontMetricsF(fonts.mono_small)
        self.em = self._ui.height()
        self._baseline = round((columns.row + self._ui.ascent() - self._ui.descent()) / 2)
        self._elided: dict[tuple[str, int, bool], tuple[str, float]] = {}
        self._widths: dict[str, float] = {}
        self._colours: dict[str, QColor] = {}
        self.ratio = ratio
        self.hatch: QPixmap = glyphs.hatch(QColor(theme.hatch), ratio, columns.row // 4)

    def colour(self, name: str) -> QColor:
        """A colour of the theme by name, made once."""
        found = self._colours.get(name)
        if found is None:
            found = self._colours[name] = QColor(getattr(self._theme, name))
        return found

    def _zone(self, painter: QPainter, zone: int, *, sent: bool) -> None:
        fill, edge = self._theme.zone(zone), self._theme.zone_edge(zone)
        if not sent:
            fill.setAlphaF(0.18)
            edge.setAlphaF(0.75)
        width = round(0.36 * self.em)
        rect = QRectF(self.columns.zone, 2, width, self.columns.row - 4)
        glyphs.draw_zone(painter, zone, rect, fill, edge)

    def _dotted_zone(self, painter: QPainter) -> None:
        width = round(0.36 * self.em)
        colour = self.colour("text_faint")
        step = 4
        for y in range(4, self.columns.row - 4, step):
            painter.fillRect(QRectF(self.columns.zone, y, width, 2), colour)

    def _badge(self, painter: QPainter, letter: str, ink: QColor, *, dashed: bool = False) -> None:
        side = round(1.25 * self.em)
        y = (self.columns.row - side) // 2
        rect = QRectF(round(self.columns.badge), y, side, side)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        if dashed:
            painter.setPen(QPen(self.colour("summarised"), 1, Qt.PenStyle.DashLine))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawRoundedRect(rect.adjusted(0.5, 0.5, -0.5, -0.5), 4, 4)
        else:
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(self.colour("raised"))
            painter.drawRoundedRect(rect, 4, 4)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)
        painter.setFont(self._fonts.caps)
        painter.setPen(ink)
        width = self._width(self._small, letter)
        baseline = (self.columns.row + self._small.capHeight()) / 2
        painter.drawText(QPointF(rect.center().x() - width / 2 + 0.4, round(baseline)), letter)

    def _title(
        self,
        painter: QPainter,
        chips: tuple[str, ...],
        text: str,
        right: float,
        ink: QColor,
        *,
        bold: bool,
    ) -> float:
        """Chips, then text as far as it fits; returns where it ends."""
        x = self.columns.title
        for number, chip in enumerate(chips):
            if number == 3 or x + 5 * self.em > right:
                break
            x = self._chip(painter, chip, x, right, ink)
        if x >= right - self.em:
            return x
        shown, width = self._elide(text, right - x, bold=bold)
        painter.setFont(self._fonts.bold if bold else self._fonts.ui)
        painter.setPen(ink)
        painter.drawText(QPointF(x, self._baseline), shown)
        return x + width

    def _chip(self, painter: QPainter, chip: str, x: float, right: float, ink: QColor) -> float:
        pad = 0.4 * self.em
        room = min(right - x, 0.45 * (right - self.columns.title)) - 2 * pad
        text = self._mono.elidedText(chip, Qt.TextElideMode.ElideMiddle, room)
        width = self._width(self._mono, text) + 2 * pad
        height = round(1.35 * self.em)
        rect = QRectF(round(x), (self.columns.row - height) // 2, round(width), height)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(self.colour("raised"))
        painter.drawRoundedRect(rect, 4, 4)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)
        painter.setFont(self._fonts.mono_small)
        painter.setPen(ink)
        painter.drawText(QPointF(round(x) + pad, self._baseline), text)
        return x + width + 0.5 * self.em

    def _tokens(self, painter: QPainter, text: str, sign: str, ink: QColor) -> float:
        """The number, right-aligned, with its mark behind it; returns where it begins."""
        left = self._right(painter, text, self.columns.tokens_right, ink)
        if sign:
            painter.setPen(self.colour("text_faint"))
            x = self.columns.tokens_right + 0.22 * self.em
            painter.drawText(QPointF(x, self._baseline), sign)
        return left

    def _right(self, painter: QPainter, text: str, right: float, ink: QColor) -> float:
        x = right - self._width(self._ui, text)
        painter.setFont(self._fonts.ui)
        painter.setPen(ink)
        painter.drawText(QPointF(x, self._baseline), text)
        return x

    def _share(self, painter: QPainter, share: float, sent: float) -> None:
        """A line of length ``share`` (0 to 1) under the number; pale for what is not ``sent``
        (0 to 1) of it."""
        columns = self.columns
        right = round(columns.tokens_right)
        length = round((right - columns.tokens_left) * share)
        if length < 3:
            return
        height = max(2, round(0.16 * self.em))
        y = round((columns.row + self.em) / 2) + 1
        solid = round(length * min(1.0, sent))
        painter.fillRect(QRectF(right - length, y, length, height), self.colour("share_lost"))
        painter.fillRect(QRectF(right - solid, y, solid, height), self.colour("share"))

    def _verdict(self, painter: QPainter, word: str) -> None:
        if not word:
            return
        colour = self._state_colour(word)
        side = 0.62 * self.em
        y = (self.columns.row - side) / 2
        rect = QRectF(self.columns.verdict, y, side, side)
        glyphs.draw_sign(painter, word, rect, colour)
        if self.columns.word:
            bold = word == "pinned"
            painter.setFont(self._fonts.bold if bold else self._fonts.ui)
            painter.setPen(colour)
            x = self.columns.verdict + side + 0.4 * self.em
            painter.drawText(QPointF(x, self._baseline), word)

    def _state_colour(self, word: str) -> QColor:
        names = {"kept": "text_soft", "synthetic": "summarised", "not used": "text_soft"}
        return self.colour("text_soft" if word == "later" else names.get(word, word))

    def _problem(self, painter: QPainter, problem: tuple[Severity, bool], x: float) -> None:
        severity, recorded = problem
        side = 0.85 * self.em
        rect = QRectF(x + 0.4 * self.em, (self.columns.row - side) / 2, side, side)
        colour = self.colour("error" if severity is Severity.ERROR else "warning")
        glyphs.draw_warning(painter, rect, colour, filled=not recorded)

    def _pin_hint(self, painter: QPainter) -> None:
        side = 0.62 * self.em
        rect = QRectF(self.columns.pin + 0.3 * self.em, (self.columns.row - side) / 2, side, side)
        glyphs.draw_outline(painter, "pinned", rect, self.colour("text_soft"))

    def _strike(
        self, painter: QPainter, columns: Columns, end: float, left: float, digits: int
    ) -> None:
        """A line through index, title and number."""
        y = round(self._baseline - self._ui.xHeight() / 2) + 0.5
        colour = QColor(self.colour("text_faint"))
        colour.setAlphaF(0.75)
        painter.setPen(QPen(colour, 1))
        width = digits * self._width(self._ui, "0")
        right = columns.index_right
        painter.drawLine(QPointF(right - width, y), QPointF(right, y))
        painter.drawLine(QPointF(columns.title, y), QPointF(end, y))
        painter.drawLine(QPointF(left, y), QPointF(columns.tokens_right, y))

    # Text that was measured before

    def _elide(self, text: str, width: float, *, bold: bool) -> tuple[str, float]:
        key = (text, int(width), bold)
        found = self._elided.get(key)
        if found is None:
            if len(self._elided) > _LARGEST_CACHE:
                self._elided.clear()
            metrics = self._bold if bold else self._ui
            shown = metrics.elidedText(text, Qt.TextElideMode.ElideRight, width)
            found = self._elided[key] = (shown, metrics.horizontalAdvance(shown))
        return found

    def _width(self, metrics: QFontMetricsF, text: str) -> float:
        if metrics is not self._ui:
            return metrics.horizontalAdvance(text)
        found = self._widths.get(text)
        if found is None:
            if len(self._widths) > _LARGEST_CACHE:
                self._widths.clear()
            found = self._widths[text] = metrics.horizontalAdvance(text)
        return found
