"""The program with a window: sets Qt up, shows the window, and never loses an error."""

from __future__ import annotations

import logging
import sys
import traceback
from types import TracebackType

from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QApplication

_SWITCH = 0.0005
"""Seconds that a thread may keep the interpreter from the others; Python's own choice is 0.005."""

_log = logging.getLogger(__name__)


def run(
    path: str | None = None,
    *,
    format: str | None = None,
    number: int | None = None,
) -> int:
    """Show the window, on ``path`` if given, until the user closes it; returns the exit code.

    Args:
        path: a recorded conversation.
        format: id of the format to read it as; None finds out.
        number: which conversation of the file, counted from 0.
    """
    app = make_application()
    from stm_inspector.app.main_window import MainWindow

    window = MainWindow()
    sys.excepthook = _say_and_go_on
    if path is not None:
        window.announce(path)
    window.show()
    if path is not None:
        window.once_painted(lambda: window.open(path, format=format, number=number))
    return app.exec()


def make_application() -> QApplication:
    """The application object, the one there is or a new one."""
    existing = QApplication.instance()
    if isinstance(existing, QApplication):
        return existing
    QGuiApplication.setHighDpiScaleFactorRoundingPolicy(
        Qt.HighDpiScaleFactorRoundingPolicy.PassThrough
    )
    # Each call into Qt gives the interpreter away: while a file is counted in another thread,
    # painting the window would wait for it a hundred times.
    sys.setswitchinterval(_SWITCH)
    app = QApplication(["stm-inspector"])
    app.setApplicationName("STM Inspector")
    app.setDesktopFileName("stm-inspector")
    return app


def _say_and_go_on(
    kind: type[BaseException], error: BaseException, trace: TracebackType | None
) -> None:
    """Show an unforeseen error in a dialog and keep the window: what is open is not lost."""
    if issubclass(kind, KeyboardInterrupt):
        QApplication.quit()
        return
    _log.error("unforeseen error", exc_info=(kind, error, trace))
    sys.stderr.write("".join(traceback.format_exception(kind, error, trace)))
    from stm_inspector.app.dialogs import show_failure

    show_failure(
        QApplication.activeWindow(),
        f"Something went wrong inside the program ({kind.__name__}: {error}). What is open is "
        "still there; please report what you did and what the terminal says.",
    )
