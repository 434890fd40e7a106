"""The foot of the window: what the plan amounts to, progress, and the legend of the zones."""

from __future__ import annotations

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtGui import QColor, QHideEvent, QPainter, QPaintEvent, QResizeEvent, QShowEvent
from PySide6.QtWidgets import QHBoxLayout, QProgressBar, QSizePolicy, QWidget

from stm_inspector.app import theme
from stm_inspector.app.session import Session
from stm_inspector.app.tasks import Runner
from stm_inspector.app.widgets import ElidedLabel, label, link
from stm_inspector.buffer.plan import Plan, Severity, Zone

PATIENCE = 500
"""Milliseconds before a running job shows a progress bar."""
SPACING = 18
NOTE_WIDTH = 60
"""Pixels left for a note before the legend gives way to it."""
LEGEND = (Zone.SYSTEM, Zone.ANCHOR, Zone.RETRIEVED, Zone.MIDDLE, Zone.TAIL)


class Swatch(QWidget):
    """A small square of a zone's colour."""

    def __init__(self, zone: Zone) -> None:
        super().__init__()
        self._zone = zone
        self.setFixedSize(10, 10)

    def paintEvent(self, event: QPaintEvent) -> None:
        colours = theme.current()
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(colours.zone_edge(self._zone))
        painter.setBrush(QColor(colours.zone(self._zone)))
        painter.drawRoundedRect(self.rect().adjusted(0, 0, -1, -1), 2, 2)
        painter.end()


class Progress(QWidget):
    """A bar with Cancel for one runner; it appears when the job takes longer than half a second.

    Signals:
        appeared(bool): it came, or went.
    """

    appeared = Signal(bool)

    def __init__(self, runner: Runner, text: str) -> None:  # type: ignore[type-arg]
        super().__init__()
        self._timer = QTimer(self, singleShot=True, interval=PATIENCE)
        self._timer.timeout.connect(self.show)
        self._bar = QProgressBar()
        self._bar.setFixedWidth(120)
        self._bar.setAccessibleName(text)
        self.text = label(text, "soft")
        cancel = link("Cancel")
        cancel.setAccessibleName(f"Cancel: {text}")
        cancel.clicked.connect(runner.cancel)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        for widget in (self.text, self._bar, cancel):
            row.addWidget(widget)
        runner.busy_changed.connect(self._busy)
        runner.progressed.connect(self._progressed)
        self.hide()

    def showEvent(self, event: QShowEvent) -> None:
        self.appeared.emit(True)
        super().showEvent(event)

    def hideEvent(self, event: QHideEvent) -> None:
        self.appeared.emit(False)
        super().hideEvent(event)

    def _busy(self, busy: bool) -> None:
        self._bar.setRange(0, 0)
        if busy:
            self._timer.start()
        else:
            self._timer.stop()
            self.hide()

    def _progressed(self, fraction: float) -> None:
        self._bar.setRange(0, 1000)
        self._bar.setValue(round(1000 * fraction))


