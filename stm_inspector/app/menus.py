"""The menu bar, made from the command table; recent files, themes, policies and counters."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from PySide6.QtCore import QObject, Signal
from PySide6.QtGui import QAction, QActionGroup, QKeySequence
from PySide6.QtWidgets import QMainWindow, QMenu

from stm_inspector.app.actions import COMMANDS, MENUS, Actions
from stm_inspector.app.session import Session
from stm_inspector.buffer.policies import all_policies
from stm_inspector.conversation.visible import visible
from stm_inspector.tokens.counters import counter_ids, counter_title

THEMES = (("system", "&System"), ("light", "&Light"), ("dark", "&Dark"))


class Menus(QObject):
    """Fills the window's menu bar.

    Signals:
        recent_chosen(str): the user chose a recent file.
        recent_cleared: the list is to be emptied.
        theme_chosen(str): "system", "light" or "dark".
    """

    recent_chosen = Signal(str)
    recent_cleared = Signal()
    theme_chosen = Signal(str)

    def __init__(self, window: QMainWindow, session: Session, actions: Actions) -> None:
        super().__init__(window)
        self._session = session
        self._menus = {title: window.menuBar().addMenu(title) for title in MENUS}
        self._policies = _choices(
            self._menus["&Policy"],
            [(policy.id, policy.title, policy.help) for policy in all_policies()],
            session.set_policy,
        )
        counters = self._menus["&Policy"].addMenu("&Count tokens with")
        self._counters = _choices(
            counters, [(one, counter_title(one), "") for one in counter_ids()], session.set_counter
        )
        undo = session.undo_stack.createUndoAction(window, "&Undo")
        redo = session.undo_stack.createRedoAction(window, "&Redo")
        undo.setShortcuts(QKeySequence.StandardKey.Undo)
        redo.setShortcuts(QKeySequence.StandardKey.Redo)
        self._menus["&Edit"].addActions([undo, redo])
        themes = self._menus["&View"].addMenu("&Theme")
        self._themes = _choices(
            themes, [(name, text, "") for name, text in THEMES], self.theme_chosen.emit
        )
        for command in COMMANDS:
            menu = self._menus[command.menu]
            if command.apart:
                menu.addSeparator()
            menu.addAction(actions[command.id])
        self._recent = QMenu("Open &recent", window)
        self._menus["&File"].insertMenu(actions["reload"], self._recent)
        session.choices_changed.connect(self._refresh)
        self._refresh()

    def show_recent(self, paths: Sequence[str]) -> None:
        """List recent files; those that are gone are grey."""
        self._recent.clear()
        for place, path in enumerate(paths):
            name = visible(path, keep="").replace("&", "&&")
            mnemonic = f"&{place + 1} " if place < 9 else ""
            action = self._recent.addAction(f"{mnemonic}{name}")
            there = Path(path).is_file()
            action.setEnabled(there)
            if not there:
                action.setText(f"{action.text()} (gone)")
            action.triggered.connect(lambda _on=False, path=path: self.recent_chosen.emit(path))
        self._recent.addSeparator()
        clear = self._recent.addAction("&Clear this list")
        clear.triggered.connect(lambda _on=False: self.recent_cleared.emit())
        self._recent.setEnabled(bool(paths))

    def show_theme(self, name: str) -> None:
        """Tick the theme in use."""
        self._themes[name].setChecked(True)

    def _refresh(self) -> None:
        self._policies[self._session.settings.policy].setChecked(True)
        counter = self._session.choices.counter
        if counter in self._counters:
            self._counters[counter].setChecked(True)


def _choices(
    menu: QMenu, entries: Sequence[tuple[str, str, str]], choose: Callable[[str], object]
) -> dict[str, QAction]:
    """Actions of which one is ticked."""
    group = QActionGroup(menu)
    made: dict[str, QAction] = {}
    for key, text, tip in entries:
        action = QAction(text, menu)
        action.setCheckable(True)
        action.setStatusTip(tip)
        action.triggered.connect(lambda _on=False, key=key: choose(key))
        group.addAction(action)
        menu.addAction(action)
        made[key] = action
    return made
