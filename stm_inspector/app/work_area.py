"""The three panes below the budget bar: settings, buffer with minimap, detail."""

from __future__ import annotations

from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QHBoxLayout, QMenu, QSplitter, QVBoxLayout, QWidget

from stm_inspector.app.actions import Actions
from stm_inspector.app.budget_row import BudgetRow
from stm_inspector.app.buffer_view import BufferView
from stm_inspector.app.detail_panel import LOST, DetailPanel
from stm_inspector.app.filter_row import FilterRow
from stm_inspector.app.minimap import Minimap
from stm_inspector.app.session import Session
from stm_inspector.app.settings_panel import SettingsPanel
from stm_inspector.app.timeline import Timeline
from stm_inspector.app.widgets import rule

WIDTHS = (256, 774, 380)
HEIGHTS = (560, 138)
"""Of the panes and the timeline, in pixels, until the user chooses others."""


class WorkArea(QWidget):
    """Shows an open conversation. Views render the session; what they ask for goes back to it."""

    def __init__(self, session: Session, actions: Actions, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._session = session
        self._actions = actions
        self.budget = BudgetRow(session)
        self.settings = SettingsPanel(session)
        self.filter = FilterRow(session)
        self.buffer = BufferView()
        self.minimap = Minimap(self.buffer)
        self.detail = DetailPanel(session)
        self.splitter = QSplitter(Qt.Orientation.Horizontal)
        self.splitter.setChildrenCollapsible(False)
        self.splitter.setHandleWidth(1)
        for pane in (self.settings, self._centre(), self.detail):
            self.splitter.addWidget(pane)
        self.splitter.setStretchFactor(1, 5)
        self.splitter.setStretchFactor(2, 2)
        self.splitter.setSizes(WIDTHS)
        self.timeline = Timeline(session, actions)
        self.stack = QSplitter(Qt.Orientation.Vertical)
        self.stack.setHandleWidth(1)
        self.stack.addWidget(self.splitter)
        self.stack.addWidget(self.timeline)
        self.stack.setCollapsible(0, False)
        self.stack.setStretchFactor(0, 1)
        self.stack.setSizes(HEIGHTS)
        self.splitter.splitterMoved.connect(lambda *_place: self._align())
        self.settings.setMinimumWidth(240)
        self.settings.setMaximumWidth(360)
        self.detail.setMinimumWidth(300)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(self.budget)
        column.addWidget(rule())
        column.addWidget(self.stack, 1)
        self._connect()
        self._show_conversation()

    def _centre(self) -> QWidget:
        centre = QWidget()
        row = QHBoxLayout()
        row.setSpacing(0)
        row.addWidget(self.buffer, 1)
        row.addWidget(self.minimap)
        column = QVBoxLayout(centre)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(self.filter)
        column.addWidget(rule())
        column.addLayout(row, 1)
        centre.setMinimumWidth(360)
        return centre

    def _connect(self) -> None:
        session, buffer = self._session, self.buffer
        buffer.tooltip_for = self.tooltip
        buffer.selected.connect(session.select)
        buffer.synthetic_selected.connect(session.select_synthetic)
        buffer.activated.connect(lambda _index: self.detail.tabs.currentWidget().setFocus())
        buffer.pin_toggled.connect(session.toggle_pin)
        buffer.retrieved_toggled.connect(session.toggle_retrieved)
        buffer.context_menu.connect(self._menu)
        self.detail.jumped.connect(session.select)
        session.opened.connect(self._show_conversation)
        session.planned.connect(self._show_plan)
        session.selected.connect(lambda: buffer.set_selected(session.selection))
        session.found.connect(self._show_matches)
        session.filter_changed.connect(lambda: buffer.set_visible(session.visible))
        session.drag_changed.connect(buffer.set_dragging)

    def toggle_timeline(self) -> None:
        """Fold the timeline away, or bring it back."""
        panes, height = self.stack.sizes()
        wanted = 0 if height else HEIGHTS[1]
        self.stack.setSizes((panes + height - wanted, wanted))

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._align()

    def _align(self) -> None:
        self.timeline.set_side_width(self.settings.width())

    def _show_matches(self) -> None:
        self.buffer.set_matches(self._session.matches)
        self.minimap.set_matches(self._session.matches)

    def _show_conversation(self) -> None:
        self.buffer.set_conversation(self._session.conversation, self._session.counts)
        self.buffer.setFocus()

    def _show_plan(self) -> None:
        plan, counts = self._session.plan, self._session.counts
        if plan is not None and counts is not None:
            self.timeline.setVisible(self._session.has_timeline)
            self.buffer.set_plan(plan, counts)
            self.buffer.set_visible(self._session.visible)
            self.minimap.set_plan(plan, counts)

    def tooltip(self, index: int) -> str:
        """Why message ``index`` stays or goes, and which budget would have kept it."""
        plan = self._session.plan
        if plan is None or index >= plan.length:
            return ""
        lines = [self._session.reason(index)]
        if int(plan.decision.verdicts[index]) in LOST:
            tokens = self._session.survives_from(index)
            lines.append(
                "No budget keeps it."
                if tokens is None
                else f"Survives from a budget of {tokens:,}."
            )
        return "\n".join(lines)

    def _menu(self, index: int, place: QPoint) -> None:
        self._session.select(index)
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        for name in ("pin", "retrieved", "copy", "copy-json"):
            menu.addAction(self._actions[name])
        menu.popup(place)
