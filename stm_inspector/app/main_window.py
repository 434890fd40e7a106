"""The main window: puts the pieces together and binds the commands."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QCloseEvent, QDragEnterEvent, QDropEvent, QGuiApplication
from PySide6.QtWidgets import (
    QApplication,
    QFileDialog,
    QInputDialog,
    QMainWindow,
    QStackedWidget,
    QVBoxLayout,
    QWidget,
)

from stm_inspector.app import dialogs, theme
from stm_inspector.app.actions import Actions
from stm_inspector.app.choices import Choices, from_plain, to_plain
from stm_inspector.app.exporting import Exporter
from stm_inspector.app.find import Filter
from stm_inspector.app.header import Header
from stm_inspector.app.loading_page import LoadingPage
from stm_inspector.app.menus import Menus
from stm_inspector.app.preferences import Preferences
from stm_inspector.app.rendering import raw_json, stretches
from stm_inspector.app.session import Session
from stm_inspector.app.start_page import StartPage
from stm_inspector.app.status_bar import StatusBar
from stm_inspector.app.widgets import rule
from stm_inspector.app.window_style import window_style
from stm_inspector.app.work_area import WorkArea
from stm_inspector.buffer.settings import Settings
from stm_inspector.conversation.visible import visible
from stm_inspector.paths import resource

SIZE = QSize(1440, 900)
MESSAGE_TIME = 6_000
"""Milliseconds that a passing message stays in the status bar."""


class MainWindow(QMainWindow):
    """The window of one session."""

    def __init__(
        self, preferences: Preferences | None = None, choices: Choices | None = None
    ) -> None:
        super().__init__()
        self.preferences = preferences or Preferences()
        self.session = Session(choices or from_plain(self.preferences.settings), self)
        self.exporter = Exporter(self.session, self.preferences, self)
        self.command_actions = Actions(self, self._handlers())
        self.menus = Menus(self, self.session, self.command_actions)
        self.header = Header(self.session, self.command_actions)
        self.work: WorkArea | None = None
        self.start = StartPage()
        self.loading = LoadingPage(self.session)
        self.status = StatusBar(self.session)
        self._pages = QStackedWidget()
        self._pages.addWidget(self.start)
        self._pages.addWidget(self.loading)
        self.show_failures: Callable[[str], object] = lambda text: dialogs.show_failure(self, text)
        self._path = ""
        self._lay_out()
        self._connect()
        self.apply_theme(self.preferences.theme)
        self._restore()

    def _lay_out(self) -> None:
        body = QWidget()
        column = QVBoxLayout(body)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        self._foot = QWidget()
        foot = QVBoxLayout(self._foot)
        foot.setContentsMargins(0, 0, 0, 0)
        foot.setSpacing(0)
        foot.addWidget(rule())
        foot.addWidget(self.status)
        for widget in (self.header, self._pages, self._foot):
            column.addWidget(widget)
        column.setStretch(1, 1)
        self.setCentralWidget(body)
        self.setWindowTitle("STM Inspector")
        self.setAcceptDrops(True)
        self.command_actions.set_file_open(False)

    def _connect(self) -> None:
        session = self.session
        session.opened.connect(self._show_opened)
        session.failed.connect(lambda text: self.show_failures(text))
        session.refused.connect(self.say)
        session.opening.busy_changed.connect(self._show_page)
        self.exporter.done.connect(self.say)
        self.exporter.failed.connect(lambda text: self.show_failures(text))
        self.menus.recent_chosen.connect(self.open)
        self.menus.recent_cleared.connect(self._clear_recent)
        self.menus.theme_chosen.connect(self.choose_theme)
        self.start.open_wanted.connect(self.choose_file)
        self.start.file_chosen.connect(self.open)
        self.status.problems_wanted.connect(self._show_problems)
        hints = QGuiApplication.styleHints()
        hints.colorSchemeChanged.connect(self._follow_system)

    def _handlers(self) -> dict[str, Callable[[], object]]:
        session = self.session
        return {
            "open": self.choose_file,
            "reload": lambda: self.open(self._path),
            "export": self.exporter.to_file,
            "copy-export": self.exporter.to_clipboard,
            "quit": self.close,
            "copy": lambda: self._copy(as_json=False),
            "copy-json": lambda: self._copy(as_json=True),
            "pin": lambda: self._with_selection(session.toggle_pin),
            "retrieved": lambda: self._with_selection(session.toggle_retrieved),
            "find": self._find,
            "find-next": lambda: session.step_match(1),
            "find-previous": lambda: session.step_match(-1),
            "go-to": self._go_to,
            "filter": lambda: self._work().filter.focus_first(),
            "clear-filter": lambda: session.set_filter(Filter()),
            "problems": self._show_problems,
            "next-problem": lambda: self._work().detail.problems.step(1),
            "previous-problem": lambda: self._work().detail.problems.step(-1),
            "next-pane": self._next_pane,
            "full-screen": self._toggle_full_screen,
            "reset": session.reset,
            "shortcuts": lambda: dialogs.ShortcutsDialog(self).show(),
            "about": lambda: dialogs.show_about(self),
        }

    # Files

    def open(self, path: str, *, format: str | None = None, number: int | None = None,
             settings: Settings | None = None) -> None:  # fmt: skip
        """Open a file; what is open stays until the new one is there."""
        if path:
            self.loading.set_name(visible(Path(path).name, keep=""))
            self.session.open(path, format=format, number=number, settings=settings)

    def choose_file(self) -> None:
        """Let the user choose a file to open."""
        chosen, _kind = QFileDialog.getOpenFileName(
            self,
            "Open a recorded conversation",
            self.preferences.folder,
            "Conversations (*.json *.jsonl);;All files (*)",
        )
        self.open(chosen)

    def _show_opened(self) -> None:
        recording = self.session.recording
        assert recording is not None
        self._path = recording.path
        if self.work is None:
            self.work = WorkArea(self.session, self.command_actions)
            self._pages.addWidget(self.work)
            state = self.preferences.geometry("splitter")
            if state is not None:
                self.work.splitter.restoreState(state)
        self.command_actions.set_file_open(True)
        self.setWindowTitle(f"{visible(Path(self._path).name, keep='')} – STM Inspector")
        if not Path(self._path).is_relative_to(resource("samples")):
            self.preferences.add_recent(str(Path(self._path).resolve()))
            self.preferences.folder = str(Path(self._path).resolve().parent)
            self._show_recent()
        self._show_page()
        self.work.buffer.setFocus()

    def _show_page(self) -> None:
        if self.session.conversation is not None and self.work is not None:
            self._pages.setCurrentWidget(self.work)
            self.header.show()
            self._foot.show()
        else:
            busy = self.session.opening.busy
            self.header.hide()
            self._foot.setVisible(busy)
            self._pages.setCurrentWidget(self.loading if busy else self.start)

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

    # Commands

    @property
    def settled(self) -> bool:
        """A file is shown, counted, planned and coloured: nothing is under way."""
        return self.session.settled and self.work is not None and not self.work.detail.busy

    def say(self, text: str) -> None:
        """Show a passing message in the status bar."""
        self.status.say(visible(text, keep=""), MESSAGE_TIME)

    def _work(self) -> WorkArea:
        assert self.work is not None  # commands that need it are off until a file is open
        return self.work

    def _with_selection(self, act: Callable[[int], None]) -> None:
        if self.session.selection is None:
            self.say("Select a message first.")
        else:
            act(self.session.selection)

    def _copy(self, *, as_json: bool) -> None:
        self._with_selection(lambda index: self._copy_message(index, as_json=as_json))

    def _copy_message(self, index: int, *, as_json: bool) -> None:
        conversation = self.session.conversation
        if conversation is None:
            return
        if as_json:
            text = raw_json(conversation.messages[index].raw)
        else:
            text = "\n".join(item.text for item in stretches(conversation, index))
        QGuiApplication.clipboard().setText(text.encode("utf-8", "replace").decode("utf-8"))
        self.say(f"Copied message {index}.")

    def _find(self) -> None:
        self.header.find_field.setFocus()
        self.header.find_field.selectAll()

    def _go_to(self) -> None:
        conversation = self.session.conversation
        if conversation is None or not conversation.messages:
            return
        last = len(conversation.messages) - 1
        now = self.session.selection or 0
        number, chosen = QInputDialog.getInt(
            self, "Go to message", f"Number of the message, 0 to {last:,}:", now, 0, last
        )
        if chosen:
            self.session.select(number)

    def _show_problems(self) -> None:
        self._work().detail.show_problems()

    def _next_pane(self) -> None:
        work = self._work()
        panes = (work.budget.bar, work.settings, work.buffer, work.detail.tabs)
        focus = QApplication.focusWidget()
        at = next(
            (place for place, pane in enumerate(panes) if pane is focus or
             (focus is not None and pane.isAncestorOf(focus))), -1
        )  # fmt: skip
        panes[(at + 1) % len(panes)].setFocus(Qt.FocusReason.TabFocusReason)

    def _toggle_full_screen(self) -> None:
        if self.isFullScreen():
            self.showNormal()
        else:
            self.showFullScreen()

    # Looks

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
        self.resize(SIZE)
        state = self.preferences.geometry("window")
        if state is not None:
            self.restoreGeometry(state)
        self._show_recent()
        self._show_page()

    def closeEvent(self, event: QCloseEvent) -> None:
        self.preferences.set_geometry("window", self.saveGeometry())
        if self.work is not None:
            self.preferences.set_geometry("splitter", self.work.splitter.saveState())
            self.work.detail.close_jobs()
        self.preferences.settings = to_plain(self.session.choices)
        self.preferences.sync()
        self.exporter.runner.close()
        self.session.close()
        super().closeEvent(event)


def _system_is_dark() -> bool:
    return QGuiApplication.styleHints().colorScheme() == Qt.ColorScheme.Dark


def _dropped(event: QDropEvent) -> str:
    """The local file that is dropped, or ""."""
    files = [url.toLocalFile() for url in event.mimeData().urls() if url.isLocalFile()]
    return files[0] if files else ""
