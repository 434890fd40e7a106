"""Exporting from the window."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QFileDialog, QInputDialog
from pytestqt.qtbot import QtBot
from window_case import CHAT, settle

from stm_inspector.app import exporting
from stm_inspector.app.main_window import MainWindow
from stm_inspector.formats import get_format


@pytest.fixture
def target(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The file that the user chooses in the save dialog."""
    path = tmp_path / "out" / "trimmed.json"
    path.parent.mkdir()
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_arguments: (str(path), ""))
    return path


def make_naive(window: MainWindow, qtbot: QtBot) -> None:
    """Trim so that a tool result loses its call."""
    window.session.set_policy("sliding-window")
    window.session.set_option("protect", [])
    window.session.set_option("locks", False)
    window.session.set_option("max_messages", 6)
    settle(window, qtbot)


def answer(monkeypatch: pytest.MonkeyPatch, go_on: bool) -> list[str]:
    """Answer the question before an export; returns what was asked."""
    asked: list[str] = []

    def confirm(_parent: object, text: str, detail: str, _button: str) -> bool:
        asked.append(f"{text} {detail}")
        return go_on

    monkeypatch.setattr(exporting, "confirm", confirm)
    return asked


def test_kept_messages_are_written_as_they_were(
    opened: MainWindow, qtbot: QtBot, target: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = answer(monkeypatch, go_on=False)
    opened.session.set_budget(150)
    settle(opened, qtbot)
    opened.command_actions["export"].trigger()
    settle(opened, qtbot)
    kept = [CHAT[0], CHAT[1], *CHAT[5:]]
    assert json.loads(target.read_text("utf-8")) == kept
    assert not asked
    assert opened.preferences.folder == str(target.parent)


@pytest.mark.parametrize("go_on", [False, True])
def test_an_export_with_errors_asks_first(
    opened: MainWindow, qtbot: QtBot, target: Path, monkeypatch: pytest.MonkeyPatch, go_on: bool
) -> None:
    make_naive(opened, qtbot)
    asked = answer(monkeypatch, go_on)
    opened.command_actions["export"].trigger()
    settle(opened, qtbot)
    assert len(asked) == 1
    assert target.exists() is go_on


def test_the_recording_itself_is_never_overwritten(
    opened: MainWindow, qtbot: QtBot, chat: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_arguments: (chat, ""))
    failures: list[str] = []
    opened.show_failure = failures.append  # type: ignore[method-assign]
    before = Path(chat).read_bytes()
    opened.command_actions["export"].trigger()
    settle(opened, qtbot)
    assert len(failures) == 1
    assert "never overwritten" in failures[0]
    assert Path(chat).read_bytes() == before


def test_a_folder_that_cannot_be_written_is_one_sentence(
    opened: MainWindow, qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lost = str(tmp_path / "no such folder" / "out.json")
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_arguments: (lost, ""))
    failures: list[str] = []
    opened.show_failure = failures.append  # type: ignore[method-assign]
    opened.command_actions["export"].trigger()
    settle(opened, qtbot)
    assert len(failures) == 1
    assert "out.json" in failures[0]


def test_the_clipboard_gets_the_same_text(
    opened: MainWindow, qtbot: QtBot, target: Path, make_window: Callable[[], MainWindow]
) -> None:
    opened.session.set_budget(150)
    settle(opened, qtbot)
    opened.command_actions["export"].trigger()
    settle(opened, qtbot)
    opened.command_actions["copy-export"].trigger()
    settle(opened, qtbot)
    assert QGuiApplication.clipboard().text() == target.read_text("utf-8")
    again = make_window()
    again.open(str(target))
    settle(again, qtbot)
    assert again.session.conversation is not None
    assert len(again.session.conversation.messages) == 6


def test_exporting_as_another_api_says_what_changes(
    opened: MainWindow, qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "out.json"
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_arguments: (str(out), ""))
    monkeypatch.setattr(
        QInputDialog, "getItem", lambda _window, _title, _text, names, *_more: (names[3], True)
    )
    opened.command_actions["export-as"].trigger()
    qtbot.waitUntil(out.exists)
    assert "contents" in json.loads(out.read_text())


def test_a_file_can_be_opened_as_a_format_of_the_users_choice(
    window: MainWindow, qtbot: QtBot, chat: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(QFileDialog, "getOpenFileName", lambda *_arguments: (chat, ""))
    wanted = get_format("anthropic-messages").title
    monkeypatch.setattr(QInputDialog, "getItem", lambda *_arguments: (wanted, True))
    window.command_actions["open-as"].trigger()
    qtbot.waitUntil(lambda: window.session.recording is not None)
    assert window.session.recording.format == "anthropic-messages"
