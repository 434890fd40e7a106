"""The left side: the policy's help, its settings, the headroom, and what is always kept."""

from __future__ import annotations

from itertools import pairwise

from PySide6.QtCore import QSignalBlocker, Qt
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import (
    QGridLayout,
    QPushButton,
    QScrollArea,
    QSpinBox,
    QVBoxLayout,
    QWidget,
)

from stm_inspector.app.fields import Field, ZonesField, count_box, make_field
from stm_inspector.app.session import Session
from stm_inspector.app.widgets import clear, label, link
from stm_inspector.buffer.policies import get_policy
from stm_inspector.buffer.settings import Setting, describe

RESERVES = (
    ("reply", "Reply", "Tokens set aside for the model's answer."),
    ("safety", "Safety", "Tokens set aside because counts are not always exact."),
    ("tool_headroom", "Tool results", "Tokens set aside for tool results still to come."),
)
FIELD_WIDTH = 106


_ALWAYS = ("locks", "sticky")
"""Settings that say what is always kept, beside the zones."""
_LIMITS = ("max_tokens", "min_freed")
"""Settings that many policies have and few people need: they stand last."""


class SettingsPanel(QScrollArea):
    """Shows the choices of the session and hands edits back to it. Built from descriptions."""

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._session = session
        self._policy: str | None = None
        self.fields: dict[str, Field] = {}
        self.setWidgetResizable(True)
        self.setFrameShape(QScrollArea.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setAccessibleName("Settings")
        self.setProperty("panel", True)
        self._body = QWidget()
        self._body.setProperty("panel", True)
        self._column = QVBoxLayout(self._body)
        self._column.setContentsMargins(14, 14, 14, 14)
        self._column.setSpacing(8)
        self.setWidget(self._body)
        self._build()
        session.choices_changed.connect(self._refresh)
        session.planned.connect(self._show_pins)
        self._refresh()

    def _build(self) -> None:
        self._help = label(level="soft", wrap=True)
        self._more = link("When it is right, when wrong", "Show the rest of the help")
        self._more.setCheckable(True)
        self._more.toggled.connect(lambda _on: self._show_help())
        self._basis = label(level="faint", wrap=True)
        self._options = QGridLayout()
        self._always = QVBoxLayout()
        self._always.setSpacing(6)
        self._pins = label(level="soft")
        reset = self.reset = QPushButton("Reset to defaults")
        reset.setToolTip("Put every setting of this policy, the headroom and the marks back")
        reset.setAccessibleName("Reset settings to defaults")
        reset.clicked.connect(self._session.reset)
        self._column.addWidget(label("POLICY", "caps"))
        self._column.addWidget(self._help)
        self._column.addWidget(self._more, 0, Qt.AlignmentFlag.AlignLeft)
        self._column.addWidget(self._basis)
        self._column.addLayout(self._options)
        self._column.addSpacing(10)
        self._column.addWidget(label("HEADROOM", "caps"))
        self._column.addLayout(self._reserves())
        self._column.addSpacing(10)
        self._column.addWidget(label("ALWAYS KEEP", "caps"))
        self._column.addLayout(self._always)
        self._column.addWidget(self._pins)
        self._column.addStretch()
        self._column.addWidget(reset)

    def _reserves(self) -> QGridLayout:
        grid = _grid()
        self._boxes: dict[str, QSpinBox] = {}
        for row, (name, title, tip) in enumerate(RESERVES):
            box = count_box(f"{title} (tokens)", "tokens")
            box.setToolTip(tip)
            box.valueChanged.connect(
                lambda tokens, name=name: self._session.set_reserve(name, tokens)
            )
            _add_row(grid, row, title, tip, box)
            self._boxes[name] = box
        self._tail = count_box("Tail (turns)", "turns", high=10_000)
        tip = "How many turns before the current one count as the tail."
        self._tail.setToolTip(tip)
        self._tail.valueChanged.connect(self._session.set_tail_turns)
        _add_row(grid, len(RESERVES), "Tail", tip, self._tail)
        return grid

    def _refresh(self) -> None:
        settings = self._session.settings
        if settings.policy != self._policy:
            self._rebuild(settings.policy)
        for key, value in self._session.options().items():
            self.fields[key].set_value(value)
        for name, box in self._boxes.items():
            with QSignalBlocker(box):
                box.setValue(getattr(settings.budget, name))
        with QSignalBlocker(self._tail):
            self._tail.setValue(settings.tail_turns)
        self._show_pins()

    def _rebuild(self, policy_id: str) -> None:
        self._policy = policy_id
        policy = get_policy(policy_id)
        self._show_help()
        self._basis.setText(
            f"Emulates {policy.emulates} ({policy.basis})" if policy.emulates else ""
        )
        self._basis.setVisible(bool(policy.emulates))
        clear(self._options)
        clear(self._always)
        self._column.removeItem(self._options)
        self._options = _grid()
        self._column.insertLayout(4, self._options)
        entries = sorted(describe(policy.settings), key=lambda entry: entry.key in _LIMITS)
        self.fields = {entry.key: self._field(entry) for entry in entries}
        self._order()

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._order()  # what was ordered outside a window is joined to its chain anyhow

    def _order(self) -> None:
        """Tab goes from top to bottom, as the eye does."""
        always = [field for field in self.fields.values() if self._always.indexOf(field) >= 0]
        others = [field for field in self.fields.values() if field not in always]
        options = [editor for field in others for editor in field.editors]
        boxes = [editor for field in always for editor in field.editors]
        chain = [self._more, *options, *self._boxes.values(), self._tail, *boxes, self.reset]
        for first, second in pairwise(chain):
            QWidget.setTabOrder(first, second)

    def _show_help(self) -> None:
        """The idea in one sentence, or the whole paragraph."""
        text = get_policy(self._session.settings.policy).help
        idea, _stop, rest = text.partition(". ")
        whole = self._more.isChecked()
        self._more.setVisible(bool(rest))
        self._more.setText("Less" if whole else "When it is right, when wrong")
        self._help.setText(text if whole or not rest else f"{idea}.")

    def _field(self, entry: Setting) -> Field:
        field = make_field(entry)
        field.edited.connect(lambda value: self._session.set_option(entry.key, value))
        row = self._options.rowCount()
        if isinstance(field, ZonesField) or entry.key in _ALWAYS:
            self._always.addWidget(field)
        elif entry.type == "bool":
            self._options.addWidget(field, row, 0, 1, 2)
        else:
            _add_row(self._options, row, entry.label, entry.help, field)
        return field

    def _show_pins(self) -> None:
        plan = self._session.plan
        pins = len(self._session.settings.pins)
        if not pins or plan is None:
            self._pins.setText("No pins yet: Ctrl+K pins a message")
            return
        total = int(plan.pinned.sum())
        word = "pin" if pins == 1 else "pins"
        held = "message" if total == 1 else "messages"
        self._pins.setText(f"{pins} {word} · {total:,} {held} held")


def _grid() -> QGridLayout:
    grid = QGridLayout()
    grid.setContentsMargins(0, 0, 0, 0)
    grid.setVerticalSpacing(6)
    grid.setColumnStretch(0, 1)
    return grid


def _add_row(grid: QGridLayout, row: int, title: str, tip: str, editor: QWidget) -> None:
    name = label(title, wrap=True)
    name.setBuddy(editor.editors[0] if isinstance(editor, Field) else editor)
    name.setToolTip(tip)
    editor.setFixedWidth(FIELD_WIDTH)
    for box in (editor, *editor.findChildren(QWidget)):
        box.setProperty("compact", True)
    grid.addWidget(name, row, 0)
    grid.addWidget(editor, row, 1)
