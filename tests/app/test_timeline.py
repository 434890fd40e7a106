"""The timeline: any call by mouse and keys, the replay that follows, checkpoints in the window."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from PySide6.QtCore import QPoint, Qt
from pytestqt.qtbot import QtBot
from window_case import settle

from stm_inspector.app.main_window import MainWindow
from stm_inspector.app.timeline import Timeline
from stm_inspector.buffer.recorder import replay

LEFT = Qt.MouseButton.LeftButton


def timeline(window: MainWindow) -> Timeline:
    assert window.work is not None
    return window.work.timeline


def test_it_opens_on_the_last_call(opened: MainWindow) -> None:
    line = timeline(opened)
    assert line.isVisible()
    assert line.title.text() == "Call 4 of 4"
    assert (line.strip.minimum(), line.strip.maximum(), line.strip.value()) == (0, 3, 3)


def test_the_replay_is_the_one_of_the_engine(opened: MainWindow, qtbot: QtBot) -> None:
    session = opened.session
    session.set_budget(150)
    settle(opened, qtbot)
    assert session.replay is not None
    assert session.planner is not None
    again = replay(session.planner, session.settings)
    assert np.array_equal(session.replay.after, again.after)
    assert session.replay.budget == 150


def test_a_click_shows_the_call_in_the_whole_window(opened: MainWindow, qtbot: QtBot) -> None:
    strip = timeline(opened).strip
    qtbot.mouseClick(strip, LEFT, pos=QPoint(round(strip.x_of(1)), 30))
    settle(opened, qtbot)
    plan = opened.session.plan
    assert plan is not None
    assert (plan.call, plan.length) == (1, 5)
    assert timeline(opened).title.text() == "Call 2 of 4"
    assert opened.workbench.status._kept.text() == "5 of 5 messages kept"
    assert opened.work is not None
    assert len(opened.work.buffer._rows) == 9  # what comes later keeps its place


def test_scrubbing_goes_through_the_calls(opened: MainWindow, qtbot: QtBot) -> None:
    strip = timeline(opened).strip
    wanted: list[int] = []
    strip.call_wanted.connect(wanted.append)
    qtbot.mousePress(strip, LEFT, pos=QPoint(round(strip.x_of(0)), 30))
    for call in (1, 2):
        qtbot.mouseMove(strip, QPoint(round(strip.x_of(call)), 30))
    qtbot.mouseRelease(strip, LEFT, pos=QPoint(round(strip.x_of(2)), 30))
    assert wanted[0] == 0
    assert strip.call_at(-50) == 0
    assert strip.call_at(10_000) == 3


def test_keys_step_and_go_to_the_ends(opened: MainWindow, qtbot: QtBot) -> None:
    session = opened.session

    def call() -> int | None:
        settle(opened, qtbot)
        return session.settings.call

    strip = timeline(opened).strip
    for key, wanted in (
        (Qt.Key.Key_Left, 2),
        (Qt.Key.Key_Left, 1),
        (Qt.Key.Key_Home, 0),
        (Qt.Key.Key_Left, 0),
        (Qt.Key.Key_Right, 1),
        (Qt.Key.Key_PageUp, None),
    ):
        qtbot.keyClick(strip, key)
        assert call() == wanted
    for command, wanted in (("first-call", 0), ("next-call", 1), ("last-call", None)):
        opened.command_actions[command].trigger()
        assert call() == wanted
    opened.command_actions["next-call"].trigger()
    assert call() is None


def test_undo_leaves_the_call_that_is_looked_at(opened: MainWindow, qtbot: QtBot) -> None:
    session = opened.session
    session.set_budget(150)
    session.set_call(1)
    settle(opened, qtbot)
    session.undo_stack.undo()
    settle(opened, qtbot)
    assert session.settings.call == 1
    assert session.settings.budget.input != 150


def test_the_caption_says_what_happened(opened: MainWindow, qtbot: QtBot) -> None:
    opened.session.set_budget(150)
    settle(opened, qtbot)
    opened.session.set_call(0)
    settle(opened, qtbot)
    assert timeline(opened).caption.text().startswith("Everything is sent: ")
    opened.session.set_call(None)
    settle(opened, qtbot)
    text = timeline(opened).caption.text()
    assert "over the budget of 150." in text
    assert "Call 4 of 4, after 9 messages" in timeline(opened).strip.tip(3)


def test_a_single_call_has_no_timeline(window: MainWindow, qtbot: QtBot, tmp_path: Path) -> None:
    path = tmp_path / "one.json"
    path.write_text(json.dumps([{"role": "user", "content": "Hello."}]), "utf-8")
    window.open(str(path))
    settle(window, qtbot)
    assert not timeline(window).isVisible()


def test_it_folds_away_and_stays_so(
    make_window: Callable[[], MainWindow], qtbot: QtBot, chat: str
) -> None:
    window = make_window()
    window.open(chat)
    settle(window, qtbot)
    window.command_actions["timeline"].trigger()
    assert window.work is not None
    assert window.work.stack.sizes()[1] == 0
    window.close()
    again = make_window()
    again.open(chat)
    settle(again, qtbot)
    assert again.work is not None
    assert again.work.stack.sizes()[1] == 0
    again.command_actions["timeline"].trigger()
    assert again.work.stack.sizes()[1] > 0


def test_the_minimap_keeps_its_places_at_an_earlier_call(opened: MainWindow, qtbot: QtBot) -> None:
    assert opened.work is not None
    minimap = opened.work.minimap
    before = minimap.span_of(3, 3)
    opened.session.set_call(0)
    settle(opened, qtbot)
    assert minimap.span_of(3, 3) == before


def test_a_checkpoint_opens_to_the_same_window(
    opened: MainWindow, make_window: Callable[[], MainWindow], qtbot: QtBot, tmp_path: Path
) -> None:
    session = opened.session
    session.set_policy("summary")
    session.toggle_pin(5)
    session.toggle_retrieved(7)
    session.set_budget(150)
    session.set_call(2)
    session.select(3)
    settle(opened, qtbot)
    path = tmp_path / "mine.stm.json"
    opened.workbench.saver.save(str(path))
    other = make_window()
    other.open(str(path))
    settle(other, qtbot)
    assert session.plan is not None
    assert other.session.plan is not None
    assert other.session.plan.totals == session.plan.totals
    assert np.array_equal(other.session.plan.zones, session.plan.zones)
    assert np.array_equal(other.session.plan.pinned, session.plan.pinned)
    assert (other.session.plan.call, other.session.selection) == (2, 3)
    assert other.windowTitle().startswith("chat.json")


def test_a_bad_checkpoint_leaves_what_is_open(
    opened: MainWindow, qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    said: list[str] = []
    monkeypatch.setattr(opened, "show_failure", said.append)
    path = tmp_path / "bad.stm.json"
    path.write_text('{"kind": "stm-inspector checkpoint"}', "utf-8")
    opened.open(str(path))
    qtbot.waitUntil(lambda: bool(said))
    assert said == [
        "bad.stm.json is a damaged checkpoint ('version' is missing): save it again from the "
        "window."
    ]
    assert opened.session.conversation is not None


def test_the_detail_pane_says_when_a_message_first_left(opened: MainWindow, qtbot: QtBot) -> None:
    opened.session.select(3)
    opened.session.set_budget(150)
    settle(opened, qtbot)
    assert opened.work is not None
    detail = opened.work.detail
    assert detail._turn.text() == "turn 1 of 3 · call 2 of 4"
    assert detail.reason.history.text().startswith("First left at call 3 of 4: ")
    opened.session.set_budget(5_000)
    settle(opened, qtbot)
    assert not detail.reason.history.isVisible()


def test_a_log_too_long_to_replay_has_no_timeline(
    window: MainWindow, qtbot: QtBot, chat: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("stm_inspector.app.session.LARGEST_REPLAY", 5)
    window.open(chat)
    settle(window, qtbot)
    assert timeline(window).isHidden()
    assert window.session.replay is None
    window.command_actions["previous-call"].trigger()
    settle(window, qtbot)
    assert window.session.plan.call == window.session.plan.calls - 2
