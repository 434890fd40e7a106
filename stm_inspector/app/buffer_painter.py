"""Paints the rows of the block list: columns that line up, one row a call."""

from __future__ import annotations

from dataclasses import dataclass, field

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QFontMetricsF, QPainter, QPen, QPixmap

from stm_inspector.app import glyphs
from stm_inspector.app.buffer_rows import RowKind, Rows
from stm_inspector.app.buffer_texts import (
    State,
    Texts,
    fold_words,
    inserted_title,
    mark,
    message_tokens,
    stand_in,
)
from stm_inspector.app.theme import Fonts, Theme
from stm_inspector.buffer.plan import Plan, Severity, Verdict, Zone
from stm_inspector.conversation.model import Conversation
from stm_inspector.tokens.counts import TokenCounts

_LARGEST_CACHE = 20_000
_MOST_PICTURES = 160
"""About four windows full; a picture is some 150 KB, four times that on a dense screen."""
_ROLE_OF_INSERTED = {"system": "S", "developer": "D", "user": "U", "assistant": "A", "tool": "T"}


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
    share: float
    share_width: float
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
    tokens_width = metrics.horizontalAdvance(widest_tokens)
    share_width = 3.2 * em if width > 42 * em else 0.0
    share = tokens_right - tokens_width - share_width - 0.5 * em
    return Columns(
        width=width,
        row=4 * round(1.95 * em / 4),
        zone=zone,
        index_right=index_right,
        badge=badge,
        title=title,
        title_right=share - 0.7 * em,
        share=share,
        share_width=share_width,
        tokens_right=tokens_right,
        verdict=verdict,
        word=word,
        pin=pin,
    )


@dataclass(frozen=True, slots=True)
class RowLook:
    """How a row stands out from the others at this moment."""

    selected: bool = False
    partner: bool = False
    matched: bool = False
    hovered: bool = False


@dataclass(slots=True)
class Scene:
    """What is painted: set by the view, read by the painter."""

    conversation: Conversation
    texts: Texts
    rows: Rows
    plan: Plan | None = None
    counts: TokenCounts | None = None
    largest: int = 1
    problems: dict[int, tuple[Severity, bool]] = field(default_factory=dict)


RowKey = tuple[int, int, RowLook, object, object]
"""What the picture of a row depends on, beside theme, fonts, width, numbers and titles."""


