"""The block list for assistive technology: a list whose items are its rows, in words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import shiboken6
from PySide6.QtCore import QObject, QPoint, QRect
from PySide6.QtGui import QAccessible, QAccessibleEvent, QAccessibleInterface
from PySide6.QtWidgets import QWidget

if TYPE_CHECKING:
    from stm_inspector.app.buffer_view import BufferView

_ROLE = QAccessible.Role
_installed: list[Any] = []


class RowAccessible(QAccessibleInterface):
    """One row."""

    def __init__(self, parent: BufferAccessible, row: int) -> None:
        super().__init__()
        self._parent, self._row = parent, row

    def isValid(self) -> bool:
        return self._row < self._parent.childCount()

    def object(self) -> QObject:
        return cast(QObject, None)

    def parent(self) -> QAccessibleInterface:
        return self._parent

    def child(self, index: int) -> QAccessibleInterface:
        return cast(QAccessibleInterface, None)

    def childCount(self) -> int:
        return 0

    def childAt(self, x: int, y: int) -> QAccessibleInterface:
        return cast(QAccessibleInterface, None)

    def indexOfChild(self, child: QAccessibleInterface) -> int:
        return -1

    def rect(self) -> QRect:
        view = self._parent.view
        rect = view.row_rect(self._row)
        return QRect(view.viewport().mapToGlobal(rect.topLeft()), rect.size())

    def role(self) -> QAccessible.Role:
        return _ROLE.ListItem

    def state(self) -> QAccessible.State:
        state = QAccessible.State()
        here = self._row == self._parent.view.current_row
        for name, value in {
            "selectable": True,
            "focusable": True,
            "selected": here,
            "focused": here and self._parent.view.hasFocus(),
        }.items():
            setattr(state, name, int(value))
        return state

    def text(self, kind: QAccessible.Text) -> str:
        if kind == QAccessible.Text.Name and self.isValid():
            return self._parent.view.spoken_row(self._row)
        return ""

    def setText(self, kind: QAccessible.Text, text: str) -> None:
        """Rows cannot be renamed."""


class BufferAccessible(QAccessibleInterface):
    """The list."""

    def __init__(self, view: BufferView) -> None:
        super().__init__()
        self.view = view
        self._children: dict[int, RowAccessible] = {}

    def isValid(self) -> bool:
        return shiboken6.isValid(self.view)

    def object(self) -> QObject:
        return self.view

    def parent(self) -> QAccessibleInterface:
        return QAccessible.queryAccessibleInterface(self.view.parent() or self.view.window())

    def child(self, index: int) -> QAccessibleInterface:
        if not 0 <= index < self.childCount():
            return cast(QAccessibleInterface, None)
        if index not in self._children:
            self._children[index] = RowAccessible(self, index)
        return self._children[index]

    def childCount(self) -> int:
        return len(self.view.rows)

    def childAt(self, x: int, y: int) -> QAccessibleInterface:
        place = self.view.viewport().mapFromGlobal(QPoint(x, y))
        return self.child(self.view.row_at(place.y()))

    def indexOfChild(self, child: QAccessibleInterface) -> int:
        return child._row if isinstance(child, RowAccessible) else -1

    def rect(self) -> QRect:
        return QRect(self.view.mapToGlobal(QPoint(0, 0)), self.view.size())

    def role(self) -> QAccessible.Role:
        return _ROLE.List

    def state(self) -> QAccessible.State:
        state = QAccessible.State()
        state.focusable = 1
        state.focused = int(self.view.hasFocus())
        return state

    def text(self, kind: QAccessible.Text) -> str:
        if kind == QAccessible.Text.Name:
            return self.view.accessibleName()
        if kind == QAccessible.Text.Description:
            return self.view.accessibleDescription()
        return ""

    def setText(self, kind: QAccessible.Text, text: str) -> None:
        """The list cannot be renamed from outside."""


def _factory(name: str, target: QObject) -> QAccessibleInterface | None:
    if name != "BufferView":
        return None
    interface = BufferAccessible(cast("BufferView", target))
    _alive.append(interface)
    return interface


_alive: list[BufferAccessible] = []


def install() -> None:
    """Teach Qt the block list; once is enough."""
    if not _installed:
        QAccessible.installFactory(_factory)
        _installed.append(_factory)


def announce_focus(view: QWidget, row: int) -> None:
    """Tell assistive technology that the cursor went to ``row``."""
    if QAccessible.isActive():
        event = QAccessibleEvent(view, QAccessible.Event.Focus)
        event.setChild(row)
        QAccessible.updateAccessibility(event)
