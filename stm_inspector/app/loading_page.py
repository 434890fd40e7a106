"""What the window shows while the first file is being read."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QProgressBar, QPushButton, QVBoxLayout, QWidget

from stm_inspector.app.widgets import label


class LoadingPage(QWidget):
    """The name of the file, a bar that claims no more than that work goes on, and Cancel.

    Signals:
        cancelled: the user does not want the file any more.
    """

    cancelled = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._name = label()
        bar = QProgressBar()
        bar.setRange(0, 0)
        bar.setFixedWidth(280)
        bar.setAccessibleName("Reading the file")
        cancel = QPushButton("Cancel")
        cancel.setAccessibleName("Cancel reading the file")
        cancel.clicked.connect(self.cancelled)
        column = QVBoxLayout(self)
        column.setSpacing(12)
        column.addStretch()
        for widget in (self._name, bar, cancel):
            column.addWidget(widget, 0, Qt.AlignmentFlag.AlignHCenter)
        column.addStretch()

    def set_name(self, name: str) -> None:
        """Say which file is being read."""
        self._name.setText(f"Reading {name}…")
