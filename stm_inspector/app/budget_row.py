"""The budget bar with number boxes for its handles beside it."""

from __future__ import annotations

from PySide6.QtCore import QSignalBlocker, Qt
from PySide6.QtWidgets import QGridLayout, QHBoxLayout, QWidget

from stm_inspector.app.budget_bar import BudgetBar
from stm_inspector.app.fields import count_box, percent_box
from stm_inspector.app.session import Session
from stm_inspector.app.widgets import label
from stm_inspector.buffer.policies import get_policy

BOX_WIDTH = 104


class BudgetRow(QWidget):
    """Shows the budget of the session's plan; drags and typed numbers go to the session."""

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._session = session
        self.setProperty("panel", True)
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.bar = BudgetBar()
        self.bar.budget_moved.connect(session.set_budget)
        self.bar.watermark_moved.connect(session.set_watermark)
        self.bar.target_moved.connect(session.set_target)
        self.bar.drag_started.connect(lambda _name: session.begin_drag())
        self.bar.drag_finished.connect(lambda _name: session.end_drag())
        self.budget = count_box("Input budget (tokens)", "tokens")
        self.budget.setToolTip("The most tokens of input that a call may have")
        self.budget.valueChanged.connect(session.set_budget)
        self.watermark = percent_box("Watermark (per cent of the budget)")
        self.watermark.setToolTip("Where the policy begins to act, as a share of the budget")
        self.watermark.valueChanged.connect(lambda value: session.set_watermark(value / 100))
        self.target = percent_box("Target (per cent of the budget)")
        self.target.setToolTip("What the policy brings the buffer down to")
        self.target.valueChanged.connect(lambda value: session.set_target(value / 100))
        boxes = QGridLayout()
        boxes.setContentsMargins(0, 0, 0, 0)
        boxes.setVerticalSpacing(4)
        self._names = {}
        for row, (title, box) in enumerate(
            (("Budget", self.budget), ("Watermark", self.watermark), ("Target", self.target))
        ):
            name = label(title, "soft")
            name.setBuddy(box)
            box.setFixedWidth(BOX_WIDTH)
            box.setProperty("compact", True)
            boxes.addWidget(name, row, 0)
            boxes.addWidget(box, row, 1)
            self._names[box] = name
        boxes.setRowStretch(3, 1)
        row_layout = QHBoxLayout(self)
        row_layout.setContentsMargins(14, 4, 14, 6)
        row_layout.setSpacing(16)
        row_layout.addWidget(self.bar, 1)
        row_layout.addLayout(boxes)
        session.choices_changed.connect(self._refresh)
        session.planned.connect(self._show_plan)
        self._refresh()

    def _refresh(self) -> None:
        policy = get_policy(self._session.settings.policy)
        shown = ((self.watermark, policy.uses_watermark), (self.target, policy.uses_target))
        for box, used in shown:
            box.setVisible(used)
            self._names[box].setVisible(used)
        with QSignalBlocker(self.budget):
            self.budget.setValue(self._session.settings.budget.input)

    def _show_plan(self) -> None:
        plan, counts = self._session.plan, self._session.counts
        if plan is None or counts is None:
            return
        self.bar.set_plan(plan, counts)
        most = max(1, plan.budget.input)
        for box, tokens in ((self.watermark, plan.watermark), (self.target, plan.target)):
            with QSignalBlocker(box):
                box.setValue(100 * tokens / most if tokens is not None else box.maximum())
