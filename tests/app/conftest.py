"""A window of its own for every test, with preferences in a folder that goes away."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot
from window_case import CHAT, settle

from stm_inspector.app.main_window import MainWindow
from stm_inspector.app.preferences import Preferences


@pytest.fixture
def chat(tmp_path: Path) -> str:
    """A file that holds ``CHAT``."""
    path = tmp_path / "chat.json"
    path.write_text(json.dumps(CHAT), "utf-8")
    return str(path)


@pytest.fixture
def preferences(tmp_path: Path) -> Preferences:
    """Empty preferences of the test's own."""
    return Preferences(tmp_path / "preferences.ini")


@pytest.fixture
def make_window(qtbot: QtBot, preferences: Preferences) -> Iterator[Callable[[], MainWindow]]:
    """Makes windows and closes them, threads included, when the test is over."""
    made: list[MainWindow] = []

    def make() -> MainWindow:
        window = MainWindow(preferences)
        qtbot.addWidget(window)
        window.show()
        made.append(window)
        return window

    yield make
    for window in made:
        window.close()


@pytest.fixture
def window(make_window: Callable[[], MainWindow]) -> MainWindow:
    """An empty window."""
    return make_window()


@pytest.fixture
def opened(window: MainWindow, qtbot: QtBot, chat: str) -> MainWindow:
    """A window that shows ``CHAT``, counted and planned."""
    window.open(chat)
    settle(window, qtbot)
    return window
