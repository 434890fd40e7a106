"""The buffer: one block a message, in order, with what becomes of it and why it hangs together."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from PySide6.QtCore import QEvent, QPoint, QPointF, Qt, Signal
from PySide6.QtGui import QContextMenuEvent, QFocusEvent, QHelpEvent, QKeyEvent, QMouseEvent
from PySide6.QtWidgets import QToolTip, QWidget

from stm_inspector.app import accessible
from stm_inspector.app.buffer_list import BufferList
from stm_inspector.app.buffer_rows import NONE, RowKind
from stm_inspector.app.buffer_texts import describe
from stm_inspector.app.tooltips import plain


class BufferView(BufferList):
    """The list of blocks. It holds no state but what is looked at: scroll, cursor, open folds.

    Keys: arrows, Home, End, Page Up and Page Down move; Enter activates, or opens a fold, as do
    Right and Left; Space or P pins; R marks as retrieved; [ and ] go through the lock group;
    Menu or Shift+F10 opens the menu.

    Signals:
        selected(int): the user moved to a message.
        synthetic_selected(int): the user moved to a synthetic message, by its place in the plan.
        activated(int): Enter or a double click on a message.
        pin_toggled(int), retrieved_toggled(int): the user wants the other state.
        context_menu(int, QPoint): a menu is wanted for a message, at a global position.
        hovered(int): the message under the pointer, -1 for none.
    """

    selected = Signal(int)
    synthetic_selected = Signal(int)
    activated = Signal(int)
    pin_toggled = Signal(int)
    retrieved_toggled = Signal(int)
    context_menu = Signal(int, QPoint)
    hovered = Signal(int)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        accessible.install()
        self.tooltip_for: Callable[[int], str] = lambda index: ""
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setAccessibleName("Buffer")
        self.setAccessibleDescription(
            "One row a message. Space pins, R marks as retrieved, brackets go through the messages "
            "locked together."
        )

    # Moving about
    def focusInEvent(self, event: QFocusEvent) -> None:
        if self._cursor == NONE and len(self._rows) and event.reason() in _BY_KEY:
            self._go(self._rows_in_sight().start)
        self.viewport().update()
        super().focusInEvent(event)

    def focusOutEvent(self, event: QFocusEvent) -> None:
        self.viewport().update()
        super().focusOutEvent(event)

    def _go(self, row: int) -> None:
        """Put the cursor on ``row`` and say so."""
        row = max(0, min(row, len(self._rows) - 1))
        if not len(self._rows):
            return
        self._cursor = row
        self._see_row(row)
        self.viewport().update()
        accessible.announce_focus(self, row)
        if self._rows.kinds[row] == RowKind.INSERTED:
            self._selected = None
            self.synthetic_selected.emit(int(self._rows.stand_in[row]))
        elif self._selected != int(self._rows.first[row]):
            self._selected = int(self._rows.first[row])
            self.selected.emit(self._selected)

    def _cursor_message(self) -> int | None:
        """The message that the cursor is on."""
        if self._cursor == NONE or self._rows.kinds[self._cursor] != RowKind.MESSAGE:
            return None
        return int(self._rows.first[self._cursor])

    def _step_in_group(self, step: int) -> None:
        index = self._cursor_message()
        members = sorted(self._partners())
        if index is None or index not in members:
            return
        target = members[(members.index(index) + step) % len(members)]
        self.ensure_visible(target)
        row = self._row_of(target)
        if row != NONE:
            self._go(row)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if not len(self._rows) or not self._handle_key(event):
            super().keyPressEvent(event)

    def _handle_key(self, event: QKeyEvent) -> bool:
        key, keys = Qt.Key(event.key()), Qt.Key
        if event.modifiers() & _COMMANDS:
            return False
        page = max(1, self.viewport().height() // self._row_height() - 1)
        moves = {
            keys.Key_Up: self._cursor - 1 if self._cursor != NONE else 0,
            keys.Key_Down: self._cursor + 1,
            keys.Key_PageUp: self._cursor - page,
            keys.Key_PageDown: self._cursor + page,
            keys.Key_Home: 0,
            keys.Key_End: len(self._rows) - 1,
        }
        if key in moves:
            self._go(moves[key])
            return True
        if self._cursor == NONE:
            return False
        if self._rows.kinds[self._cursor] == RowKind.FOLD and key in _FOLD_KEYS:
            self._fold_by_key(key)
            return True
        if key == keys.Key_Left and self._fold_of_cursor() != NONE:
            self._go(self._fold_of_cursor())
            return True
        return self._act_on_message(key, event)

    def _fold_by_key(self, key: Qt.Key) -> None:
        folded = bool(self._rows.folded[self._cursor])
        if key == Qt.Key.Key_Left:
            wanted = True
        elif key == Qt.Key.Key_Right:
            wanted = False
        else:
            wanted = not folded
        if wanted != folded:
            self._set_folded(self._cursor, folded=wanted)

    def _fold_of_cursor(self) -> int:
        """The open fold that the cursor's message belongs to."""
        first = int(self._rows.first[self._cursor])
        folds = np.flatnonzero(
            (self._rows.kinds == RowKind.FOLD)
            & (self._rows.first <= first)
            & (self._rows.last >= first)
        )
        return int(folds[0]) if len(folds) else NONE

    def _act_on_message(self, key: Qt.Key, event: QKeyEvent) -> bool:
        keys = Qt.Key
        index = self._cursor_message()
        if index is None:
            return False
        if key in (keys.Key_Return, keys.Key_Enter):
            self.activated.emit(index)
        elif key in (keys.Key_Space, keys.Key_P):
            self.pin_toggled.emit(index)
        elif key == keys.Key_R:
            self.retrieved_toggled.emit(index)
        elif event.text() in ("[", "]"):
            self._step_in_group(1 if event.text() == "]" else -1)
        else:
            return False
        return True

    # Pointer

    def row_at(self, y: float) -> int:
        """The row at height ``y`` of the viewport, -1 for none."""
        row = int((y - self._offset()) // self._row_height())
        return row if 0 <= row < len(self._rows) else NONE

    def mousePressEvent(self, event: QMouseEvent) -> None:
        row = self.row_at(event.position().y())
        if row == NONE:
            return
        left = event.button() == Qt.MouseButton.LeftButton
        if left and self._rows.kinds[row] == RowKind.FOLD and self._on_triangle(event.position()):
            self._toggle_fold(row)
            return
        self._go(row)
        if left and self._rows.kinds[row] == RowKind.MESSAGE and self._on_pin(event.position()):
            self.pin_toggled.emit(int(self._rows.first[row]))

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        event.accept()

    def _on_triangle(self, place: QPointF) -> bool:
        columns = self.row_painter().columns
        return columns.index_right < place.x() < columns.title

    def _on_pin(self, place: QPointF) -> bool:
        return place.x() >= self.row_painter().columns.pin

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        row = self.row_at(event.position().y())
        if row == NONE or event.button() != Qt.MouseButton.LeftButton:
            return
        if self._on_pin(event.position()):
            self.mousePressEvent(event)
        elif self._rows.kinds[row] == RowKind.FOLD:
            self._toggle_fold(row)
        elif self._rows.kinds[row] == RowKind.MESSAGE:
            self.activated.emit(int(self._rows.first[row]))

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        self._hover(self.row_at(event.position().y()))

    def _hover(self, row: int) -> None:
        if row == self._hovered_row:
            return
        for changed in (self._hovered_row, row):
            if changed != NONE:
                self.viewport().update(self.row_rect(changed))
        self._hovered_row = row
        message = row != NONE and self._rows.kinds[row] == RowKind.MESSAGE
        self.hovered.emit(int(self._rows.first[row]) if message else NONE)

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        by_mouse = event.reason() == QContextMenuEvent.Reason.Mouse
        row = self.row_at(event.pos().y()) if by_mouse else self._cursor
        if row == NONE or self._rows.kinds[row] != RowKind.MESSAGE:
            return
        place = event.globalPos()
        if not by_mouse:
            rect = self.row_rect(row)
            indent = int(self.row_painter().columns.title)
            place = self.viewport().mapToGlobal(QPoint(indent, rect.bottom()))
        self.context_menu.emit(int(self._rows.first[row]), place)

    def viewportEvent(self, event: QEvent) -> bool:
        if event.type() == QEvent.Type.Leave:
            self._hover(NONE)
        if isinstance(event, QHelpEvent) and event.type() == QEvent.Type.ToolTip:
            self._show_tooltip(event)
            return True
        return super().viewportEvent(event)

    def _words_of(self, index: int) -> str:
        """What the signs of a row mean, and what the window has to say of it."""
        scene = self._scene
        if scene is None:
            return ""
        return f"{describe(index, scene.texts, scene.plan)}\n{self.tooltip_for(index)}".strip()

    def _show_tooltip(self, event: QHelpEvent) -> None:
        row = self.row_at(event.pos().y())
        text = ""
        if row != NONE:
            if self._rows.kinds[row] == RowKind.MESSAGE:
                text = self._words_of(int(self._rows.first[row]))
            else:
                text = self.spoken_row(row)
        QToolTip.showText(event.globalPos(), plain(text), self.viewport(), self.row_rect(row))


_BY_KEY = (Qt.FocusReason.TabFocusReason, Qt.FocusReason.BacktabFocusReason)
_COMMANDS = (
    Qt.KeyboardModifier.ControlModifier
    | Qt.KeyboardModifier.AltModifier
    | Qt.KeyboardModifier.MetaModifier
)
_FOLD_KEYS = (
    Qt.Key.Key_Return,
    Qt.Key.Key_Enter,
    Qt.Key.Key_Left,
    Qt.Key.Key_Right,
    Qt.Key.Key_Space,
)
