"""The real window, driven by real events."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtCore import QMimeData, QPoint, QPointF, Qt, QUrl
from PySide6.QtGui import QDropEvent, QGuiApplication, QKeySequence
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractSpinBox,
    QApplication,
    QCheckBox,
    QComboBox,
    QLabel,
    QLineEdit,
    QMessageBox,
    QWidget,
)
from pytestqt.qtbot import QtBot
from window_case import settle

from stm_inspector.app import theme
from stm_inspector.app.actions import COMMANDS, MENUS
from stm_inspector.app.main_window import MainWindow
from stm_inspector.app.preferences import Preferences
from stm_inspector.app.work_area import WorkArea
from stm_inspector.buffer.budget import Budget
from stm_inspector.buffer.plan import Verdict


def panes(window: MainWindow) -> WorkArea:
    assert window.work is not None
    return window.work


def press(qtbot: QtBot, widget: QWidget, keys: str) -> None:
    """Press a shortcut on the widget."""
    combination = QKeySequence(keys)[0]
    qtbot.keyClick(widget, combination.key(), combination.keyboardModifiers())


def test_the_empty_window_welcomes(window: MainWindow) -> None:
    assert window.pages.currentWidget() is window.start
    samples = [card for card in window.start.findChildren(QAbstractButton) if card.isVisible()]
    assert any("sample" in card.accessibleName() for card in samples)


def test_a_bundled_sample_opens_at_a_click(window: MainWindow, qtbot: QtBot) -> None:
    cards = window.start.findChildren(QAbstractButton)
    card = next(card for card in cards if card.accessibleName().startswith("Open the sample"))
    qtbot.mouseClick(card, Qt.MouseButton.LeftButton)
    settle(window, qtbot)
    assert window.pages.currentWidget() is window.work
    assert window.session.conversation is not None
    assert not window.preferences.recent  # a sample is not one of the user's files


def test_dragging_the_budget_handle_plans_and_is_one_undo(opened: MainWindow, qtbot: QtBot) -> None:
    session, bar = opened.session, panes(opened).budget.bar
    handle = bar.handles["budget"]
    before = session.settings.budget.input
    centre = handle.rect().center()
    qtbot.mousePress(handle, Qt.MouseButton.LeftButton, pos=centre)
    for step in range(1, 6):
        place = handle.mapFrom(bar, QPoint(bar.width() - 140 * step, bar.height() // 2))
        qtbot.mouseMove(handle, place)
    qtbot.mouseRelease(handle, Qt.MouseButton.LeftButton)
    settle(opened, qtbot)
    assert session.settings.budget.input < before
    assert session.undo_stack.count() == 1
    assert panes(opened).budget.budget.value() == session.settings.budget.input
    press(qtbot, opened, "Ctrl+Z")
    assert session.settings.budget.input == before


def test_typing_a_budget_evicts_and_the_list_shows_it(opened: MainWindow, qtbot: QtBot) -> None:
    box = panes(opened).budget.budget
    box.setFocus()
    box.selectAll()
    qtbot.keyClicks(box, "150")
    qtbot.keyClick(box, Qt.Key.Key_Return)
    settle(opened, qtbot)
    plan = opened.session.plan
    assert plan is not None
    assert plan.decision.verdicts[3] == Verdict.EVICT
    opened.session.select(3)
    settle(opened, qtbot)
    detail = panes(opened).detail
    assert detail.reason.word.text() == "Evicted"
    survives = opened.session.survives_from(3)
    assert survives is not None
    assert f"{survives:,}" in detail.reason.survives.text()
    qtbot.mouseClick(detail.reason.survives, Qt.MouseButton.LeftButton)
    settle(opened, qtbot)
    assert opened.session.settings.budget.input == survives
    assert detail.reason.word.text() == "Kept"


def test_an_evicted_block_says_which_budget_keeps_it(opened: MainWindow, qtbot: QtBot) -> None:
    opened.session.set_budget(150)
    settle(opened, qtbot)
    survives = opened.session.survives_from(3)
    assert f"Survives from a budget of {survives:,}." in panes(opened).tooltip(3)
    assert "Survives" not in panes(opened).tooltip(8)


def test_keys_select_pin_and_undo(opened: MainWindow, qtbot: QtBot) -> None:
    buffer = panes(opened).buffer
    buffer.setFocus()
    for _step in range(3):
        qtbot.keyClick(buffer, Qt.Key.Key_Down)
    chosen = opened.session.selection
    assert chosen is not None
    qtbot.keyClick(buffer, Qt.Key.Key_Space)
    assert opened.session.settings.pins == {chosen}
    press(qtbot, opened, "Ctrl+Z")
    assert not opened.session.settings.pins
    press(qtbot, opened, "Ctrl+K")
    assert opened.session.settings.pins == {chosen}


def test_links_lead_to_the_group_partners(opened: MainWindow, qtbot: QtBot) -> None:
    opened.session.select(3)
    buttons = panes(opened).detail.findChildren(QAbstractButton)
    partner = next(button for button in buttons if button.text() == "#4")
    qtbot.mouseClick(partner, Qt.MouseButton.LeftButton)
    assert opened.session.selection == 4


def test_find_from_the_keyboard(opened: MainWindow, qtbot: QtBot) -> None:
    press(qtbot, opened, "Ctrl+F")
    field = opened.workbench.header.find_field
    qtbot.keyClicks(field, "flour")
    settle(opened, qtbot)
    assert opened.session.matches.tolist() == [2, 3, 4, 5]
    assert opened.session.selection == 2
    qtbot.keyClick(field, Qt.Key.Key_Return)
    assert opened.session.selection == 3
    press(qtbot, opened, "Shift+F3")
    assert opened.session.selection == 2
    labels = [label.text() for label in panes(opened).filter.findChildren(QLabel)]
    assert any("match 1 of 4" in text for text in labels)
    qtbot.keyClick(field, Qt.Key.Key_Escape)
    settle(opened, qtbot)
    assert not opened.session.matches.size


def test_the_filter_row_shows_how_many_of_how_many(opened: MainWindow, qtbot: QtBot) -> None:
    row = panes(opened).filter
    choosers = {chooser.accessibleName(): chooser for chooser in row.findChildren(QComboBox)}
    role = choosers["Filter by role"]
    role.setCurrentIndex(role.findText("User"))
    role.activated.emit(role.currentIndex())
    assert opened.session.visible is not None
    assert any(label.text() == "3 of 9 messages" for label in row.findChildren(QLabel))
    press(qtbot, opened, "Ctrl+Shift+L")
    assert opened.session.visible is None
    assert role.currentIndex() == 0
    tools = choosers["Filter by tool"]
    assert [tools.itemText(place) for place in range(tools.count())] == [
        "Every tool",
        "check_pantry",
        "read_recipe",
    ]


def test_every_setting_of_every_policy_has_an_editor(opened: MainWindow, qtbot: QtBot) -> None:
    panel = panes(opened).settings
    for policy in ("full", "sliding-window", "head-tail", "token-budget", "summary"):
        opened.session.set_policy(policy)
        settle(opened, qtbot)
        assert set(panel.fields) == set(opened.session.options())


def test_settings_are_edited_undone_and_reset(opened: MainWindow, qtbot: QtBot) -> None:
    opened.session.set_policy("sliding-window")
    panel = panes(opened).settings
    box = panel.fields["max_messages"].findChild(QAbstractSpinBox)
    assert box is not None
    box.setFocus()
    box.selectAll()
    qtbot.keyClicks(box, "2")
    qtbot.keyClick(box, Qt.Key.Key_Return)
    assert opened.session.options()["max_messages"] == 2
    locks = panel.fields["locks"].findChild(QCheckBox)
    assert locks is not None
    locks.click()
    assert opened.session.options()["locks"] is False
    panel.reset.click()
    assert opened.session.options()["max_messages"] == 20
    assert opened.session.options()["locks"] is True
    opened.session.undo_stack.undo()
    assert opened.session.options()["max_messages"] == 2
    assert not locks.isChecked()


def test_naive_trimming_lists_the_orphan_and_jumps_to_it(opened: MainWindow, qtbot: QtBot) -> None:
    session, detail = opened.session, panes(opened).detail
    session.set_policy("sliding-window")
    session.set_option("protect", [])
    session.set_option("locks", False)
    session.set_option("max_messages", 6)
    settle(opened, qtbot)
    assert session.plan is not None
    orphans = [problem for problem in session.plan.problems if problem.index is not None]
    assert orphans
    assert "Problems" in detail.tabs.tabText(detail.tabs.indexOf(detail.problems))
    press(qtbot, opened, "F8")
    assert session.selection == detail.problems.chosen.index  # type: ignore[union-attr]


def test_a_broken_file_says_so_in_plain_text(
    opened: MainWindow, qtbot: QtBot, tmp_path: Path
) -> None:
    broken = tmp_path / "<b>bold<b>.json"
    broken.write_text("", "utf-8")
    before = opened.session.conversation
    opened.open(str(broken))
    qtbot.waitUntil(lambda: opened.findChild(QMessageBox, "failure") is not None)
    box = opened.findChild(QMessageBox, "failure")
    assert box is not None
    assert box.textFormat() is Qt.TextFormat.PlainText
    assert "<b>" in box.text()
    box.close()
    assert opened.session.conversation is before


def test_no_label_ever_reads_text_as_html(opened: MainWindow, qtbot: QtBot) -> None:
    opened.session.select(3)
    settle(opened, qtbot)
    for label in opened.findChildren(QLabel):
        assert label.textFormat() is Qt.TextFormat.PlainText or not label.text(), label.text()


def test_every_control_has_an_accessible_name(opened: MainWindow) -> None:
    kinds = (QAbstractButton, QComboBox, QLineEdit, QAbstractSpinBox)
    nameless = []
    for widget in opened.findChildren(QWidget):
        inner = isinstance(widget.parent(), QComboBox | QAbstractSpinBox)
        own = not widget.objectName().startswith("qt_") and not inner
        if isinstance(widget, kinds) and own and widget.focusPolicy() != Qt.FocusPolicy.NoFocus:
            text = widget.text() if isinstance(widget, QAbstractButton) else ""
            if not (widget.accessibleName() or text):
                nameless.append(widget)
    assert not nameless


def test_every_command_is_in_a_menu_and_no_shortcut_is_used_twice(opened: MainWindow) -> None:
    assert {command.menu for command in COMMANDS} <= set(MENUS)
    in_menus = {
        action.objectName() for menu in opened.menus.by_title.values() for action in menu.actions()
    }
    assert {command.id for command in COMMANDS} <= in_menus
    keys = [
        key.toString()
        for menu in opened.menus.by_title.values()
        for action in menu.actions()
        for key in action.shortcuts()
    ]
    assert len(keys) == len(set(keys))


def test_commands_on_a_file_are_off_without_one(window: MainWindow) -> None:
    for command in COMMANDS:
        assert window.command_actions[command.id].isEnabled() is not command.needs_file


def test_the_theme_switches_while_running_and_is_remembered(
    opened: MainWindow, preferences: Preferences
) -> None:
    opened.choose_theme("dark")
    assert theme.current().dark
    assert preferences.theme == "dark"
    dark = opened.grab().toImage().pixelColor(opened.width() - 20, opened.height() // 2)
    opened.choose_theme("light")
    light = opened.grab().toImage().pixelColor(opened.width() - 20, opened.height() // 2)
    assert dark.lightness() < 90 < 200 < light.lightness()


def test_recent_files_are_listed_grey_when_gone_and_cleared(
    opened: MainWindow, qtbot: QtBot, chat: str, tmp_path: Path
) -> None:
    assert opened.preferences.recent == (str(Path(chat).resolve()),)
    gone = tmp_path / "gone.json"
    opened.preferences.add_recent(str(gone))
    opened.menus.show_recent(opened.preferences.recent)
    entries = opened.menus.recent.actions()
    assert [entry.isEnabled() for entry in entries[:2]] == [False, True]
    assert "gone" in entries[0].text()
    entries[-1].trigger()
    assert opened.preferences.recent == ()


def test_a_dropped_file_opens(window: MainWindow, qtbot: QtBot, chat: str) -> None:
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile(chat)])
    event = QDropEvent(
        QPointF(50, 50),
        Qt.DropAction.CopyAction,
        data,
        Qt.MouseButton.LeftButton,
        Qt.KeyboardModifier.NoModifier,
    )
    window.dropEvent(event)
    settle(window, qtbot)
    assert window.session.conversation is not None


def test_settings_and_splitters_come_back(
    opened: MainWindow, make_window: Callable[[], MainWindow], qtbot: QtBot, chat: str
) -> None:
    opened.session.set_policy("head-tail")
    opened.session.set_option("max_messages", 3)
    opened.session.set_reserve("reply", 1_234)
    opened.session.set_budget(4_321)
    opened.session.toggle_pin(3)
    opened.close()
    again = make_window()
    assert again.session.settings.policy == "head-tail"
    assert again.session.options()["max_messages"] == 3
    assert again.session.settings.budget == Budget(reply=1_234)
    assert not again.session.settings.pins


def test_copy_as_text_and_as_json(opened: MainWindow, qtbot: QtBot) -> None:
    panes(opened).buffer.setFocus()
    opened.session.select(1)
    press(qtbot, opened, "Ctrl+C")
    assert QGuiApplication.clipboard().text() == "Bake a rye loaf for Sunday. No sesame, please."
    press(qtbot, opened, "Ctrl+Shift+C")
    assert json.loads(QGuiApplication.clipboard().text())["role"] == "user"


@pytest.mark.parametrize("size", [(1024, 600), (1440, 900)])
def test_it_fits_small_and_large_screens(opened: MainWindow, size: tuple[int, int]) -> None:
    opened.resize(*size)
    assert (opened.width(), opened.height()) == size


@pytest.mark.parametrize("policy", ["token-budget", "summary"])
def test_tab_goes_through_the_settings_from_top_to_bottom(
    opened: MainWindow, qtbot: QtBot, policy: str
) -> None:
    opened.session.set_policy(policy)
    settle(opened, qtbot)
    panel = panes(opened).settings
    panel.setFocus()
    reached: list[QWidget] = []
    for _step in range(40):
        qtbot.keyClick(QApplication.focusWidget() or panel, Qt.Key.Key_Tab)
        focus = QApplication.focusWidget()
        if focus is None or not panel.isAncestorOf(focus):
            break
        reached.append(focus)
    heights = [widget.mapTo(opened, QPoint(0, 0)).y() for widget in reached]
    assert len(reached) >= 12
    assert reached[-1] is panel.reset
    scroll = panel.verticalScrollBar()
    if scroll.maximum() == 0:
        assert heights == sorted(heights)


def test_a_file_of_several_conversations_offers_them(
    window: MainWindow, qtbot: QtBot, tmp_path: Path
) -> None:
    file = tmp_path / "two.jsonl"
    bodies = [
        {"model": "gpt-4o", "messages": [{"role": "user", "content": text}] * number}
        for text, number in (("first", 1), ("second", 2))
    ]
    file.write_text("\n".join(map(json.dumps, bodies)), "utf-8")
    window.open(str(file), number=0)
    settle(window, qtbot)
    session = window.session
    assert session.conversation is not None
    assert len(session.conversation.messages) == 1
    picker = next(
        chooser
        for chooser in window.workbench.header.findChildren(QComboBox)
        if chooser.accessibleName() == "Conversation of the file"
    )
    assert picker.isVisible()
    assert picker.count() == 2
    picker.setCurrentIndex(1)
    picker.activated.emit(1)
    settle(window, qtbot)
    assert len(session.conversation.messages) == 2


def test_tab_goes_round_the_whole_window_and_is_never_trapped(
    opened: MainWindow, qtbot: QtBot
) -> None:
    panes(opened).buffer.setFocus()
    reached: set[QWidget] = set()
    for _step in range(120):
        focus = QApplication.focusWidget()
        assert focus is not None
        reached.add(focus)
        qtbot.keyClick(focus, Qt.Key.Key_Tab)
    area = panes(opened)
    for pane in (opened.workbench.header, area.budget, area.settings, area.filter, area.detail):
        assert any(pane.isAncestorOf(widget) for widget in reached), pane
    assert area.buffer in reached
