"""The budget bar: the whole context window to scale, with the budget's handles on it."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import (
    QColor,
    QFont,
    QFontMetricsF,
    QHelpEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPen,
    QPolygonF,
    QResizeEvent,
)
from PySide6.QtWidgets import QSizePolicy, QToolButton, QToolTip, QWidget

from stm_inspector.app import glyphs, theme
from stm_inspector.app.budget_handle import WIDTH, Handle
from stm_inspector.app.budget_scale import (
    FIT_SHARE,
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
    short,
    wants_fit,
)
from stm_inspector.buffer.plan import Plan, Zone
from stm_inspector.tokens.counts import Exactness, TokenCounts

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
        self._labels: list[tuple[Handle, str, QFont, QRectF]] = []
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
    def bar_rect(self) -> QRectF:
        """The bar itself."""
        em = self._em
        return QRectF(0, round(3.25 * em), self.width(), round(1.75 * em))

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
            self._runs, self._labels = [], []
            self.fit_button.hide()
            self.update()
            return
        useful = wants_fit(plan)
        fit = useful if self._wants_fit is None else self._wants_fit
        self._scale = make_scale(plan, self.width(), fit=fit)
        self.fit_button.setVisible(useful or bool(self._wants_fit))
        self.fit_button.setChecked(self._scale.knee is not None)
        self.fit_button.adjustSize()
        self.fit_button.move(self.width() - self.fit_button.width(), 0)
        self._runs = make_runs(self._contents, self._scale, self.devicePixelRatioF())
        self._place_handles(plan)
        self._place_labels(plan)
        self._describe(plan)
        self.update()

    def _place_handles(self, plan: Plan) -> None:
        budget = plan.budget.input
        shares = {"watermark": plan.watermark, "target": plan.target}
        self._show_handle("budget", budget, self._scale.most, f"Input budget: {budget:,} tokens.")
        for name, tokens in shares.items():
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
        left = round(self._scale.x(tokens) - WIDTH / 2)
        left = max(-(WIDTH // 2) + 1, min(left, self.width() - WIDTH // 2 - 2))
        handle.setGeometry(left, top, WIDTH, round(bar.bottom()) - top + 7)
        handle.update()

    def _place_labels(self, plan: Plan) -> None:
        fonts, budget = theme.fonts(), plan.budget.input
        words: list[tuple[Handle, QFont, tuple[str, ...]]] = [
            (self.handles["budget"], fonts.bold, (f"budget {budget:,}", f"{budget:,}"))
        ]
        for name, tokens in (("watermark", plan.watermark), ("target", plan.target)):
            if tokens is not None:
                share = _per_cent(tokens, budget)
                forms = (f"{name} {share} · {tokens:,}", f"{name} {share}", share)
                words.append((self.handles[name], fonts.small, forms))
        wanted = [
            Label(
                handle.x() + WIDTH / 2,
                tuple(QFontMetricsF(font).horizontalAdvance(form) for form in forms),
                left_first=handle.name == "budget",
            )
            for handle, font, forms in words
        ]
        places = place_labels(wanted, self.width(), 0.6 * self._em, 8)
        self._labels = [
            (handle, forms[place.form], font, self._label_rect(label, place))
            for (handle, font, forms), label, place in zip(words, wanted, places, strict=True)
            if place is not None
        ]

    def _label_rect(self, label: Label, place: Placed) -> QRectF:
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
        x = max(0.0, min(x, float(self.width())))
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

    def _label_at(self, place: QPointF) -> Handle | None:
        for handle, _, _, rect in self._labels:
            if rect.contains(place):
                return handle
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
        tokens = self._scale.tokens(place.x())
        zone = contents.zone_at(tokens)
        if zone is not None:
            amount = int(contents.by_zone()[zone])
            word = "synthetic messages" if zone == SYNTHETIC else glyphs.ZONE_WORDS[Zone(zone)]
            share = _per_cent(amount, contents.total)
            return f"{word}: {amount:,} tokens, {share} of what would be sent"
        for name, start, end in _reserves(plan):
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
        painter = QPainter(self)
        colours, fonts = theme.current(), theme.fonts()
        self._paint_header(painter, self._plan, colours, fonts)
        bar = self.bar_rect
        painter.fillRect(bar, QColor(colours.raised))
        self._paint_reserves(painter, self._plan, colours)
        self._paint_runs(painter, colours, fonts)
        self._paint_recorded(painter, self._plan, colours)
        if self._plan.totals.over_budget:
            self._paint_excess(painter, self._plan, colours)
        painter.setPen(QPen(QColor(colours.line_strong), 1))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawRect(bar.adjusted(0.5, 0.5, -0.5, -0.5))
        if self._scale.knee is not None:
            self._paint_break(painter, colours)
        self._paint_ticks(painter, self._plan, colours, fonts)
        for handle, text, font, rect in self._labels:
            names = {"budget": colours.text, "watermark": colours.watermark}
            painter.setFont(font)
            painter.setPen(QColor(names.get(handle.name, colours.text_soft)))
            painter.drawText(rect, _LEFT, text)

    def _paint_header(
        self, painter: QPainter, plan: Plan, colours: theme.Theme, fonts: theme.Fonts
    ) -> None:
        em, totals = self._em, plan.totals
        about = "≈ " if totals.exactness >= Exactness.CALIBRATED else ""
        right = float(self.width())
        if self.fit_button.isVisible():
            right = self.fit_button.x() - em
        window = f"context window {plan.budget.window:,}"
        painter.setFont(fonts.small)
        width = QFontMetricsF(fonts.small).horizontalAdvance(window) + 1
        painter.setPen(QColor(colours.text_soft))
        painter.drawText(QRectF(right - width, 0, width, 1.7 * em), _LEFT, window)
        pieces = [
            (f"{about}{totals.after.tokens:,}", fonts.bold, colours.text),
            (f" of {plan.budget.input:,} tokens would be sent", fonts.ui, colours.text_soft),
        ]
        if totals.over_budget:
            pieces.append((f"  {totals.over_budget:,} over budget", fonts.bold, colours.error))
        pieces.append(
            (f" · recorded {about}{totals.before.tokens:,}", fonts.ui, colours.text_faint)
        )
        x, end = 0.0, right - width - em
        for text, font, colour in pieces:
            metrics = QFontMetricsF(font)
            shown = metrics.elidedText(text, Qt.TextElideMode.ElideRight, max(0.0, end - x))
            painter.setFont(font)
            painter.setPen(QColor(colour))
            painter.drawText(QRectF(x, 0, end - x + 1, 1.7 * em), _LEFT, shown)
            x += metrics.horizontalAdvance(text)
            if x >= end:
                break

    def _paint_reserves(self, painter: QPainter, plan: Plan, colours: theme.Theme) -> None:
        bar = self.bar_rect
        tile = glyphs.hatch(QColor(colours.reserve), self.devicePixelRatioF(), 9, 2.6)
        for number, (_, start, end) in enumerate(_reserves(plan)):
            left, right = self._scale.x(start), self._scale.x(end)
            rect = QRectF(left, bar.top(), right - left, bar.height())
            painter.drawTiledPixmap(rect, tile, QPointF(left % 9, 0))
            if number and right - left > 4:
                painter.fillRect(
                    QRectF(round(left), bar.top(), 1, bar.height()), QColor(colours.background)
                )

    def _paint_runs(self, painter: QPainter, colours: theme.Theme, fonts: theme.Fonts) -> None:
        bar, em = self.bar_rect, self._em
        metrics = QFontMetricsF(fonts.small)
        painter.setFont(fonts.small)
        for run in self._runs:
            rect = QRectF(run.left, bar.top(), run.right - run.left, bar.height())
            if run.zone == SYNTHETIC:
                self._paint_synthetic(painter, rect, colours)
                continue
            painter.fillRect(rect, colours.zone(run.zone))
            if run.left and rect.width() > 3:
                painter.fillRect(
                    QRectF(rect.left(), rect.top(), 1, rect.height()), QColor(colours.panel)
                )
            word = glyphs.ZONE_WORDS[Zone(run.zone)]
            if metrics.horizontalAdvance(word) + em < rect.width():
                light = run.zone == Zone.SYSTEM
                painter.setPen(QColor("#ffffff" if light else "#16191d"))
                painter.drawText(rect, Qt.AlignmentFlag.AlignCenter, word)

    def _paint_synthetic(self, painter: QPainter, rect: QRectF, colours: theme.Theme) -> None:
        painter.fillRect(rect, QColor(colours.background))
        tile = glyphs.hatch(QColor(colours.summarised), self.devicePixelRatioF(), 6, 2.0)
        painter.drawTiledPixmap(rect, tile)

    def _paint_recorded(self, painter: QPainter, plan: Plan, colours: theme.Theme) -> None:
        """A thin line under the bar, as long as the recording; an arrow where it goes on."""
        recorded = plan.totals.before.tokens
        if recorded <= plan.totals.after.tokens:
            return
        y, x = self.bar_rect.bottom() + 3.5, self._scale.x(recorded)
        colour = QColor(colours.text_faint)
        painter.fillRect(QRectF(0, y - 0.5, x, 1), colour)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        if recorded > self._scale.most:
            painter.setBrush(colour)
            painter.setPen(Qt.PenStyle.NoPen)
            tip = QPointF(x, y)
            painter.drawPolygon(QPolygonF([tip, tip + QPointF(-7, -3.5), tip + QPointF(-7, 3.5)]))
        else:
            painter.setPen(QPen(colour, 1))
            painter.drawLine(QPointF(round(x) - 0.5, y - 3), QPointF(round(x) - 0.5, y + 3))
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)

    def _paint_excess(self, painter: QPainter, plan: Plan, colours: theme.Theme) -> None:
        """What stands above the budget, crossed out in the colour of errors."""
        bar = self.bar_rect
        left, right = self._scale.x(plan.budget.input), self._scale.x(plan.totals.after.tokens)
        rect = QRectF(left, bar.top(), max(3.0, right - left), bar.height())
        tile = glyphs.hatch(QColor(colours.error), self.devicePixelRatioF(), 6, 2.4)
        painter.drawTiledPixmap(rect, tile)
        painter.fillRect(
            QRectF(rect.left(), bar.bottom() - 3, rect.width(), 3), QColor(colours.error)
        )

    def _paint_break(self, painter: QPainter, colours: theme.Theme) -> None:
        """A zigzag through the bar, where the scale changes."""
        bar, x = self.bar_rect, FIT_SHARE * self.width()
        steps, half = 6, 3.5
        height = (bar.height() + 6) / steps
        points = [
            QPointF(x + (half if n % 2 else -half), bar.top() - 3 + n * height)
            for n in range(steps + 1)
        ]
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(QPen(QColor(colours.panel), 6))
        painter.drawPolyline(QPolygonF(points))
        for shift in (-3, 3):
            painter.setPen(QPen(QColor(colours.text_faint), 1.2))
            painter.drawPolyline(QPolygonF([p + QPointF(shift, 0) for p in points]))
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)

    def _paint_ticks(
        self, painter: QPainter, plan: Plan, colours: theme.Theme, fonts: theme.Fonts
    ) -> None:
        em, bar = self._em, self.bar_rect
        metrics = QFontMetricsF(fonts.small)
        painter.setFont(fonts.small)
        painter.setPen(QColor(colours.text_faint))
        top = bar.bottom() + 0.45 * em
        limit = float(self.width())
        reserve = self._reserve_words(plan, metrics)
        if reserve:
            width = metrics.horizontalAdvance(reserve)
            limit = self.width() - width
            painter.drawText(QRectF(limit, top, width + 1, 1.2 * em), _LEFT, reserve)
        for tick in self._scale.ticks:
            word, x = short(tick), self._scale.x(tick)
            width = metrics.horizontalAdvance(word) + 1
            if x + width / 2 > limit - em:
                break
            painter.drawText(QRectF(x - width / 2, top, width, 1.2 * em), _CENTRE, word)
        if self._scale.knee is not None and not reserve:
            word = short(self._scale.most)
            width = metrics.horizontalAdvance(word) + 1
            painter.drawText(QRectF(self.width() - width, top, width, 1.2 * em), _LEFT, word)

    def _reserve_words(self, plan: Plan, metrics: QFontMetricsF) -> str:
        """The names of the reserves, where they have room under the bar."""
        names = {"tool headroom": "tools", "safety headroom": "safety", "reply reserve": "reply"}
        words = " · ".join(names[name] for name, start, end in _reserves(plan) if end > start)
        room = self.width() - self._scale.x(plan.budget.window - plan.budget.reserved)
        fits = metrics.horizontalAdvance(words) <= 0.3 * self.width()
        return words if fits and room > 2 * self._em else ""


_LEFT = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
_CENTRE = Qt.AlignmentFlag.AlignHCenter | Qt.AlignmentFlag.AlignVCenter


def _reserves(plan: Plan) -> list[tuple[str, int, int]]:
    """Name, start and end of each reserve, in tokens from the left of the window."""
    budget = plan.budget
    start = max(0, budget.window - budget.reserved)
    result = []
    for name, size in (
        ("tool headroom", budget.tool_headroom),
        ("safety headroom", budget.safety),
        ("reply reserve", budget.reply),
    ):
        result.append((name, start, min(start + size, budget.window)))
        start += size
    return result


def _per_cent(tokens: int, of: int) -> str:
    """A share in per cent, with a decimal only where there is one."""
    share = round(100 * tokens / of, 1) if of else 0.0
    return f"{share:g} %"
