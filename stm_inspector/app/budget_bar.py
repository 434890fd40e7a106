"""The budget bar: the whole context window to scale, with the budget's handles on it."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import (
    QFont,
    QFontMetricsF,
    QHelpEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QResizeEvent,
)
from PySide6.QtWidgets import QSizePolicy, QToolButton, QToolTip, QWidget

from stm_inspector.app import glyphs, theme
from stm_inspector.app.budget_handle import WIDTH, Handle
from stm_inspector.app.budget_painter import BarPainter, HandleLabel
from stm_inspector.app.budget_scale import (
    SYNTHETIC,
    Contents,
    Label,
    Placed,
    Run,
    Scale,
    make_contents,
    make_runs,
    make_scale,
    place_labels,
    reserves,
    wants_fit,
)
from stm_inspector.buffer.plan import Plan, Zone
from stm_inspector.buffer.policies import get_policy
from stm_inspector.tokens.counts import TokenCounts

_INSET = 8
"""Pixels left and right of the bar, so that a handle at its end is whole."""

_SNAP = 4.0
"""Pixels within which a handle jumps to where the reserves put the budget, or to 5 % steps."""


class BudgetBar(QWidget):
    """What would be sent, what is free and what is reserved, of one context window.

    Signals:
        budget_moved(int): the user wants this input budget, in tokens.
        watermark_moved(float), target_moved(float): this fraction of the budget.
        drag_started(str), drag_finished(str): around a drag; "budget", "watermark" or "target".
    """

    budget_moved = Signal(int)
    watermark_moved = Signal(float)
    target_moved = Signal(float)
    drag_started = Signal(str)
    drag_finished = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._plan: Plan | None = None
        self._counts: TokenCounts | None = None
        self._contents: Contents | None = None
        self._scale = Scale(1, 1.0)
        self._runs: list[Run] = []
        self.labels: list[HandleLabel] = []
        self._label_held: Handle | None = None
        self._wants_fit: bool | None = None
        self.setAccessibleName("Budget bar")
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setMouseTracking(True)
        self.handles = {
            "target": Handle("target", "Target", self),
            "watermark": Handle("watermark", "Watermark", self),
            "budget": Handle("budget", "Token budget", self),
        }
        for handle in self.handles.values():
            handle.hide()
            handle.grabbed.connect(lambda name=handle.name: self.drag_started.emit(name))
            handle.released.connect(lambda name=handle.name: self.drag_finished.emit(name))
            handle.dragged.connect(lambda x, name=handle.name: self._drag(name, x))
            handle.stepped.connect(lambda value, name=handle.name: self._move(name, value))
        QWidget.setTabOrder(self.handles["budget"], self.handles["watermark"])
        QWidget.setTabOrder(self.handles["watermark"], self.handles["target"])
        self.fit_button = QToolButton(self)
        self.fit_button.setText("Fit recording")
        self.fit_button.setCheckable(True)
        self.fit_button.setProperty("compact", True)
        self.fit_button.setAccessibleName("Fit the recording to the bar")
        self.fit_button.setToolTip(
            "Give the recording most of the bar. Behind the break mark the scale is coarser."
        )
        self.fit_button.clicked.connect(self._set_fit)
        self.fit_button.hide()

    def set_plan(self, plan: Plan | None, counts: TokenCounts | None = None) -> None:
        """Show ``plan``; ``counts`` say how its numbers came about."""
        self._plan, self._counts = plan, counts
        self._contents = make_contents(plan) if plan is not None else None
        self._arrange()

    # Geometry, in units of the font

    @property
    def _em(self) -> float:
        return QFontMetricsF(theme.fonts().ui).height()

    @property
    def _inner_width(self) -> int:
        return max(1, self.width() - 2 * _INSET)

    @property
    def bar_rect(self) -> QRectF:
        """The bar itself."""
        em = self._em
        return QRectF(_INSET, round(3.25 * em), self._inner_width, round(1.75 * em))

    def sizeHint(self) -> QSize:
        return QSize(900, round(6.75 * self._em))

    def minimumSizeHint(self) -> QSize:
        return QSize(320, self.sizeHint().height())

    def _arrange(self) -> None:
        """Compute everything that painting needs, and put the handles in place."""
        plan = self._plan
        for handle in self.handles.values():
            handle.setVisible(plan is not None)
        if plan is None or self._contents is None:
            self._runs, self.labels = [], []
            self.fit_button.hide()
            self.update()
            return
        useful = wants_fit(plan)
        fit = useful if self._wants_fit is None else self._wants_fit
        self._scale = make_scale(plan, self._inner_width, fit=fit)
        self.fit_button.setVisible(useful or bool(self._wants_fit))
        self.fit_button.setChecked(self._scale.knee is not None)
        self.fit_button.adjustSize()
        self.fit_button.move(self.width() - _INSET - self.fit_button.width(), 0)
        self._runs = make_runs(self._contents, self._scale, self.devicePixelRatioF())
        self._place_handles(plan)
        self._place_labels(plan)
        self._describe(plan)
        self.update()

    def _place_handles(self, plan: Plan) -> None:
        budget = plan.budget.input
        self._show_handle("budget", budget, self._scale.most, f"Input budget: {budget:,} tokens.")
        for name, tokens in _marks(plan).items():
            if tokens is None:
                self.handles[name].hide()
                continue
            words = f"{name.capitalize()}: {_per_cent(tokens, budget)} of the budget, {tokens:,}"
            self._show_handle(name, tokens, max(1, budget), f"{words} tokens.")

    def _show_handle(self, name: str, tokens: int, most: int, words: str) -> None:
        handle, bar = self.handles[name], self.bar_rect
        handle.show_value(tokens, max(most, tokens), words)
        top = round(bar.top() - 0.95 * self._em)
        handle.head = bar.top() - top
        left = round(_INSET + self._scale.x(tokens) - WIDTH / 2)
        handle.setGeometry(left, top, WIDTH, round(bar.bottom()) - top + 7)
        handle.update()

    def _place_labels(self, plan: Plan) -> None:
        fonts, budget = theme.fonts(), plan.budget.input
        words: list[tuple[Handle, QFont, tuple[str, ...]]] = [
            (self.handles["budget"], fonts.bold, (f"budget {budget:,}", f"{budget:,}"))
        ]
        for name, tokens in _marks(plan).items():
            if tokens is not None:
                share = _per_cent(tokens, budget)
                forms = (f"{name} {share} · {tokens:,}", f"{name} {share}", share)
                words.append((self.handles[name], fonts.small, forms))
        wanted = [
            Label(
                handle.x() + WIDTH / 2 - _INSET,
                tuple(QFontMetricsF(font).horizontalAdvance(form) for form in forms),
                left_first=handle.name == "budget",
            )
            for handle, font, forms in words
        ]
        places = place_labels(wanted, self._inner_width, 0.6 * self._em, 8)
        self.labels = [
            HandleLabel(handle.name, forms[place.form], font, self._rect_for(label, place))
            for (handle, font, forms), label, place in zip(words, wanted, places, strict=True)
            if place is not None
        ]

    def _rect_for(self, label: Label, place: Placed) -> QRectF:
        em = self._em
        top = self.bar_rect.top() - 1.35 * em
        return QRectF(place.left, top, label.widths[place.form] + 1, 1.1 * em)

    def resizeEvent(self, event: QResizeEvent) -> None:
        self._arrange()
        super().resizeEvent(event)

    def changeEvent(self, event: QEvent) -> None:
        kinds = QEvent.Type
        if event.type() in (kinds.PaletteChange, kinds.StyleChange, kinds.FontChange):
            self.updateGeometry()
            self._arrange()
        super().changeEvent(event)

    # What the user does

    def _set_fit(self, fit: bool) -> None:
        self._wants_fit = fit
        self._arrange()

    def _drag(self, name: str, x: float) -> None:
        plan = self._plan
        if plan is None:
            return
        x = max(0.0, min(x - _INSET, float(self._inner_width)))
        if name == "budget":
            natural = max(0, plan.budget.window - plan.budget.reserved)
            step = self._scale.step(x)
            tokens = round(self._scale.tokens(x) / step) * step
            if abs(self._scale.x(natural) - x) <= _SNAP:
                tokens = natural
            self._move(name, min(tokens, self._scale.most))
        else:
            self._move_share(name, self._snapped_share(x, plan.budget.input))

    def _snapped_share(self, x: float, budget: int) -> float:
        """The fraction of the budget at ``x``, in tenths of a per cent, drawn to 5 % steps."""
        share = min(1.0, self._scale.tokens(x) / max(1, budget))
        round_share = round(share * 20) / 20
        if abs(self._scale.x(round_share * budget) - x) <= _SNAP:
            return round_share
        return round(share, 3)

    def _move(self, name: str, tokens: int) -> None:
        if self._plan is None:
            return
        if name == "budget":
            self.budget_moved.emit(tokens)
        else:
            self._move_share(name, round(tokens / max(1, self._plan.budget.input), 3))

    def _move_share(self, name: str, share: float) -> None:
        signal = self.watermark_moved if name == "watermark" else self.target_moved
        signal.emit(share)

    def label_rect(self, label: HandleLabel) -> QRectF:
        """Where a label is, in the widget."""
        return label.rect.translated(_INSET, 0)

    def _label_at(self, place: QPointF) -> Handle | None:
        for label in self.labels:
            if self.label_rect(label).contains(place):
                return self.handles[label.name]
        return None

    def mousePressEvent(self, event: QMouseEvent) -> None:
        handle = self._label_at(event.position())
        if handle is not None and event.button() == Qt.MouseButton.LeftButton:
            self._label_held = handle
            handle.grab_at(event.position().x())

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        if self._label_held is not None:
            self._label_held.drag_to(event.position().x())
            return
        over = self._label_at(event.position()) is not None
        self.setCursor(Qt.CursorShape.SizeHorCursor if over else Qt.CursorShape.ArrowCursor)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        if self._label_held is not None and event.button() == Qt.MouseButton.LeftButton:
            self._label_held.let_go()
            self._label_held = None

    # Words

    def _describe(self, plan: Plan) -> None:
        totals = plan.totals
        over = f", {totals.over_budget:,} over the budget" if totals.over_budget else ""
        self.setAccessibleDescription(
            f"{totals.after.tokens:,} of {plan.budget.input:,} tokens would be sent "
            f"({totals.exactness.word}){over}; recorded {totals.before.tokens:,}; "
            f"context window {plan.budget.window:,}."
        )

    def event(self, event: QEvent) -> bool:
        if isinstance(event, QHelpEvent) and event.type() == QEvent.Type.ToolTip:
            QToolTip.showText(event.globalPos(), self.tip_at(QPointF(event.pos())), self)
            return True
        return super().event(event)

    def tip_at(self, place: QPointF) -> str:
        """What the bar says of the place under the pointer."""
        plan, contents = self._plan, self._contents
        if plan is None or contents is None:
            return ""
        if not self.bar_rect.contains(place):
            return self.accessibleDescription()
        tokens = self._scale.tokens(place.x() - _INSET)
        zone = contents.zone_at(tokens)
        if zone is not None:
            amount = int(contents.by_zone()[zone])
            word = "synthetic messages" if zone == SYNTHETIC else glyphs.ZONE_WORDS[Zone(zone)]
            share = _per_cent(amount, contents.total)
            return f"{word}: {amount:,} tokens, {share} of what would be sent"
        for name, start, end in reserves(plan):
            if start <= tokens <= end:
                return f"{name}: {end - start:,} tokens set aside"
        free = plan.budget.input - plan.totals.after.tokens
        if tokens <= plan.budget.input:
            return f"free: {free:,} tokens below the budget"
        return "not used: the budget is below what the reserves leave"

    # Painting

    def paintEvent(self, event: QPaintEvent) -> None:
        if self._plan is None:
            return
        button = self.fit_button
        painter = QPainter(self)
        painter.translate(_INSET, 0)
        BarPainter(
            painter=painter,
            plan=self._plan,
            scale=self._scale,
            runs=self._runs,
            bar=self.bar_rect.translated(-_INSET, 0),
            end=button.x() - _INSET - self._em if button.isVisible() else self._inner_width,
            ratio=self.devicePixelRatioF(),
        ).paint(self.labels)


def _marks(plan: Plan) -> dict[str, int | None]:
    """Watermark and target in tokens; None for one that the policy does not look at.

    One that it looks at but nobody set stands at the budget, where a hand finds it.
    """
    policy, budget = get_policy(plan.policy), plan.budget.input
    marks = {
        "watermark": (policy.uses_watermark, plan.watermark),
        "target": (policy.uses_target, plan.target),
    }
    return {
        name: (budget if tokens is None else tokens) if used else None
        for name, (used, tokens) in marks.items()
    }


def _per_cent(tokens: int, of: int) -> str:
    """A share in per cent, with a decimal only where there is one."""
    share = round(100 * tokens / of, 1) if of else 0.0
    return f"{share:g} %"
