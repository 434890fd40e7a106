"""The block list, driven by real events and looked at through grabs and accessibility."""

from __future__ import annotations

import numpy as np
import pytest
from PySide6.QtCore import QEvent, QPoint, QRect, QRectF, Qt
from PySide6.QtGui import (
    QAccessible,
    QColor,
    QContextMenuEvent,
    QHelpEvent,
    QImage,
    QPainter,
    QPaintEvent,
    QTextDocument,
)
from PySide6.QtWidgets import QApplication, QToolTip
from pytestqt.qtbot import QtBot
from scene import VERDICTS, E, K, S, conversation, counts, plan, summary

from stm_inspector.app import glyphs, theme
from stm_inspector.app.buffer_rows import NONE, RowKind, build_rows
from stm_inspector.app.buffer_view import BufferView
from stm_inspector.app.tooltips import plain

FOLD = 2
"""The row of the fold: after messages 0 and 1."""


@pytest.fixture
def view(qtbot: QtBot, qapp: QApplication) -> BufferView:
    """The list with its plan, 760 by 500."""
    theme.apply(qapp, theme.light())
    view = BufferView()
    qtbot.addWidget(view)
    view.resize(760, 500)
    view.set_conversation(conversation(), counts())
    view.set_plan(plan(), counts())
    view.show()
    view.activateWindow()
    view.setFocus()
    qtbot.waitUntil(view.hasFocus)
    return view


def listed(view: BufferView) -> list[tuple[RowKind, int]]:
    """Kind and first message of each row."""
    rows = view.rows
    return [(RowKind(kind), int(first)) for kind, first in zip(rows.kinds, rows.first, strict=True)]


def click(qtbot: QtBot, view: BufferView, row: int, x: int = 300) -> None:
    """Click on a row."""
    place = QPoint(x, view.row_rect(row).center().y())
    qtbot.mouseClick(view.viewport(), Qt.MouseButton.LeftButton, pos=place)


def picture(view: BufferView, row: int) -> QImage:
    """A row as it is drawn."""
    return view.viewport().grab(view.row_rect(row)).toImage()


def grey(image: QImage) -> np.ndarray:
    """Its pixels without colour."""
    flat = image.convertToFormat(QImage.Format.Format_Grayscale8)
    data = np.frombuffer(flat.constBits(), dtype=np.uint8)
    return data.reshape(flat.height(), flat.bytesPerLine())[:, : flat.width()].astype(int)


class TestRows:
    def test_a_summarised_run_is_one_row_and_hides_its_summary(self) -> None:
        rows = build_rows(12, plan())
        assert list(rows.kinds[:4]) == [0, 0, RowKind.FOLD, 0]
        assert (rows.first[FOLD], rows.last[FOLD]) == (2, 5)
        assert len(rows) == 9
        assert [rows.row_of[index] for index in (1, 2, 5, 6)] == [1, FOLD, FOLD, 3]

    def test_an_open_run_shows_its_messages_and_last_what_stands_for_them(self) -> None:
        rows = build_rows(12, plan(), unfolded=frozenset({2}))
        kinds = [RowKind.FOLD, *[RowKind.MESSAGE] * 4, RowKind.INSERTED, RowKind.MESSAGE]
        assert list(rows.kinds[2:9]) == kinds
        assert list(rows.first[3:7]) == [2, 3, 4, 5]

    def test_a_summary_for_two_runs_is_a_row_of_its_own(self) -> None:
        verdicts = [K, S, S, K, S, S, *[K] * 6]
        entry = summary(before=6, stands_for=(1, 2, 4, 5))
        rows = build_rows(12, plan(verdicts, (entry,)))
        assert list(rows.kinds[:5]) == [0, RowKind.FOLD, 0, RowKind.FOLD, RowKind.INSERTED]
        assert list(rows.stand_in[:5]) == [NONE, NONE, NONE, NONE, 0]

    def test_one_summarised_message_is_not_folded(self) -> None:
        rows = build_rows(12, plan([K, K, S, *[K] * 9], (summary(before=3, stands_for=(2,)),)))
        assert list(rows.kinds[:4]) == [0, 0, 0, RowKind.INSERTED]

    def test_a_filtered_list_shows_its_messages_and_nothing_else(self) -> None:
        rows = build_rows(12, plan(), np.array([3, 7]))
        assert list(rows.first) == [3, 7]
        assert rows.row_of[2] == NONE
        assert rows.row_of[7] == 1

    def test_every_message_is_found_in_some_row_of_the_whole_list(self) -> None:
        for unfolded in (frozenset(), frozenset({2})):
            assert (build_rows(12, plan(), unfolded=unfolded).row_of != NONE).all()


