"""The top row: what is open, by which policy, for which model; search and export."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QSignalBlocker, Qt
from PySide6.QtGui import QAction, QKeyEvent
from PySide6.QtWidgets import QHBoxLayout, QLineEdit, QMenu, QPushButton, QToolButton, QWidget

from stm_inspector.app import theme
from stm_inspector.app.actions import Actions
from stm_inspector.app.overview import format_facts
from stm_inspector.app.pickers import ConversationPicker, ModelPicker, PolicyPicker
from stm_inspector.app.session import Session
from stm_inspector.app.widgets import ElidedLabel, label
from stm_inspector.conversation.visible import visible
from stm_inspector.formats import get_format


class FindField(QLineEdit):
    """Finds in texts and tool arguments; Return steps on, Escape lets go."""

    def __init__(self, session: Session) -> None:
        super().__init__()
        self._session = session
        self.setPlaceholderText("Find text or tool…  Ctrl+F")
        self.setAccessibleName("Find text or tool")
        self.setToolTip("Searches texts and tool arguments; F3 next, Shift+F3 previous")
        self.setMinimumWidth(110)
        self.setMaximumWidth(210)
        self.textEdited.connect(session.set_query)
        session.found.connect(self._refresh)
        session.opened.connect(self._refresh)

    def _refresh(self) -> None:
        if self.text() != self._session.query:
            with QSignalBlocker(self):
                self.setText(self._session.query)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            back = event.modifiers() & Qt.KeyboardModifier.ShiftModifier
            self._session.step_match(-1 if back else 1)
        elif event.key() == Qt.Key.Key_Escape:
            self.clear()
            self._session.set_query("")
            following = self.nextInFocusChain()
            if following is not None:
                following.setFocus(Qt.FocusReason.TabFocusReason)
        else:
            super().keyPressEvent(event)
            return
        event.accept()


class Header(QWidget):
    """One row of controls; everything in it comes from and goes to the session."""

    def __init__(self, session: Session, actions: Actions, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._session = session
        self.setProperty("panel", True)
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self._open = QPushButton("Open…")
        self._open.setAccessibleName("Open a recorded conversation")
        self._open.setToolTip("Open a recorded conversation (Ctrl+O)")
        self._open.clicked.connect(actions["open"].trigger)
        self._name = ElidedLabel()
        self._name.setFont(theme.fonts().bold)
        self._chip = label()
        self._chip.setProperty("chip", True)
        self._chip.setFont(theme.fonts().mono_small)
        self._conversation = ConversationPicker(session)
        self._policy = PolicyPicker(session)
        self._model = ModelPicker(session)
        self.find_field = FindField(session)
        self._export = _split_button(actions["export"], actions["copy-export"])
        row = QHBoxLayout(self)
        row.setContentsMargins(14, 7, 14, 7)
        row.setSpacing(10)
        row.addWidget(self._open)
        row.addWidget(self._name)
        row.addWidget(self._chip, 0, Qt.AlignmentFlag.AlignVCenter)
        row.addWidget(self._conversation)
        row.addStretch(1)
        policy, model = label("Policy", "soft"), label("Model", "soft")
        for item in (policy, self._policy, model, self._model):
            row.addWidget(item)
        row.addWidget(self.find_field, 20)
        row.addWidget(self._export)
        session.opened.connect(self._refresh)
        self._refresh()

    def _refresh(self) -> None:
        recording, conversation = self._session.recording, self._session.conversation
        if recording is None or conversation is None:
            return
        self._name.set_full_text(visible(Path(recording.path).name, keep=""))
        self._name.setToolTip(visible(str(Path(recording.path).resolve()), keep=""))
        self._chip.setText(get_format(recording.format).title)
        self._chip.setToolTip("\n".join(format_facts(recording, conversation)))
        self._chip.setAccessibleDescription(self._chip.toolTip())


def _split_button(main: QAction, other: QAction) -> QToolButton:
    button = QToolButton()
    button.setProperty("primary", True)
    button.setPopupMode(QToolButton.ToolButtonPopupMode.MenuButtonPopup)
    button.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextOnly)
    button.setDefaultAction(main)
    button.setText("Export JSON")
    button.setAccessibleName("Export the trimmed buffer as JSON")
    menu = QMenu(button)
    menu.addAction(main)
    menu.addAction(other)
    button.setMenu(menu)
    return button
