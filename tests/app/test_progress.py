"""Long work: a bar that appears late, says no more than is known, and can be cancelled."""

from __future__ import annotations

import threading
from pathlib import Path

from PySide6.QtWidgets import QProgressBar, QPushButton
from pytestqt.qtbot import QtBot
from window_case import settle

from stm_inspector.app.main import _say_and_go_on
from stm_inspector.app.main_window import MainWindow
from stm_inspector.app.status_bar import PATIENCE, Progress
from stm_inspector.app.tasks import Cancelled, Job, Runner


def test_the_bar_comes_late_and_goes_with_cancel(qtbot: QtBot) -> None:
    runner: Runner[None] = Runner()
    progress = Progress(runner, "Counting tokens")
    qtbot.addWidget(progress)
    go, stopped = threading.Event(), threading.Event()

    def work(job: Job) -> None:
        job.progress(0.25)
        go.wait(10)
        if job.cancelled():
            stopped.set()
            raise Cancelled

    results: list[object] = []
    runner.start(work, results.append, results.append)
    assert not progress.isVisible()
    qtbot.waitUntil(progress.isVisible, timeout=PATIENCE + 5_000)
    bar = progress.findChild(QProgressBar)
    assert bar is not None
    qtbot.waitUntil(lambda: bar.value() == bar.maximum() // 4)
    cancel = progress.findChild(QPushButton)
    assert cancel is not None
    cancel.click()
    assert not progress.isVisible()
    go.set()
    runner.close()
    assert stopped.is_set()
    assert results == []


def test_short_work_shows_no_bar(qtbot: QtBot) -> None:
    runner: Runner[int] = Runner()
    progress = Progress(runner, "Counting tokens")
    qtbot.addWidget(progress)
    shown: list[bool] = []
    progress.appeared.connect(shown.append)
    results: list[object] = []
    runner.start(lambda _job: 1, results.append, results.append)
    qtbot.waitUntil(lambda: results == [1])
    qtbot.wait(PATIENCE + 50)
    assert True not in shown
    runner.close()


def test_cancelling_the_first_file_leads_back_to_the_welcome(
    window: MainWindow, qtbot: QtBot
) -> None:
    go = threading.Event()
    session = window.session

    def never(_job: Job) -> None:
        go.wait(10)

    session.opening.start(never, lambda _result: None, lambda _error: None)  # type: ignore[arg-type]
    assert window.pages.currentWidget() is window.loading
    cancel = window.loading.findChild(QPushButton)
    assert cancel is not None
    cancel.click()
    assert window.pages.currentWidget() is window.start
    go.set()


def test_a_file_opened_while_another_is_read_wins(
    window: MainWindow, qtbot: QtBot, chat: str, tmp_path: Path
) -> None:
    other = tmp_path / "other.json"
    other.write_text('[{"role": "user", "content": "hello"}]', "utf-8")
    window.open(chat)
    window.open(str(other))
    settle(window, qtbot)
    qtbot.wait(50)
    assert window.session.conversation is not None
    assert len(window.session.conversation.messages) == 1


def test_an_unforeseen_error_is_said_and_nothing_is_lost(opened: MainWindow, qtbot: QtBot) -> None:
    conversation = opened.session.conversation
    error = RuntimeError("<b>oops</b>")
    opened.activateWindow()
    said: list[str] = []
    opened.show_failure = said.append  # type: ignore[method-assign]
    _say_and_go_on(RuntimeError, error, None)
    assert opened.session.conversation is conversation
