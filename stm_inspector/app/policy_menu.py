"""The menu entries that know of the session: policies, counters, undo and redo."""

from __future__ import annotations

from PySide6.QtCore import QObject
from PySide6.QtGui import QKeySequence
from PySide6.QtWidgets import QMenu

from stm_inspector.app.menus import Menus, exclusive
from stm_inspector.app.session import Session
from stm_inspector.buffer.policies import all_policies
from stm_inspector.tokens.counters import counter_ids, counter_title


class PolicyMenu(QObject):
    """Adds them to the menus, and ticks what the session has chosen."""

    def __init__(self, menus: Menus, session: Session) -> None:
        super().__init__(menus)
        self._session = session
        policy, edit = menus.by_title["&Policy"], menus.by_title["&Edit"]
        rest = policy.actions()
        self._policies = exclusive(
            policy, [(one.id, one.title, one.help) for one in all_policies()], session.set_policy
        )
        counters = QMenu("&Count tokens with", policy)
        self._counters = exclusive(
            counters, [(one, counter_title(one), "") for one in counter_ids()], session.set_counter
        )
        policy.addMenu(counters)
        for action in rest:  # the commands of the table come last
            policy.removeAction(action)
            policy.addAction(action)
        first = edit.actions()[0]
        undo = session.undo_stack.createUndoAction(edit, "&Undo")
        redo = session.undo_stack.createRedoAction(edit, "&Redo")
        undo.setShortcuts(QKeySequence.StandardKey.Undo)
        redo.setShortcuts(QKeySequence.StandardKey.Redo)
        edit.insertActions(first, [undo, redo])
        session.choices_changed.connect(self._refresh)
        self._refresh()

    def _refresh(self) -> None:
        self._policies[self._session.settings.policy].setChecked(True)
        counter = self._session.choices.counter
        if counter in self._counters:
            self._counters[counter].setChecked(True)
