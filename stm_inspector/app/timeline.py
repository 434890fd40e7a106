"""The foot of the work area: which call is shown, what happened there, and all calls at once."""

from __future__ import annotations

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QAction, QColor, QPainter, QPaintEvent, QPolygonF
from PySide6.QtWidgets import QHBoxLayout, QSizePolicy, QToolButton, QVBoxLayout, QWidget

from stm_inspector.app import theme
from stm_inspector.app.actions import Actions
from stm_inspector.app.session import Session
from stm_inspector.app.timeline_strip import TimelineStrip
from stm_inspector.app.widgets import label
from stm_inspector.buffer.replay_words import what_happened
from stm_inspector.conversation.visible import visible

STEPS = {"first-call": "|<", "previous-call": "<", "next-call": ">", "last-call": ">|"}
"""Command -> its sign: triangles that point where it goes, and a bar where it ends."""
LEAST_HEIGHT = 96


class StepButton(QToolButton):
    """Goes to another call. Its sign is drawn, so that no font has to have it."""

    def __init__(self, action: QAction, sign: str) -> None:
        super().__init__()
        self._sign = sign
        self.setProperty("compact", True)
        self.setFixedSize(38, 24)
        name = action.text().replace("&", "")
        self.setAccessibleName(name)
        self.setToolTip(f"{name}  {action.shortcut().toString()}")
        self.clicked.connect(action.trigger)

    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        colours = theme.current()
        painter.setBrush(QColor(colours.text if self.isEnabled() else colours.text_faint))
        middle, way = QPointF(self.rect().center()) + QPointF(0.5, 0.5), 1
        if "<" in self._sign:
            way = -1
        points = ((-4, -5), (5, 0), (-4, 5))
        painter.drawPolygon(QPolygonF([middle + QPointF(way * x, y) for x, y in points]))
        if "|" in self._sign:
            painter.drawRect(QRectF(middle.x() + (5 if way > 0 else -7), middle.y() - 5, 2, 10))
        painter.end()


class Timeline(QWidget):
    """Shows the session's replay and call; what is asked for goes back as an intent."""

    def __init__(self, session: Session, actions: Actions, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._session = session
        self.setAccessibleName("Timeline")
        self.setMinimumHeight(LEAST_HEIGHT)
        self.strip = TimelineStrip()
        self.strip.call_wanted.connect(session.set_call)
        self.title = label()
        self.title.setFont(theme.fonts().bold)
        self.caption = label(level="soft", wrap=True)
        self.caption.setAlignment(Qt.AlignmentFlag.AlignTop | Qt.AlignmentFlag.AlignLeft)
        self.caption.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Ignored)
        self.caption.setAccessibleName("What happened at this call")
        buttons = QHBoxLayout()
        buttons.setSpacing(6)
        for name, sign in STEPS.items():
            buttons.addWidget(StepButton(actions[name], sign))
        buttons.addStretch(1)
        self.side = QWidget()
        column = QVBoxLayout(self.side)
        column.setContentsMargins(14, 8, 8, 4)
        column.setSpacing(5)
        column.addWidget(self.title)
        column.addLayout(buttons)
        column.addWidget(self.caption, 1)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(4)
        row.addWidget(self.side)
        row.addWidget(self.strip, 1)
        self.set_side_width(256)
        session.opened.connect(self._forget)
        session.planned.connect(self._show_plan)
        session.replayed.connect(self._show_replay)

    def set_side_width(self, width: int) -> None:
        """Let the chart begin where the pane above does."""
        self.side.setFixedWidth(max(200, width))

    def _forget(self) -> None:
        self.strip.set_replay(None)

    def _show_plan(self) -> None:
        plan = self._session.plan
        if plan is None:
            return
        self.strip.set_plan(plan)
        last = plan.call == plan.calls - 1
        after = " · what would be sent next" if last else ""
        self.title.setText(f"Call {plan.call + 1:,} of {plan.calls:,}")
        self.title.setToolTip(
            f"After {plan.length:,} messages{after}; on the command line: --at {plan.call}"
        )
        self._show_caption()

    def _show_replay(self) -> None:
        self.strip.set_replay(self._session.replay)
        self._show_caption()

    def _show_caption(self) -> None:
        plan, replay, counts = self._session.plan, self._session.replay, self._session.counts
        if plan is None or replay is None or counts is None or plan.call >= len(replay):
            self.caption.setText("")
            return
        text = visible(what_happened(replay, counts.messages, plan.call))
        self.caption.setText(text)
        self.caption.setToolTip(text)
