"""The window's dialogs. Texts of files are plain text in them."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.metadata import PackageNotFoundError, version

from PySide6.QtCore import Qt
from PySide6.QtWidgets import (
    QAbstractItemView,
    QDialog,
    QDialogButtonBox,
    QHeaderView,
    QInputDialog,
    QLineEdit,
    QMessageBox,
    QTableWidget,
    QTableWidgetItem,
    QVBoxLayout,
    QWidget,
)

from stm_inspector.app.actions import shortcut_rows
from stm_inspector.conversation.visible import visible

SHOWN = 1_000
"""Characters of an error text that a dialog shows."""
EXTRA_KEYS = (
    ("Blocks: next, previous", "Down, Up", "Select the next or previous message."),
    ("Blocks: first, last", "Home, End", "Select the first or last message."),
    ("Budget bar: step", "Left, Right", "Move the chosen handle; with Shift further."),
)


def message_box(
    parent: QWidget | None, icon: QMessageBox.Icon, text: str, detail: str = ""
) -> QMessageBox:
    """A message box that shows ``text`` and ``detail`` as they stand."""
    box = QMessageBox(icon, "STM Inspector", "", QMessageBox.StandardButton.Ok, parent)
    box.setTextFormat(Qt.TextFormat.PlainText)
    box.setText(visible(text[:SHOWN]))
    box.setInformativeText(visible(detail[:SHOWN]))
    return box


def show_failure(parent: QWidget | None, text: str) -> None:
    """Say in one sentence what did not work; does not block."""
    box = message_box(parent, QMessageBox.Icon.Warning, text)
    box.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    box.setObjectName("failure")
    box.open()


def confirm(parent: QWidget | None, text: str, detail: str, button: str) -> bool:
    """Ask whether to go on; ``button`` names what happens then. Cancel is the default."""
    box = message_box(parent, QMessageBox.Icon.Question, text, detail)
    box.setStandardButtons(QMessageBox.StandardButton.Cancel)
    go = box.addButton(button, QMessageBox.ButtonRole.AcceptRole)
    box.setDefaultButton(QMessageBox.StandardButton.Cancel)
    box.exec()
    return box.clickedButton() is go


def inform(parent: QWidget | None, text: str, detail: str) -> None:
    """Say what was done and what is to be known of it; does not block."""
    box = message_box(parent, QMessageBox.Icon.Information, text, detail)
    box.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    box.setObjectName("information")
    box.open()


def choose(parent: QWidget | None, title: str, text: str, names: Sequence[str]) -> int | None:
    """Let the user choose one of ``names``; its place, or None where they did not."""
    name, chosen = QInputDialog.getItem(parent, title, text, list(names), 0, False)
    return names.index(name) if chosen else None


def show_about(parent: QWidget | None) -> None:
    """Say what this program is."""
    try:
        number = version("stm-inspector")
    except PackageNotFoundError:
        number = "from source"
    box = message_box(
        parent,
        QMessageBox.Icon.NoIcon,
        f"STM Inspector {number}",
        "Shows what an LLM's short-term memory buffer keeps, evicts and summarises, on your own "
        "recorded conversation. Nothing leaves this computer.\n\nMIT licence.",
    )
    box.setObjectName("about")
    box.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    box.open()


class ShortcutsDialog(QDialog):
    """Every command with its keys, and a field that narrows the list."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle("Keyboard shortcuts")
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.resize(640, 560)
        rows = [*shortcut_rows(), *EXTRA_KEYS]
        self.table = QTableWidget(len(rows), 3)
        self.table.setHorizontalHeaderLabels(["Command", "Keys", "What it does"])
        self.table.setAccessibleName("Commands and their keys")
        self.table.verticalHeader().hide()
        self.table.setShowGrid(False)
        self.table.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.table.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        for row, cells in enumerate(rows):
            for column, text in enumerate(cells):
                self.table.setItem(row, column, QTableWidgetItem(text))
        header = self.table.horizontalHeader()
        header.setSectionResizeMode(QHeaderView.ResizeMode.ResizeToContents)
        header.setStretchLastSection(True)
        self.search = QLineEdit()
        self.search.setPlaceholderText("Find a command")
        self.search.setAccessibleName("Find a command")
        self.search.textChanged.connect(self._narrow)
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Close)
        buttons.rejected.connect(self.reject)
        column_layout = QVBoxLayout(self)
        for widget in (self.search, self.table, buttons):
            column_layout.addWidget(widget)

    def _narrow(self, text: str) -> None:
        wanted = text.casefold()
        for row in range(self.table.rowCount()):
            cells = (self.table.item(row, column) for column in range(3))
            line = " ".join(cell.text() for cell in cells if cell is not None)
            self.table.setRowHidden(row, wanted not in line.casefold())
