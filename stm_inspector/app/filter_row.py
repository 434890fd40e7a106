"""The row above the block list: which messages it shows."""

from __future__ import annotations

from typing import Any

from PySide6.QtWidgets import QComboBox, QHBoxLayout, QWidget

from stm_inspector.app.find import ROLES, Filter
from stm_inspector.app.session import Session
from stm_inspector.app.widgets import label, link
from stm_inspector.buffer.plan import Verdict, Zone
from stm_inspector.conversation.visible import visible

VERDICTS = {
    Verdict.KEEP: "Kept",
    Verdict.EVICT: "Evicted",
    Verdict.CLEAR: "Cleared",
    Verdict.TRUNCATE: "Truncated",
    Verdict.SUMMARISE: "Summarised",
}


class FilterRow(QWidget):
    """Four choosers and "n of m messages". It holds nothing: the filter lives in the session."""

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._session = session
        self.setProperty("panel", True)
        row = QHBoxLayout(self)
        row.setContentsMargins(10, 5, 10, 5)
        row.setSpacing(6)
        self._role = self._chooser("role", "Every role")
        self._zone = self._chooser("zone", "Every zone")
        self._verdict = self._chooser("verdict", "Every verdict")
        self._tool = self._chooser("tool", "Every tool")
        for role in ROLES:
            self._role.addItem(role.value.capitalize(), role)
        for zone in Zone:
            self._zone.addItem(zone.word.capitalize(), zone)
        for verdict, title in VERDICTS.items():
            self._verdict.addItem(title, verdict)
        for chooser in (self._role, self._zone, self._verdict, self._tool):
            row.addWidget(chooser)
        self._clear = link("Clear", "Show every message again")
        self._clear.setAccessibleName("Clear the filter")
        self._clear.clicked.connect(lambda: session.set_filter(Filter()))
        self._matches = label(level="soft")
        self._shown = label(level="soft")
        self._shown.setAccessibleName("Messages shown")
        row.addWidget(self._clear)
        row.addStretch()
        row.addWidget(self._matches)
        row.addWidget(self._shown)
        session.opened.connect(self._list_tools)
        session.planned.connect(self._show_numbers)
        session.filter_changed.connect(self._refresh)
        session.found.connect(self._show_numbers)
        session.selected.connect(self._show_numbers)
        self._list_tools()
        self._refresh()

    def focus_first(self) -> None:
        """Put the keyboard on the first chooser."""
        self._role.setFocus()

    def _chooser(self, name: str, every: str) -> QComboBox:
        chooser = QComboBox()
        chooser.setAccessibleName(f"Filter by {name}")
        chooser.setToolTip(f"Show only messages of one {name}")
        chooser.addItem(every, None)
        chooser.activated.connect(self._edited)
        return chooser

    def _edited(self, _place: int) -> None:
        self._session.set_filter(
            Filter(
                self._role.currentData(),
                self._zone.currentData(),
                self._verdict.currentData(),
                self._tool.currentData(),
            )
        )

    def _list_tools(self) -> None:
        while self._tool.count() > 1:
            self._tool.removeItem(1)
        index = self._session.index
        for name in index.tools if index is not None else ():
            self._tool.addItem(visible(name)[:60], name)
        self._tool.setVisible(self._tool.count() > 1)

    def _refresh(self) -> None:
        wanted = self._session.filter
        for chooser, value in (
            (self._role, wanted.role),
            (self._zone, wanted.zone),
            (self._verdict, wanted.verdict),
            (self._tool, wanted.tool),
        ):
            _choose(chooser, value)
        self._clear.setVisible(not wanted.empty)
        self._show_numbers()

    def _show_numbers(self) -> None:
        session = self._session
        total = len(session.conversation.messages) if session.conversation else 0
        shown = total if session.visible is None else len(session.visible)
        self._shown.setText(
            f"{total:,} messages" if session.visible is None else f"{shown:,} of {total:,} messages"
        )
        self._matches.setVisible(bool(session.query))
        self._matches.setText(_match_text(session))


def _match_text(session: Session) -> str:
    count = len(session.matches)
    if not count:
        return "nothing found ·"
    place = session.matches.searchsorted(session.selection) if session.selection is not None else -1
    if 0 <= place < count and session.matches[place] == session.selection:
        return f"match {place + 1:,} of {count:,} ·"
    return f"{count:,} {'match' if count == 1 else 'matches'} ·"


def _choose(chooser: QComboBox, value: Any) -> None:
    place = next((place for place in range(chooser.count()) if chooser.itemData(place) == value), 0)
    if chooser.currentIndex() != place:
        chooser.setCurrentIndex(place)
