"""Choosers of the header row: policy, model or window, conversation of the file."""

from __future__ import annotations

from itertools import groupby

from PySide6.QtCore import QSignalBlocker, Qt
from PySide6.QtGui import QStandardItem, QStandardItemModel
from PySide6.QtWidgets import QComboBox, QCompleter, QWidget

from stm_inspector.app import theme
from stm_inspector.app.session import Session
from stm_inspector.buffer.policies import all_policies
from stm_inspector.conversation.visible import visible
from stm_inspector.tokens.models import Model, load_models

WINDOWS = (8_000, 32_000, 128_000, 200_000, 1_000_000)
"""Context windows offered without naming a model, in tokens."""

Choice = tuple[str, str | int | None]
"""("recorded", None), ("window", tokens) or ("model", name)."""


class PolicyPicker(QComboBox):
    """The policies under the headings of their ideas."""

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._session = session
        self.setAccessibleName("Policy")
        self.setToolTip("The rule that decides what stays in the buffer")
        self.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToContents)
        self.setMaxVisibleItems(40)
        self.setMinimumWidth(120)
        model = QStandardItemModel(self)
        policies = sorted(all_policies(), key=lambda policy: _ideas().index(policy.idea))
        for idea, members in groupby(policies, key=lambda policy: policy.idea):
            model.appendRow(_heading(idea))
            for policy in members:
                item = QStandardItem(policy.title)
                item.setData(policy.id, Qt.ItemDataRole.UserRole)
                item.setToolTip(_wrapped(policy.help))
                model.appendRow(item)
        self.setModel(model)
        self.activated.connect(self._choose)
        session.choices_changed.connect(self._refresh)
        self._refresh()

    def _choose(self, _place: int) -> None:
        self._session.set_policy(self.currentData())

    def _refresh(self) -> None:
        self.setCurrentIndex(self.findData(self._session.settings.policy))


def _ideas() -> list[str]:
    """The headings, in the order of the registry."""
    return list(dict.fromkeys(policy.idea for policy in all_policies()))


def _wrapped(text: str) -> str:
    """``text`` broken into lines: a plain-text tooltip does not wrap by itself."""
    import textwrap

    return "\n".join(textwrap.wrap(text, 72))


class ModelPicker(QComboBox):
    """The recorded model, plain windows, and every known model; typing searches them."""

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._session = session
        self.setEditable(True)
        self.setInsertPolicy(QComboBox.InsertPolicy.NoInsert)
        self.setAccessibleName("Model or context window")
        self.setToolTip("Sets the context window and the token counter; type to search")
        self.setMaxVisibleItems(24)
        self.setMinimumContentsLength(20)
        self.setMinimumWidth(120)
        self.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        self._fill()
        completer = self.completer()
        assert completer is not None  # an editable combo box has one
        completer.setCompletionMode(QCompleter.CompletionMode.PopupCompletion)
        completer.setFilterMode(Qt.MatchFlag.MatchContains)
        completer.setCaseSensitivity(Qt.CaseSensitivity.CaseInsensitive)
        completer.setMaxVisibleItems(16)
        self.activated.connect(self._choose)
        line = self.lineEdit()
        assert line is not None
        line.editingFinished.connect(self._refresh)
        session.opened.connect(self._refresh)
        session.choices_changed.connect(self._refresh)
        self._refresh()

    def _fill(self) -> None:
        model = QStandardItemModel(self)
        model.appendRow(_choice("As recorded", ("recorded", None)))
        model.appendRow(_heading("Windows"))
        for window in WINDOWS:
            model.appendRow(_choice(f"Any model · {short(window)}", ("window", window)))
        for provider, members in groupby(load_models(), key=lambda known: known.provider):
            model.appendRow(_heading(provider))
            for known in members:
                model.appendRow(_choice(model_text(known), ("model", known.name)))
        self.setModel(model)

    def _choose(self, place: int) -> None:
        choice = self.itemData(place)
        if choice is None:
            self._refresh()
            return
        kind, value = choice
        if kind == "window":
            self._session.set_window(int(value))
        else:
            self._session.set_model(value)
        self._refresh()

    def _refresh(self) -> None:
        line = self.lineEdit()
        if line is not None and not (line.hasFocus() and line.isModified()):
            text = self._text()
            if text != line.text():
                with QSignalBlocker(self):
                    self.setCurrentIndex(self._place())
                    self.setEditText(text)
                    line.setCursorPosition(0)  # a long name shows its beginning

    def _place(self) -> int:
        model = self._session.choices.model
        for place in range(self.count()):
            choice = self.itemData(place)
            if choice is not None and tuple(choice) == ("model", model):
                return place
        return 0

    def _text(self) -> str:
        conversation = self._session.conversation
        name = self._session.choices.model or (conversation.model if conversation else None)
        window = short(self._session.settings.budget.window)
        return f"{visible(name, keep='')} · {window}" if name else f"Any model · {window}"


class ConversationPicker(QComboBox):
    """The conversations of a file that holds several; hidden where there is one."""

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._session = session
        self.setAccessibleName("Conversation of the file")
        self.setToolTip("This file holds several conversations")
        self.setMinimumContentsLength(16)
        self.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        self._listed: object = None
        self.activated.connect(session.choose_conversation)
        session.opened.connect(self._refresh)
        self.hide()

    def _refresh(self) -> None:
        recording = self._session.recording
        conversation = self._session.conversation
        if recording is None or conversation is None:
            return
        if recording is not self._listed:
            self._listed = recording
            self.clear()
            for entry in recording.entries:
                size = f" · {entry.messages:,} messages" if entry.messages is not None else ""
                name = visible(entry.title, keep="")[:80] or f"Conversation {entry.number + 1}"
                self.addItem(f"{name}{size}")
        self.setCurrentIndex(conversation.origin.number)
        self.setVisible(len(recording.entries) > 1)


def model_text(model: Model) -> str:
    """A model and its window: "claude-sonnet-4-6 · 200k"."""
    return f"{model.name} · {short(model.window)}" if model.window else model.name


def short(tokens: int) -> str:
    """A number of tokens in few characters: "200k", "1M", "8,192"."""
    for size, letter in ((1_000_000, "M"), (1_000, "k")):
        if tokens >= size and not tokens % (size // 10):
            return f"{tokens / size:g}{letter}"
    return f"{tokens:,}"


def _choice(text: str, choice: Choice) -> QStandardItem:
    item = QStandardItem(text)
    item.setData(choice, Qt.ItemDataRole.UserRole)
    return item


def _heading(text: str) -> QStandardItem:
    item = QStandardItem(text)
    item.setFlags(Qt.ItemFlag.NoItemFlags)
    item.setFont(theme.fonts().caps)
    return item
