"""The menu bar, made from the command table, with recent files and themes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from PySide6.QtCore import QObject, Signal
from PySide6.QtGui import QAction, QActionGroup
from PySide6.QtWidgets import QMainWindow, QMenu

from stm_inspector.app.actions import COMMANDS, MENUS, Actions
from stm_inspector.conversation.visible import visible

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

    def __init__(self, window: QMainWindow, actions: Actions) -> None:
        super().__init__(window)
        self.by_title = {title: window.menuBar().addMenu(title) for title in MENUS}
        themes = self.by_title["&View"].addMenu("&Theme")
        self._themes = exclusive(
            themes, [(name, text, "") for name, text in THEMES], self.theme_chosen.emit
        )
        for command in COMMANDS:
            menu = self.by_title[command.menu]
            if command.apart:
                menu.addSeparator()
            menu.addAction(actions[command.id])
        self.recent = QMenu("Open &recent", window)
        self.by_title["&File"].insertMenu(actions["reload"], self.recent)

    def show_recent(self, paths: Sequence[str]) -> None:
        """List recent files; those that are gone are grey."""
        self.recent.clear()
        for place, path in enumerate(paths):
            name = visible(path, keep="").replace("&", "&&")
            mnemonic = f"&{place + 1} " if place < 9 else ""
            action = self.recent.addAction(f"{mnemonic}{name}")
            there = Path(path).is_file()
            action.setEnabled(there)
            if not there:
                action.setText(f"{action.text()} (gone)")
            action.triggered.connect(lambda _on=False, path=path: self.recent_chosen.emit(path))
        self.recent.addSeparator()
        clear = self.recent.addAction("&Clear this list")
        clear.triggered.connect(lambda _on=False: self.recent_cleared.emit())
        self.recent.setEnabled(bool(paths))

    def show_theme(self, name: str) -> None:
        """Tick the theme in use."""
        self._themes[name].setChecked(True)


def exclusive(
    menu: QMenu, entries: Sequence[tuple[str, str, str]], choose: Callable[[str], object]
) -> dict[str, QAction]:
    """Actions of which one is ticked, by key, at the end of ``menu``."""
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
