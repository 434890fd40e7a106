"""The real window as a picture, without a display."""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from stm_inspector.buffer.policies import get_policy
from stm_inspector.buffer.settings import SettingError, Settings
from stm_inspector.conversation.errors import InputError

if TYPE_CHECKING:
    from PySide6.QtCore import QMessageLogContext, QtMsgType

    from stm_inspector.app.main_window import MainWindow

WIDTH, HEIGHT = 1440, 900
WAIT = 120_000
"""Milliseconds after which a picture is given up."""


def shoot(
    path: str,
    out: str,
    *,
    size: tuple[int, int] = (WIDTH, HEIGHT),
    theme: str = "light",
    format: str | None = None,
    number: int | None = None,
    settings: Settings | None = None,
    model: str | None = None,
    counter: str = "auto",
    select: int | None = None,
) -> None:
    """Open ``path`` in a window of ``size`` pixels, wait for the counts, and save a picture.

    Nothing of the user's own preferences is read or written. ``select`` is the message shown in
    the detail pane.

    Raises:
        InputError: ``path`` is no conversation, a setting makes no sense, or ``out`` cannot be
            written.
    """
    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    from PySide6.QtCore import qInstallMessageHandler

    from stm_inspector.app.choices import Choices
    from stm_inspector.app.decisions import sentence
    from stm_inspector.app.main import make_application
    from stm_inspector.app.main_window import MainWindow
    from stm_inspector.app.preferences import Preferences

    try:
        get_policy((settings or Settings()).policy)
    except SettingError as error:
        raise InputError(sentence(str(error))) from error
    make_application()
    previous = qInstallMessageHandler(_pass_on)
    with tempfile.TemporaryDirectory() as folder:
        preferences = Preferences(Path(folder) / "preferences.ini")
        preferences.theme = theme
        window = MainWindow(preferences, Choices(settings or Settings(), model, counter))
        window.resize(*size)
        window.show()
        try:
            window.open(path, format=format, number=number, settings=settings)
            _settle(window, path)
            window.session.select(select)
            _settle(window, path)
            picture = window.grab()
        finally:
            window.close()
            window.deleteLater()
            qInstallMessageHandler(previous)
    if not picture.save(out):
        raise InputError(
            f"{out} cannot be written as a picture: name it .png, in a folder that exists."
        )


def _pass_on(kind: QtMsgType, context: QMessageLogContext, text: str) -> None:
    """Print what Qt says, but for its remark that a picture has no size hints."""
    if "propagateSizeHints" not in text:
        print(text, file=sys.stderr)


def _settle(window: MainWindow, path: str) -> None:
    """Run the event loop until nothing is under way; raises what went wrong meanwhile."""
    from PySide6.QtCore import QEventLoop, QTimer

    failures: list[BaseException] = []
    loop = QEventLoop()

    def fail(text: str) -> None:
        failures.append(InputError(text))

    def look() -> None:
        if window.settled or failures:
            loop.quit()

    poll = QTimer(interval=20)
    poll.timeout.connect(look)
    poll.start()
    limit = QTimer(interval=WAIT, singleShot=True)
    limit.timeout.connect(lambda: fail(f"{path} takes too long to draw."))
    limit.start()
    before, sys.excepthook = sys.excepthook, lambda _kind, error, _trace: failures.append(error)
    window.show_failure = fail  # type: ignore[method-assign]
    try:
        loop.exec()
    finally:
        sys.excepthook = before
        # An exception that travels on would keep the timers, and they the window, alive.
        poll.stop()
        limit.stop()
    if failures:
        raise failures[0]
