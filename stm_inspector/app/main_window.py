"""The main window: its frame, pages, theme and files. What it shows of a file is the workbench.

The workbench, and with it the engine, is imported after the first picture is on the screen.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QSize, Qt, QTimer
from PySide6.QtGui import (
    QCloseEvent,
    QDragEnterEvent,
    QDropEvent,
    QGuiApplication,
    QPaintEvent,
)
from PySide6.QtWidgets import (
    QApplication,
    QFileDialog,
    QMainWindow,
    QStackedWidget,
    QVBoxLayout,
    QWidget,
)

from stm_inspector.app import theme
from stm_inspector.app.actions import Actions
from stm_inspector.app.loading_page import LoadingPage
from stm_inspector.app.menus import Menus
from stm_inspector.app.preferences import Preferences
from stm_inspector.app.start_page import StartPage
from stm_inspector.app.window_style import window_style
from stm_inspector.conversation.visible import visible
from stm_inspector.paths import resource

if TYPE_CHECKING:
    from stm_inspector.app.choices import Choices
    from stm_inspector.app.session import Session
    from stm_inspector.app.work_area import WorkArea
    from stm_inspector.app.workbench import Workbench
    from stm_inspector.buffer.settings import Settings

SIZE = QSize(1440, 900)
FRAME = QSize(8, 36)
"""About what a window manager draws around a window, in pixels."""


class MainWindow(QMainWindow):
    """One window. ``workbench`` is made when it is first needed, or after the first picture."""

    def __init__(
        self, preferences: Preferences | None = None, choices: Choices | None = None
    ) -> None:
        super().__init__()
        self.preferences = preferences or Preferences()
        self._choices = choices
        self._waiting: Callable[[], object] | None = lambda: self.workbench
        self.command_actions = Actions(self, self._run)
        self.menus = Menus(self, self.command_actions)
        self.start = StartPage()
        self.loading = LoadingPage()
        self.pages = QStackedWidget()
        self.pages.addWidget(self.start)
        self.pages.addWidget(self.loading)
        self._column = QVBoxLayout()
        self._column.setContentsMargins(0, 0, 0, 0)
        self._column.setSpacing(0)
        self._column.addWidget(self.pages, 1)
        body = QWidget()
        body.setLayout(self._column)
        self.setCentralWidget(body)
        self.setWindowTitle("STM Inspector")
        self.setAcceptDrops(True)
        self.command_actions.set_file_open(False)
        self._connect()
        self.apply_theme(self.preferences.theme)
        self._restore()

    def _connect(self) -> None:
        self.menus.recent_chosen.connect(self.open)
        self.menus.recent_cleared.connect(self._clear_recent)
        self.menus.theme_chosen.connect(self.choose_theme)
        self.start.open_wanted.connect(lambda: self.choose_file())
        self.start.file_chosen.connect(self.open)
        QGuiApplication.styleHints().colorSchemeChanged.connect(self._follow_system)

    @cached_property
    def workbench(self) -> Workbench:
        """The session and all that shows it."""
        from stm_inspector.app.workbench import Workbench

        return Workbench(self, self._choices)

    @property
    def session(self) -> Session:
        """The state of the window."""
        return self.workbench.session

    @property
    def work(self) -> WorkArea | None:
        """The panes; None until they are made."""
        return self.workbench.work

    @property
    def settled(self) -> bool:
        """A file is shown and nothing is under way."""
        return self.workbench.settled

    def place(self, header: QWidget, foot: QWidget) -> None:
        """Put the workbench's rows above and below the pages."""
        self._column.insertWidget(0, header)
        self._column.addWidget(foot)

    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        if self._waiting is not None:
            waiting, self._waiting = self._waiting, None
            QTimer.singleShot(0, waiting)

    def once_painted(self, act: Callable[[], object]) -> None:
        """Run ``act`` as soon as the first picture is on the screen."""
        self._waiting = act

    def _run(self, command: str) -> None:
        """Carry out a command of the table."""
        if command == "open":
            self.choose_file()
        elif command == "open-as":
            self.choose_format()
        elif command == "quit":
            self.close()
        elif command == "full-screen":
            self._toggle_full_screen()
        elif command == "shortcuts":
            self._show_shortcuts()
        elif command == "about":
            self._show_about()
        else:
            self.workbench.run(command)

    def _show_shortcuts(self) -> None:
        from stm_inspector.app.dialogs import ShortcutsDialog

        ShortcutsDialog(self).show()

    def _show_about(self) -> None:
        from stm_inspector.app.dialogs import show_about

        show_about(self)

    def show_failure(self, text: str) -> None:
        """Say in a dialog what did not work."""
        from stm_inspector.app.dialogs import show_failure

        show_failure(self, text)

    # Files

    def announce(self, path: str) -> None:
        """Show that ``path`` is about to be read."""
        self.loading.set_name(visible(Path(path).name, keep=""))
        if self.pages.currentWidget() is self.start:
            self.pages.setCurrentWidget(self.loading)

    def open(
        self,
        path: str,
        *,
        format: str | None = None,
        number: int | None = None,
        settings: Settings | None = None,
    ) -> None:
        """Open a file; what is open stays until the new one is there."""
        if path:
            self.loading.set_name(visible(Path(path).name, keep=""))
            self.session.open(path, format=format, number=number, settings=settings)

    def choose_format(self) -> None:
        """Let the user say which format a file is in, then choose the file."""
        from stm_inspector.app.dialogs import choose
        from stm_inspector.formats import all_formats

        found = sorted(all_formats(), key=lambda known: known.title.casefold())
        place = choose(self, "Open as", "The file is", [known.title for known in found])
        if place is not None:
            self.choose_file(found[place].id)

    def choose_file(self, format: str | None = None) -> None:
        """Let the user choose a file to open, in ``format`` where it is said which it is."""
        chosen, _kind = QFileDialog.getOpenFileName(
            self,
            "Open a recorded conversation",
            self.preferences.folder,
            "All files (*);;JSON (*.json *.jsonl)",
        )
        self.open(chosen, format=format)

    def remember_opened(self, path: str) -> None:
        """Name the window after ``path`` and put it first in the list of recent files."""
        self.setWindowTitle(f"{visible(Path(path).name, keep='')} – STM Inspector")
        whole = Path(path).resolve()
        if not whole.is_relative_to(resource("samples").resolve()):
            self.preferences.add_recent(str(whole))
            self.preferences.folder = str(whole.parent)
            self._show_recent()

    def _show_recent(self) -> None:
        self.menus.show_recent(self.preferences.recent)
        self.start.show_recent(self.preferences.recent)

    def _clear_recent(self) -> None:
        self.preferences.recent = ()
        self._show_recent()

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        if _dropped(event):
            event.acceptProposedAction()

    def dropEvent(self, event: QDropEvent) -> None:
        path = _dropped(event)
        if path:
            event.acceptProposedAction()
            self.open(path)

    # Looks

    def _toggle_full_screen(self) -> None:
        if self.isFullScreen():
            self.showNormal()
        else:
            self.showFullScreen()

    def choose_theme(self, name: str) -> None:
        """Use and remember "system", "light" or "dark"."""
        self.preferences.theme = name
        self.apply_theme(name)

    def apply_theme(self, name: str) -> None:
        """Use "system", "light" or "dark"."""
        app = QApplication.instance()
        assert isinstance(app, QApplication)
        wanted = theme.dark() if name == "dark" else theme.light()
        if name == "system" and _system_is_dark():
            wanted = theme.dark()
        theme.apply(app, wanted)
        self.setStyleSheet(window_style(wanted))
        self.menus.show_theme(name)

    def _follow_system(self) -> None:
        if self.preferences.theme == "system":
            self.apply_theme("system")

    # From one run to the next

    def _restore(self) -> None:
        self.resize(SIZE.boundedTo(self.screen().availableSize() - FRAME))
        state = self.preferences.geometry("window")
        if state is not None:
            self.restoreGeometry(state)
        self._show_recent()

    def closeEvent(self, event: QCloseEvent) -> None:
        self.preferences.set_geometry("window", self.saveGeometry())
        if "workbench" in self.__dict__:
            self.workbench.close()
        self.preferences.sync()
        super().closeEvent(event)


def _system_is_dark() -> bool:
    return QGuiApplication.styleHints().colorScheme() == Qt.ColorScheme.Dark


def _dropped(event: QDropEvent) -> str:
    """The local file that is dropped, or ""."""
    files = [url.toLocalFile() for url in event.mimeData().urls() if url.isLocalFile()]
    return files[0] if files else ""