class TestFolding:
    def test_a_click_on_the_triangle_opens_and_closes(self, qtbot: QtBot, view: BufferView) -> None:
        badge = 100
        click(qtbot, view, FOLD, badge)
        assert (RowKind.MESSAGE, 4) in listed(view)
        click(qtbot, view, FOLD, badge)
        assert (RowKind.MESSAGE, 4) not in listed(view)

    def test_keys_open_and_close(self, qtbot: QtBot, view: BufferView) -> None:
        click(qtbot, view, FOLD)
        qtbot.keyClick(view, Qt.Key.Key_Right)
        assert len(view.rows) == 14
        qtbot.keyClick(view, Qt.Key.Key_Down)
        qtbot.keyClick(view, Qt.Key.Key_Left)
        assert view.current_row == FOLD
        qtbot.keyClick(view, Qt.Key.Key_Return)
        assert len(view.rows) == 9

    def test_nothing_moves_while_dragging_and_all_is_right_after(self, view: BufferView) -> None:
        before = listed(view)
        view.set_dragging(True)
        view.set_plan(plan([K] * 12), counts())
        assert listed(view) == before
        assert "0 of them summarised" in view.spoken_row(FOLD)
        view.set_dragging(False)
        assert listed(view) == [(RowKind.MESSAGE, index) for index in range(12)]

    def test_the_selected_block_stays_where_it_is_when_folds_go(
        self, qtbot: QtBot, view: BufferView
    ) -> None:
        view.resize(760, 170)
        view.set_selected(8)
        qtbot.wait(1)
        top = view.row_rect(int(view.rows.row_of[8])).top()
        assert view.verticalScrollBar().value() > 0
        view.set_plan(plan([K] * 12), counts())
        assert view.row_rect(int(view.rows.row_of[8])).top() == top

    def test_a_message_in_a_fold_can_be_jumped_to(self, view: BufferView) -> None:
        view.set_selected(4)
        row = int(view.rows.row_of[4])
        assert view.rows.kinds[row] == RowKind.MESSAGE
        assert view.current_row == row


class TestKeys:
    def test_arrows_go_row_by_row_and_tell(self, qtbot: QtBot, view: BufferView) -> None:
        click(qtbot, view, 0)
        with qtbot.waitSignal(view.selected) as told:
            qtbot.keyClick(view, Qt.Key.Key_Down)
        assert told.args == [1]
        qtbot.keyClick(view, Qt.Key.Key_End)
        assert view.current_row == 8
        qtbot.keyClick(view, Qt.Key.Key_Down)
        assert view.current_row == 8
        qtbot.keyClick(view, Qt.Key.Key_Home)
        assert view.current_row == 0

    def test_page_down_moves_by_what_is_in_sight(self, qtbot: QtBot, view: BufferView) -> None:
        view.resize(760, 130)
        click(qtbot, view, 0)
        qtbot.keyClick(view, Qt.Key.Key_PageDown)
        assert 2 <= view.current_row <= 4
        assert view.row_rect(view.current_row).bottom() <= view.viewport().height()

    @pytest.mark.parametrize(
        ("key", "signal"),
        [
            (Qt.Key.Key_Space, "pin_toggled"),
            (Qt.Key.Key_P, "pin_toggled"),
            (Qt.Key.Key_R, "retrieved_toggled"),
            (Qt.Key.Key_Return, "activated"),
        ],
    )
    def test_keys_ask_for_things(
        self, qtbot: QtBot, view: BufferView, key: Qt.Key, signal: str
    ) -> None:
        view.set_selected(8)
        with qtbot.waitSignal(getattr(view, signal)) as told:
            qtbot.keyClick(view, key)
        assert told.args == [8]

    def test_brackets_go_round_the_lock_group(self, qtbot: QtBot, view: BufferView) -> None:
        view.set_selected(6)
        with qtbot.waitSignal(view.selected) as told:
            qtbot.keyClick(view, "]")
        assert told.args == [7]
        with qtbot.waitSignal(view.selected) as told:
            qtbot.keyClick(view, "]")
        assert told.args == [6]

    def test_the_menu_key_asks_at_the_row(self, qtbot: QtBot, view: BufferView) -> None:
        view.set_selected(7)
        event = QContextMenuEvent(QContextMenuEvent.Reason.Keyboard, QPoint(0, 0), QPoint(0, 0))
        with qtbot.waitSignal(view.context_menu) as told:
            QApplication.sendEvent(view.viewport(), event)
        assert told.args[0] == 7

    def test_selecting_from_outside_tells_nobody(self, qtbot: QtBot, view: BufferView) -> None:
        with qtbot.assertNotEmitted(view.selected):
            view.set_selected(8)
        assert view.current_row == int(view.rows.row_of[8])


