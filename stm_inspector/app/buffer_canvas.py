"""The surface of the block list: which rows are in sight, where they are, and painting them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QEvent, QRect, QRectF, Qt, Signal
from PySide6.QtGui import QColor, QPainter, QPaintEvent, QPen, QResizeEvent
from PySide6.QtWidgets import QAbstractScrollArea, QWidget

from stm_inspector.app import theme
from stm_inspector.app.brackets import Brackets, draw_bracket, is_split, rows_of_group
from stm_inspector.app.buffer_painter import RowKey, RowLook, RowPainter, Scene
from stm_inspector.app.buffer_rows import NONE, RowKind, Rows, build_rows
from stm_inspector.app.buffer_texts import spoken
from stm_inspector.app.row_cells import make_columns

NO_ROWS = build_rows(0, None)
_MESSAGE = int(RowKind.MESSAGE)
_MOST_REMEMBERED = 2_000


class BufferCanvas(QAbstractScrollArea):
    """Rows of even height, of which those in sight are painted, and of these those that changed.

    Signals:
        viewport_changed(int, int): the first and last message in sight.
    """

    viewport_changed = Signal(int, int)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._scene: Scene | None = None
        self._brackets: Brackets | None = None
        self._painter: RowPainter | None = None
        self._rows: Rows = NO_ROWS
        self._listed: NDArray[np.int64] | None = None
        self._matches: frozenset[int] = frozenset()
        self._unfolded: frozenset[int] = frozenset()
        self._selected: int | None = None
        self._cursor = NONE
        self._hovered_row = NONE
        self._painted: dict[int, RowKey] = {}
        self.setFrameShape(QAbstractScrollArea.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.viewport().setMouseTracking(True)
        self.viewport().setAttribute(Qt.WidgetAttribute.WA_OpaquePaintEvent)
        self.verticalScrollBar().valueChanged.connect(self._tell_viewport)

    # Rows

    @property
    def rows(self) -> Rows:
        """The rows as they stand."""
        return self._rows

    @property
    def current_row(self) -> int:
        """The row that the keyboard is at, -1 for none."""
        return self._cursor

    def spoken_row(self, row: int) -> str:
        """A row in words."""
        if self._scene is None:
            return ""
        scene = self._scene
        return spoken(self._rows, row, scene.texts, scene.plan, scene.counts)

    def row_rect(self, row: int) -> QRect:
        """Where a row is, in viewport coordinates."""
        height = self._row_height()
        top = row * height + self._offset()
        return QRect(0, top, self.viewport().width(), height)

    def _row_of(self, index: int) -> int:
        return int(self._rows.row_of[index]) if 0 <= index < len(self._rows.row_of) else NONE

    def _row_height(self) -> int:
        return self.row_painter().columns.row

    def _offset(self) -> int:
        """The y of the first row."""
        return self._margin() - self.verticalScrollBar().value()

    def _margin(self) -> int:
        return self._row_height() // 6

    def _rows_in_sight(self) -> range:
        height = self._row_height()
        first = max(0, -self._offset() // height)
        last = (self.viewport().height() - self._offset()) // height + 1
        return range(first, min(last, len(self._rows)))

    def _rebuild(self) -> None:
        """Make the rows anew; the message that the eye is on stays where it is."""
        if self._scene is None:
            return
        anchor = self._anchor()
        cursor = self._key(self._cursor)
        length = len(self._scene.conversation.messages)
        rows = build_rows(length, self._scene.plan, self._listed, self._unfolded)
        if rows.same_as(self._rows):
            return
        self._rows = self._scene.rows = rows
        self._painted.clear()
        self._cursor = self._find(cursor)
        self._hovered_row = NONE
        self._fit()
        if anchor is not None:
            message, distance = anchor
            row = self._row_of(message)
            if row == NONE and len(self._rows):
                row = min(int(np.searchsorted(self._rows.first, message)), len(self._rows) - 1)
            self.verticalScrollBar().setValue(row * self._row_height() + self._margin() - distance)
        self.viewport().update()

    def _anchor(self) -> tuple[int, int] | None:
        """A message in sight and its distance from the top: the selected one, else the first."""
        sight = self._rows_in_sight()
        if not sight or self.verticalScrollBar().value() == 0:
            return None
        row = sight.start
        if self._selected is not None and self._row_of(self._selected) in sight:
            return self._selected, self.row_rect(self._row_of(self._selected)).top()
        return int(self._rows.first[row]), self.row_rect(row).top()

    def _key(self, row: int) -> tuple[int, int] | None:
        if not 0 <= row < len(self._rows):
            return None
        return int(self._rows.kinds[row]), int(self._rows.first[row])

    def _find(self, key: tuple[int, int] | None) -> int:
        """The row that shows what the row with ``key`` showed."""
        if key is None:
            return NONE
        kind, first = key
        if kind != RowKind.MESSAGE:
            same = np.flatnonzero((self._rows.kinds == kind) & (self._rows.first == first))
            if len(same):
                return int(same[0])
        return self._row_of(first)

    # Geometry

    def row_painter(self) -> RowPainter:
        """What draws the rows, with its columns; of this size, theme and numbers."""
        if self._painter is None:
            scene = self._scene
            length = len(scene.conversation.messages) if scene else 0
            digits = len(str(scene.largest)) if scene else 1
            widest = f"{10**digits - 1:,} → {10 ** (digits - 1):,}"
            fonts = theme.fonts()
            columns = make_columns(fonts, self.viewport().width(), length, widest)
            self._painter = RowPainter(theme.current(), fonts, columns, self.devicePixelRatioF())
        return self._painter

    def _fit(self) -> None:
        """Give the scroll bar its range."""
        height = self._row_height()
        content = len(self._rows) * height + 2 * self._margin()
        bar = self.verticalScrollBar()
        bar.setPageStep(self.viewport().height())
        bar.setSingleStep(height)
        bar.setRange(0, max(0, content - self.viewport().height()))
        self._tell_viewport()

    def _see_row(self, row: int) -> None:
        rect, bar = self.row_rect(row), self.verticalScrollBar()
        if rect.top() < 0:
            bar.setValue(bar.value() + rect.top() - self._margin())
        elif rect.bottom() > self.viewport().height():
            bar.setValue(bar.value() + rect.bottom() - self.viewport().height() + self._margin())

    def _tell_viewport(self) -> None:
        sight = self._rows_in_sight()
        if sight:
            first, last = self._rows.first[sight.start], self._rows.last[sight.stop - 1]
            self.viewport_changed.emit(int(first), int(last))

    def resizeEvent(self, event: QResizeEvent) -> None:
        self._painter = None
        self._fit()
        super().resizeEvent(event)

    def changeEvent(self, event: QEvent) -> None:
        kinds = QEvent.Type
        if event.type() in (kinds.PaletteChange, kinds.StyleChange, kinds.FontChange):
            self._painter = None
            self._fit()
            self.viewport().update()
        super().changeEvent(event)

    # Painting

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self.viewport())
        rows = self.row_painter()
        if rows.ratio != self.devicePixelRatioF():
            self._painter = None
            rows = self.row_painter()
        painter.fillRect(event.rect(), rows.colour("background"))
        if self._scene is None:
            return
        partners = self._partners()
        height, offset = self._row_height(), self._offset()
        clip = event.rect()
        if len(self._painted) > _MOST_REMEMBERED:
            self._painted.clear()
        for row in self._rows_in_sight():
            top = row * height + offset
            if top > clip.bottom() or top + height < clip.top():
                continue
            look = self._look(row, partners)
            self._painted[row] = rows.paint(painter, self._scene, row, top, look)
        self._paint_brackets(painter, rows, partners)
        if self.hasFocus() and self._cursor != NONE:
            self._paint_focus(painter, rows)

    def _update_changed(self) -> None:
        """Repaint the rows in sight that look different from when they were painted last."""
        scene, painter = self._scene, self._painter
        if scene is None or painter is None:
            return
        partners = self._partners()
        for row in self._rows_in_sight():
            if painter.key(scene, row, self._look(row, partners)) != self._painted.get(row):
                self.viewport().update(self.row_rect(row))
                if self._rows.kinds[row] == _MESSAGE:
                    self._update_bracket(int(self._rows.first[row]), painter)

    def _update_bracket(self, index: int, painter: RowPainter) -> None:
        """Repaint the whole bracket of a message: it may have been split, or joined again."""
        if self._scene is None:
            return
        structure = self._scene.conversation.structure
        group = int(structure.group_of[index])
        if group < 0:
            return
        places = rows_of_group(structure.groups[group], self._rows)
        first, last = self.row_rect(places[0]), self.row_rect(places[-1])
        strip = first.united(last)
        strip.setWidth(int(painter.columns.zone))
        self.viewport().update(strip)

    def _look(self, row: int, partners: frozenset[int]) -> RowLook:
        first = int(self._rows.first[row])
        listed = bool(partners or self._matches) and self._rows.kinds[row] == _MESSAGE
        return RowLook(
            selected=row == self._cursor,
            partner=listed and first in partners,
            matched=listed and first in self._matches,
            hovered=row == self._hovered_row,
        )

    def _partners(self) -> frozenset[int]:
        """The lock group of the selected message."""
        if self._scene is None or self._selected is None:
            return frozenset()
        structure = self._scene.conversation.structure
        group = int(structure.group_of[self._selected])
        return frozenset(structure.groups[group]) if group >= 0 else frozenset()

    def _paint_brackets(
        self, painter: QPainter, rows: RowPainter, partners: frozenset[int]
    ) -> None:
        sight = self._rows_in_sight()
        if self._brackets is None or self._scene is None or not sight:
            return
        first = int(self._rows.first[sight.start])
        last = int(self._rows.last[sight.stop - 1])
        em, height = rows.em, self._row_height()
        right = rows.columns.zone - 0.35 * em
        for group in self._brackets.crossing(first, last):
            members = self._brackets.groups[group]
            places = rows_of_group(members, self._rows)
            if len(places) > 1:
                broken = is_split(members, self._scene.plan)
                colour = "accent" if members[0] in partners else "text_faint"
                draw_bracket(
                    painter,
                    places,
                    int(self._brackets.lane[group]),
                    rows.colour("error" if broken else colour),
                    right,
                    em,
                    height,
                    self._offset(),
                    broken=broken,
                )

    def _paint_focus(self, painter: QPainter, rows: RowPainter) -> None:
        painter.setPen(QPen(QColor(rows.colour("focus")), 2))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawRect(QRectF(self.row_rect(self._cursor)).adjusted(1, 1, -1, -1))
