"""What the window is made of once more than a welcome is wanted: session, panes, commands.

Kept apart from the window itself, so that its first picture needs neither numpy nor an engine.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Qt, QTimer
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QApplication, QInputDialog, QVBoxLayout, QWidget

from stm_inspector.app.choices import Choices, from_plain, to_plain
from stm_inspector.app.exporting import Exporter
from stm_inspector.app.find import Filter
from stm_inspector.app.header import Header
from stm_inspector.app.policy_menu import PolicyMenu
from stm_inspector.app.rendering import raw_json, stretches
from stm_inspector.app.saving import CheckpointSaver
from stm_inspector.app.session import Session
from stm_inspector.app.status_bar import StatusBar
from stm_inspector.app.widgets import rule
from stm_inspector.app.work_area import WorkArea
from stm_inspector.conversation.visible import visible

if TYPE_CHECKING:
    from stm_inspector.app.main_window import MainWindow

MESSAGE_TIME = 6_000
"""Milliseconds that a passing message stays in the status bar."""


class Workbench(QObject):
    """Binds the session, the panes that show it, and the commands of one window."""

    def __init__(self, window: MainWindow, choices: Choices | None) -> None:
        super().__init__(window)
        self._window = window
        self._preferences = window.preferences
        self.session = Session(choices or from_plain(self._preferences.settings), self)
        self.exporter = Exporter(self.session, self._preferences, window)
        self.saver = CheckpointSaver(self.session, self._preferences, window)
        self.menu = PolicyMenu(window.menus, self.session)
        self.header = Header(self.session, window.command_actions)
        self.status = StatusBar(self.session)
        self.work: WorkArea | None = None
        self._commands = self._make_commands()
        self._foot = QWidget()
        foot = QVBoxLayout(self._foot)
        foot.setContentsMargins(0, 0, 0, 0)
        foot.setSpacing(0)
        foot.addWidget(rule())
        foot.addWidget(self.status)
        window.place(self.header, self._foot)
        self._connect()
        self._show_page()
        QTimer.singleShot(0, self.make_panes)

    def _connect(self) -> None:
        session, window = self.session, self._window
        session.opened.connect(self._show_opened)
        session.failed.connect(lambda text: window.show_failure(text))
        session.refused.connect(self.say)
        session.opening.busy_changed.connect(self._show_page)
        self.exporter.done.connect(self.say)
        self.exporter.failed.connect(lambda text: window.show_failure(text))
        self.saver.done.connect(self.say)
        self.saver.failed.connect(lambda text: window.show_failure(text))
        self.status.problems_wanted.connect(self._show_problems)
        window.loading.cancelled.connect(session.opening.cancel)

    def _make_commands(self) -> Mapping[str, Callable[[], object]]:
        session = self.session
        return {
            "reload": self._reload,
            "export": self.exporter.to_file,
            "export-as": self.exporter.to_other_api,
            "checkpoint": self.saver.ask,
            "copy-export": self.exporter.to_clipboard,
            "copy": lambda: self._copy(as_json=False),
            "copy-json": lambda: self._copy(as_json=True),
            "pin": lambda: self._with_selection(session.toggle_pin),
            "retrieved": lambda: self._with_selection(session.toggle_retrieved),
            "find": self._find,
            "find-next": lambda: session.step_match(1),
            "find-previous": lambda: session.step_match(-1),
            "go-to": self._go_to,
            "filter": lambda: self.make_panes().filter.focus_first(),
            "clear-filter": lambda: session.set_filter(Filter()),
            "problems": self._show_problems,
            "next-problem": lambda: self.make_panes().detail.problems.step(1),
            "previous-problem": lambda: self.make_panes().detail.problems.step(-1),
            "next-pane": self._next_pane,
            "first-call": lambda: session.set_call(0),
            "previous-call": lambda: session.step_call(-1),
            "next-call": lambda: session.step_call(1),
            "last-call": lambda: session.set_call(None),
            "timeline": lambda: self.make_panes().toggle_timeline(),
            "reset": session.reset,
        }

    def run(self, command: str) -> None:
        """Carry out a command of the table that concerns the open file."""
        self._commands[command]()

    @property
    def settled(self) -> bool:
        """A file is shown, counted, planned and coloured: nothing is under way."""
        idle = self.session.settled and not self.exporter.runner.busy
        return idle and self.session.conversation is not None and not self.make_panes().detail.busy

    def say(self, text: str) -> None:
        """Show a passing message in the status bar."""
        self.status.say(visible(text, keep=""), MESSAGE_TIME)

    def close(self) -> None:
        """Remember what is worth it, and end all threads."""
        if self.work is not None:
            self._preferences.set_geometry("splitter", self.work.splitter.saveState())
            self._preferences.set_geometry("timeline", self.work.stack.saveState())
            self.work.detail.close_jobs()
        # A budget set by hand is about the file that goes; window and reserves are about a model.
        self._preferences.settings = to_plain(self.session.without_fixed_budget())
        self.exporter.runner.close()
        self.session.close()

    # Pages

    def _show_opened(self) -> None:
        recording = self.session.recording
        assert recording is not None
        panes = self.make_panes()
        self._window.command_actions.set_file_open(True)
        self._window.remember_opened(recording.path)
        self._show_page()
        panes.buffer.setFocus()

    def make_panes(self) -> WorkArea:
        """Make the panes while the user still reads the welcome, or when a file is there."""
        if self.work is None:
            self.work = WorkArea(self.session, self._window.command_actions)
            self._window.pages.addWidget(self.work)
            state = self._preferences.geometry("splitter")
            if state is not None:
                self.work.splitter.restoreState(state)
            height = self._preferences.geometry("timeline")
            if height is not None:
                self.work.stack.restoreState(height)
        return self.work

    def _show_page(self) -> None:
        window, busy = self._window, self.session.opening.busy
        is_open = self.session.conversation is not None
        self.header.setVisible(is_open)
        self._foot.setVisible(is_open)
        if is_open:
            window.pages.setCurrentWidget(self.make_panes())
        else:
            window.pages.setCurrentWidget(window.loading if busy else window.start)

    # Commands

    def _reload(self) -> None:
        if self.session.recording is not None:
            self._window.open(self.session.recording.path)

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
            self._window, "Go to message", f"Number of the message, 0 to {last:,}:", now, 0, last
        )
        if chosen:
            self.session.select(number)

    def _show_problems(self) -> None:
        self.make_panes().detail.show_problems()

    def _next_pane(self) -> None:
        work = self.make_panes()
        panes = (work.budget.bar, work.settings, work.buffer, work.detail.tabs, work.timeline.strip)
        focus = QApplication.focusWidget()
        at = next(
            (place for place, pane in enumerate(panes) if pane is focus or
             (focus is not None and pane.isAncestorOf(focus))), -1
        )  # fmt: skip
        panes[(at + 1) % len(panes)].setFocus(Qt.FocusReason.TabFocusReason)