class RowPainter:
    """Draws rows with one theme, one set of fonts and one layout; dropped when any changes."""

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
        self._pictures: dict[RowKey, QPixmap] = {}
        self.ratio = ratio
        self.hatch: QPixmap = glyphs.hatch(QColor(theme.hatch), ratio, columns.row // 4)

    def colour(self, name: str) -> QColor:
        """A colour of the theme by name, made once."""
        found = self._colours.get(name)
        if found is None:
            found = self._colours[name] = QColor(getattr(self._theme, name))
        return found

    def key(self, scene: Scene, row: int, look: RowLook) -> RowKey:
        """Everything that the picture of a row depends on."""
        rows, plan = scene.rows, scene.plan
        kind, first = int(rows.kinds[row]), int(rows.first[row])
        if kind == RowKind.FOLD:
            words = fold_words(rows, row, plan) if plan is not None else None
            return kind, first, look, words, bool(rows.folded[row])
        if kind == RowKind.INSERTED:
            return kind, first, look, stand_in(rows, row, plan), int(rows.stand_in[row])
        if plan is None or first >= plan.length:
            return kind, first, look, plan is None, None
        state = (
            int(plan.decision.verdicts[first]),
            int(plan.zones[first]),
            int(plan.tokens_after[first]),
            bool(plan.pinned[first]),
        )
        return kind, first, look, state, scene.problems.get(first)

    def paint(self, painter: QPainter, scene: Scene, row: int, top: int, look: RowLook) -> None:
        """Draw one row with its upper edge at ``top``; from memory if it looks as before."""
        key = self.key(scene, row, look)
        picture = self._pictures.get(key)
        if picture is None:
            if len(self._pictures) >= _MOST_PICTURES:
                self._pictures.clear()
            picture = self._pictures[key] = self._draw(scene, row, look)
        painter.drawPixmap(0, top, picture)

    def _draw(self, scene: Scene, row: int, look: RowLook) -> QPixmap:
        width, height = self.columns.width, self.columns.row
        picture = QPixmap(round(width * self.ratio), round(height * self.ratio))
        picture.setDevicePixelRatio(self.ratio)
        painter = QPainter(picture)
        painter.fillRect(0, 0, width, height, self.colour("background"))
        self._row(painter, scene, row, look)
        painter.end()
        return picture

    def _row(self, painter: QPainter, scene: Scene, row: int, look: RowLook) -> None:
        top = 0
        kind = scene.rows.kinds[row]
        rect = QRectF(0, 0, self.columns.width, self.columns.row)
        self._background(painter, scene, row, rect, look)
        if kind == RowKind.FOLD:
            self._fold(painter, scene, row, top)
        elif kind == RowKind.INSERTED:
            self._inserted(painter, scene, row, top)
        else:
            self._message(painter, scene, int(scene.rows.first[row]), top, look)

    # Backgrounds

    def _background(
        self, painter: QPainter, scene: Scene, row: int, rect: QRectF, look: RowLook
    ) -> None:
        kind = scene.rows.kinds[row]
        if look.selected:
            painter.fillRect(rect, self.colour("selection"))
        elif look.matched:
            painter.fillRect(rect, self.colour("match"))
        elif look.partner:
            painter.fillRect(rect, self.colour("partner"))
        elif kind == RowKind.FOLD:
            painter.fillRect(rect, self.colour("panel"))
        elif look.hovered:
            painter.fillRect(rect, self.colour("hover"))
        if kind == RowKind.MESSAGE and scene.plan is not None:
            index = int(scene.rows.first[row])
            if index < scene.plan.length and scene.plan.decision.verdicts[index] == Verdict.EVICT:
                painter.drawTiledPixmap(rect, self.hatch)
        if kind == RowKind.FOLD:
            painter.setPen(QPen(self.colour("line_strong"), 1, Qt.PenStyle.DotLine))
            painter.drawLine(QPointF(0, rect.top() + 0.5), QPointF(rect.right(), rect.top() + 0.5))
            bottom = rect.bottom() - 0.5
            painter.drawLine(QPointF(0, bottom), QPointF(rect.right(), bottom))
        if look.matched:
            painter.fillRect(
                QRectF(rect.right() - 3, rect.top(), 3, rect.height()), self.colour("warning")
            )
        if look.selected:
            painter.fillRect(QRectF(0, rect.top(), 3, rect.height()), self.colour("accent"))

    # Kinds of rows

    def _message(
        self, painter: QPainter, scene: Scene, index: int, top: int, look: RowLook
    ) -> None:
        plan, columns = scene.plan, self.columns
        state = scene.texts.state(index, plan)
        title = scene.texts.title(index)
        zone = int(plan.zones[index]) if plan is not None and index < plan.length else None
        ink = self.colour("text" if state.sent and state.word != "not used" else "text_faint")
        quiet = self.colour("text_faint")
        if zone is not None:
            self._zone(painter, zone, top, sent=state.sent)
        self._right(painter, str(index), columns.index_right, top, quiet)
        self._badge(painter, scene.texts.letter(index), top, ink if state.sent else quiet)
        right = columns.title_right
        problem = scene.problems.get(index)
        if problem is not None:
            right -= 1.3 * self.em
            self._problem(painter, problem, right, top)
        bold = zone == Zone.CURRENT or state.word == "pinned"
        soft = state.changed
        end = self._title(
            painter,
            title.chips,
            title.text,
            top,
            right,
            self.colour("text_soft") if soft else ink,
            bold=bold,
        )
        tokens, sign = message_tokens(index, plan, scene.counts)
        left = self._tokens(painter, tokens, sign, top, ink)
        self._share(painter, scene, index, state, top)
        self._verdict(painter, state, top)
        if not state.sent and state.word == "evicted":
            self._strike(painter, columns, top, end, left, len(str(index)))
        if look.hovered and state.word != "pinned":
            self._pin_hint(painter, top)

    def _fold(self, painter: QPainter, scene: Scene, row: int, top: int) -> None:
        if scene.plan is None:
            return
        words = fold_words(scene.rows, row, scene.plan)
        columns = self.columns
        self._dotted_zone(painter, top)
        self._right(painter, words.span, columns.index_right, top, self.colour("text_faint"))
        sign = "folded" if scene.rows.folded[row] else "unfolded"
        side = 0.62 * self.em
        box = QRectF(columns.badge, top, 1.25 * self.em, columns.row)
        glyphs.draw_sign(
            painter,
            sign,
            QRectF(box.center().x() - side / 2, box.center().y() - side / 2, side, side),
            self.colour("text_soft"),
        )
        end = self._title(
            painter, (), words.title, top, columns.title_right, self.colour("text"), bold=True
        )
        if words.note and end + 4 * self.em < columns.title_right:
            x = end + 0.7 * self.em
            note, _ = self._elide(words.note, columns.title_right - x, bold=False)
            painter.setFont(self._fonts.ui)
            painter.setPen(self.colour("text_soft"))
            painter.drawText(QPointF(x, top + self._baseline), note)
        self._tokens(painter, words.tokens, words.mark, top, self.colour("text"))
        self._verdict(painter, words.state, top)

    def _inserted(self, painter: QPainter, scene: Scene, row: int, top: int) -> None:
        entry = stand_in(scene.rows, row, scene.plan)
        columns = self.columns
        gone = entry is None
        if entry is None:
            entry = scene.rows.inserted[int(scene.rows.stand_in[row])]
        ink = self.colour("text_faint" if gone else "text")
        self._dotted_zone(painter, top)
        self._right(painter, "+", columns.index_right, top, self.colour("text_soft"))
        letter = _ROLE_OF_INSERTED.get(entry.role, "?")
        self._badge(painter, letter, top, ink, dashed=True)
        end = self._title(
            painter, (entry.kind,), inserted_title(entry), top, columns.title_right, ink, bold=False
        )
        sign = mark(entry.exactness)
        left = self._tokens(painter, f"{entry.tokens:,}", sign, top, ink)
        self._verdict(painter, State("synthetic", sent=not gone), top)
        if gone:
            self._strike(painter, columns, top, end, left, 1)

    # Cells

    def _zone(self, painter: QPainter, zone: int, top: int, *, sent: bool) -> None:
        fill, edge = self._theme.zone(zone), self._theme.zone_edge(zone)
        if not sent:
            fill.setAlphaF(0.18)
            edge.setAlphaF(0.75)
        width = round(0.36 * self.em)
        rect = QRectF(self.columns.zone, top + 2, width, self.columns.row - 4)
        glyphs.draw_zone(painter, zone, rect, fill, edge)

    def _dotted_zone(self, painter: QPainter, top: int) -> None:
        width = round(0.36 * self.em)
        colour = self.colour("text_faint")
        step = 4
        for y in range(top + 4, top + self.columns.row - 4, step):
            painter.fillRect(QRectF(self.columns.zone, y, width, 2), colour)

    def _badge(
        self, painter: QPainter, letter: str, top: int, ink: QColor, *, dashed: bool = False
    ) -> None:
        side = round(1.25 * self.em)
        y = top + (self.columns.row - side) // 2
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
        baseline = top + (self.columns.row + self._small.capHeight()) / 2
        painter.drawText(QPointF(rect.center().x() - width / 2 + 0.4, round(baseline)), letter)

    def _title(
        self,
        painter: QPainter,
        chips: tuple[str, ...],
        text: str,
        top: int,
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
            x = self._chip(painter, chip, x, top, right, ink)
        if x >= right - self.em:
            return x
        shown, width = self._elide(text, right - x, bold=bold)
        painter.setFont(self._fonts.bold if bold else self._fonts.ui)
        painter.setPen(ink)
        painter.drawText(QPointF(x, top + self._baseline), shown)
        return x + width

    def _chip(
        self, painter: QPainter, chip: str, x: float, top: int, right: float, ink: QColor
    ) -> float:
        pad = 0.4 * self.em
        room = min(right - x, 0.45 * (right - self.columns.title)) - 2 * pad
        text = self._mono.elidedText(chip, Qt.TextElideMode.ElideMiddle, room)
        width = self._width(self._mono, text) + 2 * pad
        height = round(1.35 * self.em)
        rect = QRectF(round(x), top + (self.columns.row - height) // 2, round(width), height)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(self.colour("raised"))
        painter.drawRoundedRect(rect, 4, 4)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)
        painter.setFont(self._fonts.mono_small)
        painter.setPen(ink)
        painter.drawText(QPointF(round(x) + pad, top + self._baseline), text)
        return x + width + 0.5 * self.em

    def _tokens(self, painter: QPainter, text: str, sign: str, top: int, ink: QColor) -> float:
        """The number, right-aligned, with its mark behind it; returns where it begins."""
        left = self._right(painter, text, self.columns.tokens_right, top, ink)
        if sign:
            painter.setPen(self.colour("text_faint"))
            x = self.columns.tokens_right + 0.22 * self.em
            painter.drawText(QPointF(x, top + self._baseline), sign)
        return left

    def _right(self, painter: QPainter, text: str, right: float, top: int, ink: QColor) -> float:
        x = right - self._width(self._ui, text)
        painter.setFont(self._fonts.ui)
        painter.setPen(ink)
        painter.drawText(QPointF(x, top + self._baseline), text)
        return x

    def _share(self, painter: QPainter, scene: Scene, index: int, state: State, top: int) -> None:
        """How much of the largest message this one is; hollow for what is not sent of it."""
        width = self.columns.share_width
        if not width or scene.counts is None:
            return
        tokens = int(scene.counts.messages[index])
        height = max(3, round(0.26 * self.em))
        y = top + (self.columns.row - height) // 2
        length = width * tokens / scene.largest
        if length < 1.5:
            return
        rect = QRectF(self.columns.share + width - length, y, length, height)
        colour = self.colour("line_strong")
        sent = tokens if state.sent else 0
        if scene.plan is not None and index < scene.plan.length and state.word != "not used":
            sent = int(scene.plan.tokens_after[index])
        solid = length * min(1.0, sent / tokens)
        if solid < length - 0.5:
            painter.setPen(colour)
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawRect(rect.adjusted(0.5, 0.5, -0.5, -0.5))
        if solid > 0:
            painter.fillRect(QRectF(rect.right() - solid, y, solid, height), colour)

    def _verdict(self, painter: QPainter, state: State, top: int) -> None:
        if not state.word:
            return
        colour = self._state_colour(state.word)
        side = 0.62 * self.em
        y = top + (self.columns.row - side) / 2
        rect = QRectF(self.columns.verdict, y, side, side)
        glyphs.draw_sign(painter, state.word, rect, colour)
        if self.columns.word:
            bold = state.word == "pinned"
            painter.setFont(self._fonts.bold if bold else self._fonts.ui)
            painter.setPen(colour)
            x = self.columns.verdict + side + 0.4 * self.em
            painter.drawText(QPointF(x, top + self._baseline), state.word)

    def _state_colour(self, word: str) -> QColor:
        names = {"kept": "text_soft", "synthetic": "summarised", "not used": "text_soft"}
        return self.colour("text_soft" if word == "later" else names.get(word, word))

    def _problem(
        self, painter: QPainter, problem: tuple[Severity, bool], x: float, top: int
    ) -> None:
        severity, recorded = problem
        side = 0.85 * self.em
        rect = QRectF(x + 0.4 * self.em, top + (self.columns.row - side) / 2, side, side)
        colour = self.colour("error" if severity is Severity.ERROR else "warning")
        glyphs.draw_warning(painter, rect, colour, filled=not recorded)

    def _pin_hint(self, painter: QPainter, top: int) -> None:
        side = 0.62 * self.em
        rect = QRectF(
            self.columns.pin + 0.3 * self.em, top + (self.columns.row - side) / 2, side, side
        )
        glyphs.draw_outline(painter, "pinned", rect, self.colour("text_soft"))

    def _strike(
        self, painter: QPainter, columns: Columns, top: int, end: float, left: float, digits: int
    ) -> None:
        """A line through index, title and number."""
        y = top + round(self._baseline - self._ui.xHeight() / 2) + 0.5
        painter.setPen(QPen(self.colour("text_faint"), 1))
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
