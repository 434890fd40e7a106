"""The budget bar: its arithmetic, and its handles driven by mouse and keys."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QAccessible
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot
from scene import E, K, counts, plan

from stm_inspector.app import theme
from stm_inspector.app.budget_bar import BudgetBar
from stm_inspector.app.budget_scale import (
    SYNTHETIC,
    Contents,
    Label,
    Scale,
    make_contents,
    make_runs,
    make_scale,
    nice_step,
    place_labels,
    short,
    wants_fit,
)
from stm_inspector.buffer.budget import Budget
from stm_inspector.buffer.plan import Zone

SMALL = Budget(window=20_000, reply=1_000, safety=500, tool_headroom=500)
"""An input budget of 18,000 for a scene of 14,134 tokens."""


@pytest.fixture
def bar(qtbot: QtBot, qapp: QApplication) -> BudgetBar:
    """A bar 1016 wide: 1000 pixels for 20,000 tokens."""
    theme.apply(qapp, theme.light())
    bar = BudgetBar()
    qtbot.addWidget(bar)
    bar.resize(1016, bar.sizeHint().height())
    bar.set_plan(plan(budget=SMALL, watermark=10_800, target=7_200), counts())
    bar.show()
    bar.activateWindow()
    return bar


def drag(qtbot: QtBot, bar: BudgetBar, name: str, pixels: int) -> None:
    """Pull a handle by its line."""
    handle = bar.handles[name]
    start = handle.rect().center()
    qtbot.mousePress(handle, Qt.MouseButton.LeftButton, pos=start)
    qtbot.mouseMove(handle, start + QPoint(pixels, 0))
    qtbot.mouseRelease(handle, Qt.MouseButton.LeftButton, pos=start + QPoint(pixels, 0))


class TestScale:
    def test_to_scale(self) -> None:
        scale = make_scale(plan(budget=SMALL), 1000, fit=False)
        assert scale.x(5_000) == 250
        assert scale.tokens(250) == 5_000
        assert scale.x(50_000) == 1000

    def test_fitted_has_a_break_and_still_reaches_the_end(self) -> None:
        small = plan(budget=Budget(window=1_000_000))
        assert wants_fit(small)
        scale = make_scale(small, 1000, fit=True)
        assert scale.knee is not None
        assert scale.x(small.totals.before.tokens) > 600
        assert scale.x(1_000_000) == 1000
        xs = [scale.x(tokens) for tokens in range(0, 1_000_001, 10_000)]
        assert xs == sorted(set(xs))
        for tokens in (100, 14_000, 400_000):
            assert scale.tokens(scale.x(tokens)) == pytest.approx(tokens)

    def test_a_recording_that_fills_the_window_is_never_fitted(self) -> None:
        assert not wants_fit(plan(budget=SMALL))
        assert make_scale(plan(budget=SMALL), 1000, fit=True).knee is None

    def test_round_numbers(self) -> None:
        assert [nice_step(n) for n in (0, 1, 3, 10, 11, 4_999)] == [1, 1, 5, 10, 20, 5_000]
        assert [short(n) for n in (5, 2_500, 1_000_000)] == ["5", "2.5k", "1M"]
        assert Scale(200_000, 1300).ticks == [50_000, 100_000, 150_000, 200_000]


class TestRuns:
    def test_runs_are_the_buffer_in_order(self) -> None:
        contents = make_contents(plan(budget=SMALL))
        assert contents.total == plan().totals.after.tokens
        runs = make_runs(contents, Scale(20_000, 100_000), 1)
        zones = [run.zone for run in runs]
        assert zones == [
            Zone.SYSTEM,
            Zone.ANCHOR,
            SYNTHETIC,
            Zone.RETRIEVED,
            Zone.TAIL,
            Zone.CURRENT,
        ]
        widths = [round((run.right - run.left) / 5) for run in runs]
        assert widths == [900, 40, 80, 500, 72, 50]

    def test_runs_join_without_gaps(self) -> None:
        runs = make_runs(make_contents(plan()), Scale(20_000, 40_000), 2)
        for one, following in pairwise(runs):
            assert one.right == following.left

    def test_a_zone_too_small_for_a_pixel_gets_a_sliver(self) -> None:
        contents = Contents(
            np.array([0, 1, 3], dtype=np.uint8), np.array([90_000, 90_010, 180_000])
        )
        runs = make_runs(contents, Scale(200_000, 1000), 1)
        assert {run.zone for run in runs} == {0, 1, 3}

    def test_nothing_to_send_has_no_runs(self) -> None:
        assert make_runs(make_contents(plan([E] * 12)), Scale(100, 100), 1) == []


class TestLabels:
    @pytest.mark.parametrize("first", range(0, 1001, 50))
    @pytest.mark.parametrize("second", range(0, 1001, 125))
    def test_labels_never_overlap_and_never_leave(self, first: int, second: int) -> None:
        labels = [
            Label(first, (130, 60), left_first=True),
            Label(second, (160, 110, 40)),
            Label((first + second) / 2, (140, 90, 40)),
        ]
        placed = place_labels(labels, 1000, 8, 8)
        spans = [
            (place.left, place.left + label.widths[place.form])
            for label, place in zip(labels, placed, strict=True)
            if place is not None
        ]
        assert placed[0] is not None or placed[1] is not None
        for number, (left, right) in enumerate(spans):
            assert left >= 0
            assert right <= 1000
            for other_left, other_right in spans[number + 1 :]:
                assert right <= other_left or other_right <= left


class TestHandles:
    def test_dragging_the_budget_asks_for_tokens_to_scale(
        self, qtbot: QtBot, bar: BudgetBar
    ) -> None:
        asked: list[int] = []
        bar.budget_moved.connect(asked.append)
        with qtbot.waitSignals([bar.drag_started, bar.drag_finished], order="strict"):
            drag(qtbot, bar, "budget", -200)
        assert asked[-1] == pytest.approx(14_000, abs=40)
        assert asked[-1] % 20 == 0

    def test_marks_are_fractions_of_the_budget(self, qtbot: QtBot, bar: BudgetBar) -> None:
        with qtbot.waitSignal(bar.watermark_moved) as told:
            drag(qtbot, bar, "watermark", -90)
        assert told.args[0] == pytest.approx(0.5, abs=0.005)
        with qtbot.waitSignal(bar.target_moved) as told:
            drag(qtbot, bar, "target", 33)
        assert told.args[0] == pytest.approx(0.437, abs=0.003)

    def test_a_mark_cannot_leave_the_budget(self, qtbot: QtBot, bar: BudgetBar) -> None:
        with qtbot.waitSignal(bar.watermark_moved) as told:
            drag(qtbot, bar, "watermark", 900)
        assert told.args == [1.0]
        with qtbot.waitSignal(bar.watermark_moved) as told:
            drag(qtbot, bar, "watermark", -2000)
        assert told.args == [0.0]

    def test_the_budget_snaps_to_what_the_reserves_leave(
        self, qtbot: QtBot, bar: BudgetBar
    ) -> None:
        near = Budget(20_000, 1_000, 500, 500, fixed=17_000)
        bar.set_plan(plan(budget=near), counts())
        with qtbot.waitSignal(bar.budget_moved) as told:
            drag(qtbot, bar, "budget", 52)
        assert told.args == [18_000]

    def test_a_label_drags_its_handle(self, qtbot: QtBot, bar: BudgetBar) -> None:
        label = next(label for label in bar.labels if label.name == "budget")
        place = bar.label_rect(label).center().toPoint()
        asked: list[int] = []
        bar.budget_moved.connect(asked.append)
        qtbot.mousePress(bar, Qt.MouseButton.LeftButton, pos=place)
        qtbot.mouseMove(bar, place - QPoint(100, 0))
        qtbot.mouseRelease(bar, Qt.MouseButton.LeftButton, pos=place - QPoint(100, 0))
        assert asked[-1] == pytest.approx(16_000, abs=40)

    @pytest.mark.parametrize(
        ("key", "modifier", "wanted"),
        [
            (Qt.Key.Key_Right, Qt.KeyboardModifier.NoModifier, 18_200),
            (Qt.Key.Key_Down, Qt.KeyboardModifier.NoModifier, 17_800),
            (Qt.Key.Key_Left, Qt.KeyboardModifier.ShiftModifier, 17_000),
            (Qt.Key.Key_PageDown, Qt.KeyboardModifier.NoModifier, 16_000),
            (Qt.Key.Key_Home, Qt.KeyboardModifier.NoModifier, 0),
            (Qt.Key.Key_End, Qt.KeyboardModifier.NoModifier, 20_000),
        ],
    )
    def test_keys_step(
        self,
        qtbot: QtBot,
        bar: BudgetBar,
        key: Qt.Key,
        modifier: Qt.KeyboardModifier,
        wanted: int,
    ) -> None:
        with qtbot.waitSignal(bar.budget_moved) as told:
            qtbot.keyClick(bar.handles["budget"], key, modifier)
        assert told.args == [wanted]

    def test_tab_goes_from_handle_to_handle(self, qtbot: QtBot, bar: BudgetBar) -> None:
        bar.handles["budget"].setFocus()
        qtbot.keyClick(bar.handles["budget"], Qt.Key.Key_Tab)
        assert QApplication.focusWidget() is bar.handles["watermark"]
        qtbot.keyClick(bar.handles["watermark"], Qt.Key.Key_Tab)
        assert QApplication.focusWidget() is bar.handles["target"]

    def test_marks_that_the_policy_does_not_use_have_no_handle(self, bar: BudgetBar) -> None:
        bar.set_plan(plan(policy="full", budget=SMALL), counts())
        assert bar.handles["budget"].isVisible()
        assert not bar.handles["watermark"].isVisible()
        assert not bar.handles["target"].isVisible()

    def test_marks_that_nobody_set_wait_at_the_budget(self, bar: BudgetBar) -> None:
        bar.set_plan(plan(budget=SMALL), counts())
        assert bar.handles["watermark"].isVisible()
        assert bar.handles["watermark"].value() == SMALL.input
        assert "watermark" in {label.name for label in bar.labels}

    def test_handles_are_sliders_to_a_screen_reader(self, bar: BudgetBar) -> None:
        interface = QAccessible.queryAccessibleInterface(bar.handles["watermark"])
        assert interface.role() == QAccessible.Role.Slider
        assert interface.text(QAccessible.Text.Name) == "Watermark"
        words = interface.text(QAccessible.Text.Description)
        assert words == "Watermark: 60 % of the budget, 10,800 tokens."


class TestWords:
    def test_the_places_of_the_bar_explain_themselves(self, bar: BudgetBar) -> None:
        def tip(tokens: int) -> str:
            return bar.tip_at(QPointF(8 + tokens / 20, bar.bar_rect.center().y()))

        assert tip(400) == "system: 900 tokens, 54.8 % of what would be sent"
        assert tip(1_000).startswith("synthetic messages: 80 tokens")
        assert tip(9_000) == "free: 16,358 tokens below the budget"
        assert tip(18_200) == "tool headroom: 500 tokens set aside"
        assert tip(19_500) == "reply reserve: 1,000 tokens set aside"

    def test_what_is_over_the_budget_is_said_and_drawn(self, bar: BudgetBar) -> None:
        under = bar.grab().toImage()
        tight = Budget(20_000, 1_000, 500, 500, fixed=1_000)
        bar.set_plan(plan([K] * 12, budget=tight), counts())
        assert "13,134 over the budget" in bar.accessibleDescription()
        assert bar.grab().toImage() != under

    def test_fitting_is_offered_where_it_helps(self, qtbot: QtBot, bar: BudgetBar) -> None:
        assert not bar.fit_button.isVisible()
        bar.set_plan(plan(budget=Budget(window=1_000_000)), counts())
        assert bar.fit_button.isVisible()
        assert bar.fit_button.isChecked()
        before = bar.handles["budget"].x()
        fitted = bar.grab().toImage()
        qtbot.mouseClick(bar.fit_button, Qt.MouseButton.LeftButton)
        assert not bar.fit_button.isChecked()
        assert bar.grab().toImage() != fitted
        assert bar.handles["budget"].x() <= before


@pytest.mark.parametrize("width", [320, 700, 1014, 1900])
def test_handles_are_whole_at_every_width(bar: BudgetBar, width: int) -> None:
    for fixed in (0, 20_000):
        bar.resize(width, bar.height())
        bar.set_plan(plan(budget=Budget(20_000, 0, 0, 0, fixed=fixed)), counts())
        assert bar.rect().contains(bar.handles["budget"].geometry())