class StatusBar(QWidget):
    """One quiet line.

    Signals:
        problems_wanted: the user clicked the number of problems.
    """

    problems_wanted = Signal()

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._session = session
        self.setProperty("panel", True)
        self._kept = label()
        self._tokens = label()
        self._exactness = label(level="soft")
        self._problems = link("", "Show the problem list (Ctrl+Shift+M)")
        self._problems.clicked.connect(self.problems_wanted)
        self._note = ElidedLabel(elide=Qt.TextElideMode.ElideRight)
        self._passing = QTimer(self, singleShot=True)
        self._passing.timeout.connect(self._show_note)
        self._note.setProperty("level", "soft")
        self._note.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        self._reading = Progress(session.opening, "Reading the file")
        self._counting = Progress(session.counting, "Counting tokens")
        row = QHBoxLayout(self)
        row.setContentsMargins(14, 4, 14, 4)
        row.setSpacing(SPACING)
        for widget in (self._kept, self._tokens, self._exactness, self._problems):
            row.addWidget(widget)
        row.addWidget(self._note, 1)
        row.addWidget(self._reading)
        row.addWidget(self._counting)
        self._legend = _legend()
        row.addWidget(self._legend)
        # The line gives way, part by part, rather than holding the window wide.
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        for progress in (self._reading, self._counting):
            progress.appeared.connect(lambda _on: self._fit())
        session.opened.connect(self._refresh)
        session.counted.connect(self._refresh)
        session.planned.connect(self._refresh)
        self._refresh()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()

    def _fit(self) -> None:
        """Show the legend where there is room for it."""
        shown: tuple[QWidget, ...] = (self._kept, self._tokens, self._exactness, self._problems)
        shown += (self._reading, self._counting)
        used = sum(widget.sizeHint().width() + SPACING for widget in shown if widget.isVisible())
        room = self.width() - used - self._legend.sizeHint().width() - NOTE_WIDTH
        self._legend.setVisible(self._session.plan is not None and room > 0)

    def _refresh(self) -> None:
        plan = self._session.plan
        for widget in (self._kept, self._tokens, self._exactness):
            widget.setVisible(plan is not None)
        self._problems.setVisible(plan is not None and bool(plan.problems))
        self._show_note()
        self._fit()
        if plan is None:
            return
        totals = plan.totals
        self._kept.setText(f"{totals.kept:,} of {totals.before.messages:,} messages kept")
        self._kept.setToolTip(_verdicts(plan))
        self._tokens.setText(f"{totals.before.tokens:,} → {totals.after.tokens:,} tokens")
        self._tokens.setToolTip("Tokens of the whole log → tokens that would be sent")
        counts = self._session.counts
        if counts is not None:
            still = "" if counts.complete else " · still counting"
            self._exactness.setText(f"{totals.exactness.word} · {counts.counter}{still}")
            self._exactness.setToolTip("\n".join(counts.notes))
        self._problems.setText(problem_text(plan))
        self._problems.setAccessibleName(f"{problem_text(plan)}: show the list")

    def say(self, text: str, milliseconds: int) -> None:
        """Show a passing message."""
        self._note.set_full_text(text)
        self._note.setToolTip(text)
        self._passing.start(milliseconds)

    def _show_note(self) -> None:
        plan = self._session.plan
        if not self._passing.isActive():
            notes = plan.decision.notes if plan is not None else ()
            self._note.set_full_text(notes[0] if notes else "")
            self._note.setToolTip("\n".join(notes))


def problem_text(plan: Plan) -> str:
    """How many problems: "2 errors, 1 warning"."""
    errors = count_of(plan, Severity.ERROR)
    warnings = count_of(plan, Severity.WARNING)
    words = []
    if errors:
        words.append(f"{errors:,} error{'' if errors == 1 else 's'}")
    if warnings:
        words.append(f"{warnings:,} warning{'' if warnings == 1 else 's'}")
    return ", ".join(words) or "no problems"


def count_of(plan: Plan, *severities: Severity) -> int:
    """How many problems of these severities; one entry may stand for several."""
    return sum(problem.places for problem in plan.problems if problem.severity in severities)


def _verdicts(plan: Plan) -> str:
    totals = plan.totals
    named = (
        ("kept", totals.kept),
        ("evicted", totals.evicted),
        ("cleared", totals.cleared),
        ("truncated", totals.truncated),
        ("summarised", totals.summarised),
    )
    return "\n".join(f"{count:,} {word}" for word, count in named if count)


def _legend() -> QWidget:
    legend = QWidget()
    row = QHBoxLayout(legend)
    row.setContentsMargins(0, 0, 0, 0)
    row.setSpacing(5)
    for zone in LEGEND:
        row.addSpacing(8)
        row.addWidget(Swatch(zone))
        row.addWidget(label(zone.word, "soft"))
    legend.setAccessibleName("Colours of the zones")
    return legend
