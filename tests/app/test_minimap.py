"""The minimap: heights by tokens, looks by verdict, and scrolling with it."""

from __future__ import annotations

import numpy as np
import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QColor
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot
from scene import E, K, conversation, counts, plan

from stm_inspector.app import theme
from stm_inspector.app.buffer_view import BufferView
from stm_inspector.app.minimap import Minimap


@pytest.fixture
def minimap(qtbot: QtBot, qapp: QApplication) -> Minimap:
    """A minimap 414 high, 400 of it for messages."""
    theme.apply(qapp, theme.light())
    minimap = Minimap()
    qtbot.addWidget(minimap)
    minimap.resize(32, 414)
    minimap.set_plan(plan(), counts())
    minimap.show()
    return minimap


def colours(minimap: Minimap, index: int) -> set[str]:
    """The colours inside a block."""
    image = minimap.grab().toImage()
    top, bottom = minimap.span_of(index, index)
    return {
        QColor(image.pixel(x, y)).name()
        for x in range(9, 22)
        for y in range(int(top) + 2, int(bottom) - 2)
    }


def test_the_largest_message_is_the_highest(minimap: Minimap) -> None:
    heights = [np.subtract(*minimap.span_of(n, n)[::-1]) for n in range(12)]
    assert int(np.argmax(heights)) == 7
    assert sum(heights) == pytest.approx(400)
    assert min(heights) > 2


def test_every_height_leads_to_its_message(minimap: Minimap) -> None:
    for index in range(12):
        top, bottom = minimap.span_of(index, index)
        assert minimap.message_at((top + bottom) / 2) == index
    assert minimap.message_at(-5) == 0
    assert minimap.message_at(500) == 11


def test_what_is_not_sent_is_pale_and_hatched(minimap: Minimap) -> None:
    evicted = colours(minimap, 7)
    minimap.set_plan(plan([K] * 12), counts())
    kept = colours(minimap, 7)
    assert kept == {theme.light().zone(3).name()}
    assert len(evicted) == 2
    assert not evicted & kept


def test_a_click_scrolls_the_list_there(qtbot: QtBot, qapp: QApplication) -> None:
    view = BufferView()
    minimap = Minimap(view)
    for widget in (view, minimap):
        qtbot.addWidget(widget)
        widget.show()
    view.resize(700, 120)
    minimap.resize(32, 414)
    view.set_conversation(conversation(), counts())
    view.set_plan(plan([K, *[E] * 11]), counts())
    minimap.set_plan(plan([K, *[E] * 11]), counts())
    top, bottom = minimap.span_of(7, 7)
    place = QPoint(16, int((top + bottom) / 2))
    qtbot.mouseClick(minimap, Qt.MouseButton.LeftButton, pos=place)
    rect = view.row_rect(int(view.rows.row_of[7]))
    assert rect.top() >= 0
    assert rect.bottom() <= view.viewport().height()


def test_without_a_plan_it_is_empty(minimap: Minimap) -> None:
    minimap.set_plan(None)
    minimap.grab()
    assert minimap.message_at(100) is None
