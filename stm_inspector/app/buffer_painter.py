"""Paints the rows of the block list: columns that line up, one row a call."""

from __future__ import annotations

from dataclasses import dataclass, field

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QPainter, QPen, QPixmap

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
from stm_inspector.app.row_cells import Cells, Columns
from stm_inspector.app.theme import Fonts, Theme
from stm_inspector.buffer.plan import Plan, Severity, Verdict, Zone
from stm_inspector.conversation.model import Conversation
from stm_inspector.tokens.counts import TokenCounts

_MOST_PICTURES = 160
"""About four windows full; a picture is some 150 KB, four times that on a dense screen."""
_ROLE_OF_INSERTED = {"system": "S", "developer": "D", "user": "U", "assistant": "A", "tool": "T"}


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


class RowPainter(Cells):
    """Draws rows; made anew when the theme, the fonts, the width or the numbers change."""

    def __init__(self, theme: Theme, fonts: Fonts, columns: Columns, ratio: float) -> None:
        super().__init__(theme, fonts, columns, ratio)
        self._pictures: dict[RowKey, QPixmap] = {}

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

    def paint(self, painter: QPainter, scene: Scene, row: int, top: int, look: RowLook) -> RowKey:
        """Draw one row with its upper edge at ``top``; from memory if it looks as before."""
        key = self.key(scene, row, look)
        picture = self._pictures.get(key)
        if picture is None:
            if len(self._pictures) >= _MOST_PICTURES:
                self._pictures.clear()
            picture = self._pictures[key] = self._draw(scene, row, look)
        painter.drawPixmap(0, top, picture)
        return key

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
        kind = scene.rows.kinds[row]
        rect = QRectF(0, 0, self.columns.width, self.columns.row)
        self._background(painter, scene, row, rect, look)
        if kind == RowKind.FOLD:
            self._fold(painter, scene, row)
        elif kind == RowKind.INSERTED:
            self._inserted(painter, scene, row)
        else:
            self._message(painter, scene, int(scene.rows.first[row]), look)

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

    def _message(self, painter: QPainter, scene: Scene, index: int, look: RowLook) -> None:
        plan, columns = scene.plan, self.columns
        state = scene.texts.state(index, plan)
        title = scene.texts.title(index)
        zone = int(plan.zones[index]) if plan is not None and index < plan.length else None
        ink = self.colour("text" if state.sent and state.word != "not used" else "text_faint")
        quiet = self.colour("text_faint")
        if zone is not None:
            self._zone(painter, zone, sent=state.sent)
        self._right(painter, str(index), columns.index_right, quiet)
        self._badge(painter, scene.texts.letter(index), ink if state.sent else quiet)
        right = columns.title_right
        problem = scene.problems.get(index)
        if problem is not None:
            right -= 1.3 * self.em
            self._problem(painter, problem, right)
        opens = zone == Zone.CURRENT and scene.conversation.messages[index].by_person
        bold = opens or state.word == "pinned"
        soft = state.changed
        end = self._title(
            painter,
            title.chips,
            title.text,
            right,
            self.colour("text_soft") if soft else ink,
            bold=bold,
        )
        tokens, sign = message_tokens(index, plan, scene.counts)
        self._share(painter, *self._shares(scene, index, state))
        left = self._tokens(painter, tokens, sign, ink)
        self._verdict(painter, state.word)
        if not state.sent and state.word == "evicted":
            self._strike(painter, columns, end, left, len(str(index)))
        if look.hovered and state.word != "pinned":
            self._pin_hint(painter)

    def _shares(self, scene: Scene, index: int, state: State) -> tuple[float, float]:
        """The message's size against the largest one, and how much of it is sent."""
        if scene.counts is None:
            return 0.0, 0.0
        tokens = int(scene.counts.messages[index])
        plan = scene.plan
        known = plan is not None and index < plan.length and state.word != "not used"
        sent = int(plan.tokens_after[index]) if plan is not None and known else tokens
        return tokens / scene.largest, sent / max(1, tokens)

    def _fold(self, painter: QPainter, scene: Scene, row: int) -> None:
        if scene.plan is None:
            return
        words = fold_words(scene.rows, row, scene.plan)
        columns = self.columns
        self._dotted_zone(painter)
        self._right(painter, words.span, columns.index_right, self.colour("text_faint"))
        sign = "folded" if scene.rows.folded[row] else "unfolded"
        side = 0.62 * self.em
        box = QRectF(columns.badge, 0, 1.25 * self.em, columns.row)
        glyphs.draw_sign(
            painter,
            sign,
            QRectF(box.center().x() - side / 2, box.center().y() - side / 2, side, side),
            self.colour("text_soft"),
        )
        end = self._title(
            painter, (), words.title, columns.title_right, self.colour("text"), bold=True
        )
        if words.note and end + 4 * self.em < columns.title_right:
            x = end + 0.7 * self.em
            note, _ = self._elide(words.note, columns.title_right - x, bold=False)
            painter.setFont(self._fonts.ui)
            painter.setPen(self.colour("text_soft"))
            painter.drawText(QPointF(x, self._baseline), note)
        self._tokens(painter, words.tokens, words.mark, self.colour("text"))
        self._verdict(painter, words.state.word)

    def _inserted(self, painter: QPainter, scene: Scene, row: int) -> None:
        entry = stand_in(scene.rows, row, scene.plan)
        columns = self.columns
        gone = entry is None
        if entry is None:
            entry = scene.rows.inserted[int(scene.rows.stand_in[row])]
        ink = self.colour("text_faint" if gone else "text")
        self._dotted_zone(painter)
        self._right(painter, "+", columns.index_right, self.colour("text_soft"))
        letter = _ROLE_OF_INSERTED.get(entry.role, "?")
        self._badge(painter, letter, ink, dashed=True)
        end = self._title(
            painter, (entry.kind,), inserted_title(entry), columns.title_right, ink, bold=False
        )
        sign = mark(entry.exactness)
        left = self._tokens(painter, f"{entry.tokens:,}", sign, ink)
        self._verdict(painter, "synthetic")
        if gone:
            self._strike(painter, columns, end, left, 1)