class TestPointer:
    def test_hovering_names_the_message(self, qtbot: QtBot, view: BufferView) -> None:
        with qtbot.waitSignal(view.hovered) as told:
            qtbot.mouseMove(view.viewport(), view.row_rect(4).center())
        assert told.args == [int(view.rows.first[4])]

    def test_the_pin_at_the_edge_can_be_clicked(self, qtbot: QtBot, view: BufferView) -> None:
        with qtbot.waitSignal(view.pin_toggled) as told:
            click(qtbot, view, 5, view.viewport().width() - 8)
        assert told.args == [int(view.rows.first[5])]

    def test_a_synthetic_message_can_be_chosen(self, qtbot: QtBot, view: BufferView) -> None:
        click(qtbot, view, FOLD, 100)
        row = listed(view).index((RowKind.INSERTED, 6))
        with qtbot.waitSignal(view.synthetic_selected) as told:
            click(qtbot, view, row)
        assert told.args == [0]


class TestLooks:
    def test_every_state_differs_without_colour(self, view: BufferView) -> None:
        """The verdict cells of kept, evicted, cleared, truncated and summarised in grey."""
        cells = {}
        for name, row in {"kept": 0, "pinned": 1, "folded": FOLD, "evicted": 3}.items():
            cells[name] = grey(picture(view, row))[4:-4, -150:-30]
        names = list(cells)
        for number, one in enumerate(names):
            for other in names[number + 1 :]:
                assert np.abs(cells[one] - cells[other]).max() > 60, (one, other)

    def test_zone_bars_differ_without_colour(self, qapp: QApplication) -> None:
        shapes = []
        for zone in range(6):
            image = QImage(12, 28, QImage.Format.Format_RGB32)
            image.fill(QColor("white"))
            painter = QPainter(image)
            glyphs.draw_zone(painter, zone, QRectF(3, 2, 5, 24), QColor("#888888"), None)
            painter.end()
            shapes.append(grey(image))
        for number, one in enumerate(shapes):
            for other in shapes[number + 1 :]:
                assert (np.abs(one - other) > 40).sum() > 8

    def test_an_evicted_block_is_hatched(self, view: BufferView) -> None:
        title_free = slice(380, 480)
        kept = grey(picture(view, 0))[:, title_free]
        evicted = grey(picture(view, 3))[:, title_free]
        assert len(np.unique(kept)) == 1
        assert evicted.std() > 2

    def test_focus_draws_a_ring_round_the_block_and_nothing_else(
        self, qtbot: QtBot, view: BufferView
    ) -> None:
        view.set_selected(8)
        row = view.current_row
        focused = view.viewport().grab().toImage()
        view.clearFocus()
        plain = view.viewport().grab().toImage()
        different = np.argwhere(grey(focused) != grey(plain))
        rect = view.row_rect(row)
        assert len(different) > 100
        assert different[:, 0].min() >= rect.top()
        assert different[:, 0].max() <= rect.bottom()

    def test_a_tick_repaints_only_what_changed(self, qtbot: QtBot, view: BufferView) -> None:
        view.grab()
        verdicts = [*VERDICTS]
        verdicts[8] = E
        painted: list[QRect] = []
        paint = view.paintEvent

        def watch(event: QPaintEvent) -> None:
            painted.append(event.rect())
            paint(event)

        view.paintEvent = watch  # type: ignore[method-assign]
        view.set_plan(plan(verdicts, (summary(),)), counts())
        QApplication.processEvents()
        assert painted == [view.row_rect(int(view.rows.row_of[8]))]

    def test_a_bracket_shows_that_its_group_is_split(self, view: BufferView) -> None:
        """A plan that comes by a tick leaves the same picture as one from the beginning."""
        gutter = QRect(0, 0, 36, view.viewport().height())
        whole = view.viewport().grab(gutter).toImage()
        verdicts = [*VERDICTS]
        verdicts[6] = K
        view.set_plan(plan(verdicts, (summary(),)), counts())
        QApplication.processEvents()
        ticked = view.viewport().grab(gutter).toImage()
        assert ticked != whole
        error = QColor(theme.light().error).rgb()
        pixels = {ticked.pixel(x, y) for x in range(36) for y in range(ticked.height())}
        assert error in pixels

    def test_another_theme_equals_a_fresh_start(self, qtbot: QtBot, view: BufferView) -> None:
        app = QApplication.instance()
        assert isinstance(app, QApplication)
        light = view.grab().toImage()
        theme.apply(app, theme.dark())
        QApplication.processEvents()
        switched = view.grab().toImage()
        fresh = BufferView()
        qtbot.addWidget(fresh)
        fresh.resize(view.size())
        fresh.set_conversation(conversation(), counts())
        fresh.set_plan(plan(), counts())
        fresh.show()
        QApplication.processEvents()
        theme_image = fresh.grab().toImage()
        theme.apply(app, theme.light())
        assert switched != light
        assert switched == theme_image

    @pytest.mark.parametrize("width", [300, 420, 760, 1900])
    def test_columns_do_not_overlap_at_any_width(
        self, qtbot: QtBot, view: BufferView, width: int
    ) -> None:
        view.resize(width, 400)
        QApplication.processEvents()
        columns = view.row_painter().columns
        edges = [
            columns.zone,
            columns.index_right,
            columns.badge,
            columns.title,
            columns.title_right,
            columns.tokens_left,
            columns.tokens_right,
            columns.verdict,
            columns.pin,
            width,
        ]
        assert edges == sorted(edges)


class TestSpeech:
    def test_rows_are_items_of_a_list(self, view: BufferView) -> None:
        interface = QAccessible.queryAccessibleInterface(view)
        assert interface.role() == QAccessible.Role.List
        assert interface.childCount() == len(view.rows)
        item = interface.child(4)
        assert item.role() == QAccessible.Role.ListItem
        name = item.text(QAccessible.Text.Name)
        assert name.startswith("message 7, tool result read_file, 8,214 tokens, evicted")

    def test_estimates_and_unknown_content_are_said(self, view: BufferView) -> None:
        rows = view.rows
        assert "about 500 tokens" in view.spoken_row(int(rows.row_of[8]))
        assert "at least 60 tokens" in view.spoken_row(int(rows.row_of[10]))

    def test_a_fold_says_what_it_costs(self, view: BufferView) -> None:
        assert view.spoken_row(FOLD) == (
            "messages 2–5, 4 messages summarised, 600 to 80 tokens, "
            "one user message stands for them, folded"
        )


def test_a_filter_keeps_numbers_and_selection(qtbot: QtBot, view: BufferView) -> None:
    view.set_selected(7)
    view.set_visible([1, 7, 11])
    assert [first for _, first in listed(view)] == [1, 7, 11]
    assert view.current_row == 1
    view.set_visible(None)
    assert view.current_row == int(view.rows.row_of[7])


def test_a_filter_that_changes_while_dragging_waits(view: BufferView) -> None:
    view.set_dragging(True)
    view.set_visible([7])
    assert len(view.rows) == 9
    view.set_dragging(False)
    assert listed(view) == [(RowKind.MESSAGE, 7)]


def test_a_tool_tip_says_what_the_signs_mean(
    view: BufferView, monkeypatch: pytest.MonkeyPatch
) -> None:
    view.tooltip_for = lambda index: f"Survives from {index}."
    shown: list[str] = []
    monkeypatch.setattr(QToolTip, "showText", lambda place, text, *rest: shown.append(text))
    place = view.row_rect(int(view.rows.row_of[7])).center()
    event = QHelpEvent(QEvent.Type.ToolTip, place, view.viewport().mapToGlobal(place))
    QApplication.sendEvent(view.viewport(), event)
    assert shown == ["7 · tool result · middle · evicted\nSurvives from 7."]


def test_a_synthetic_message_may_stand_at_the_very_end(qtbot: QtBot, view: BufferView) -> None:
    note = summary(before=12, stands_for=())
    view.set_plan(plan([K] * 12, (note,)), counts())
    assert listed(view)[-1] == (RowKind.INSERTED, 12)
    qtbot.keyClick(view, Qt.Key.Key_End)
    view.set_plan(plan([*[K] * 11, E], (summary(before=12, stands_for=(), tokens=9),)), counts())
    view.grab()
    assert "9 tokens" in view.spoken_row(len(view.rows) - 1)
    assert view.current_row == len(view.rows) - 1


def test_an_empty_list_is_drawn_and_takes_keys(qtbot: QtBot, view: BufferView) -> None:
    view.set_visible([])
    view.grab()
    for key in (Qt.Key.Key_Down, Qt.Key.Key_End, Qt.Key.Key_Return, Qt.Key.Key_Space):
        qtbot.keyClick(view, key)
    view.set_conversation(None)
    view.grab()
    assert len(view.rows) == 0


def test_tool_tips_show_tags_and_do_not_obey_them(qapp: QApplication) -> None:
    evil = "<img src='file:///etc/hostname'> & <b>bold</b>"
    shown = QTextDocument()
    shown.setHtml(plain(evil))
    assert shown.toPlainText() == evil
    assert plain("2 < 3, no more") == "2 < 3, no more"
