"""The problem list: what the API would say of the buffer, and what the recording has already."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import (
    QAbstractTableModel,
    QItemSelectionModel,
    QModelIndex,
    QPersistentModelIndex,
    Qt,
    Signal,
)
from PySide6.QtGui import QColor
from PySide6.QtWidgets import QHeaderView, QLabel, QTreeView, QVBoxLayout, QWidget

from stm_inspector.app import theme
from stm_inspector.app.widgets import label, rule
from stm_inspector.buffer.plan import Problem, Severity
from stm_inspector.conversation.visible import visible

AnyIndex = QModelIndex | QPersistentModelIndex
_ROOT = QModelIndex()
_SIGNS = {Severity.ERROR: "✕", Severity.WARNING: "!"}


class ProblemModel(QAbstractTableModel):
    """The problems of a plan as rows: sign, message, rule, text."""

    HEADERS = ("", "Message", "Rule", "Problem")

    def __init__(self) -> None:
        super().__init__()
        self.problems: tuple[Problem, ...] = ()

    def set_problems(self, problems: tuple[Problem, ...]) -> None:
        """Show other problems; the same ones leave the view as it is."""
        if problems != self.problems:
            self.beginResetModel()
            self.problems = problems
            self.endResetModel()

    def rowCount(self, parent: AnyIndex = _ROOT) -> int:
        return 0 if parent.isValid() else len(self.problems)

    def columnCount(self, parent: AnyIndex = _ROOT) -> int:
        return 0 if parent.isValid() else len(self.HEADERS)

    def headerData(
        self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole
    ) -> Any:
        if orientation is Qt.Orientation.Horizontal and role == Qt.ItemDataRole.DisplayRole:
            return self.HEADERS[section]
        return None

    def data(self, index: AnyIndex, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        problem = self.problems[index.row()]
        if role == Qt.ItemDataRole.DisplayRole:
            place = "all" if problem.index is None else f"#{problem.index}"
            cells = (_SIGNS[problem.severity], place, problem.rule, visible(problem.text, keep=""))
            return cells[index.column()]
        if role == Qt.ItemDataRole.ForegroundRole and index.column() == 0:
            colours = theme.current()
            is_error = problem.severity is Severity.ERROR
            return QColor(colours.error if is_error else colours.warning)
        if role == Qt.ItemDataRole.AccessibleTextRole:
            return f"{problem.severity}, {origin(problem)}: {visible(problem.text)}"
        return None


class ProblemsView(QWidget):
    """The list, and below it the chosen problem in full with what to do.

    Signals:
        jumped(int): the user wants to see that message.
    """

    jumped = Signal(int)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._model = ProblemModel()
        self.tree = QTreeView()
        self.tree.setModel(self._model)
        self.tree.setRootIsDecorated(False)
        self.tree.setUniformRowHeights(True)
        self.tree.setAccessibleName("Problems")
        header = self.tree.header()
        for column in range(3):
            header.setSectionResizeMode(column, QHeaderView.ResizeMode.ResizeToContents)
        header.setMinimumSectionSize(24)
        self.tree.clicked.connect(self._jump)
        self.tree.activated.connect(self._jump)
        self.tree.selectionModel().currentChanged.connect(self._explain)
        self._none = label(
            "No problems: an API would accept this buffer as it stands.", "soft", wrap=True
        )
        self._kind = label(level="soft", wrap=True)
        self._text = _paragraph()
        self._remedy = _paragraph()
        self._detail = QWidget()
        below = QVBoxLayout(self._detail)
        below.setContentsMargins(0, 8, 0, 0)
        for item in (rule(), self._kind, self._text, self._remedy):
            below.addWidget(item)
        column_layout = QVBoxLayout(self)
        column_layout.setContentsMargins(0, 8, 0, 0)
        column_layout.addWidget(self._none)
        column_layout.addWidget(self.tree, 1)
        column_layout.addWidget(self._detail)
        column_layout.addStretch()
        self.show_problems(())

    def show_problems(self, problems: tuple[Problem, ...]) -> None:
        """List ``problems``; the chosen one stays chosen where it is still there."""
        chosen = self.chosen
        self._model.set_problems(problems)
        self._none.setVisible(not problems)
        self.tree.setVisible(bool(problems))
        if chosen in problems:
            self._choose(problems.index(chosen))
        else:
            self._detail.hide()

    @property
    def chosen(self) -> Problem | None:
        """The problem the keyboard is on."""
        row = self.tree.currentIndex().row()
        return self._model.problems[row] if 0 <= row < len(self._model.problems) else None

    def step(self, step: int) -> None:
        """Go to the next or previous problem, round at the ends, and to its message."""
        count = len(self._model.problems)
        if count:
            row = self.tree.currentIndex().row()
            self._choose((row + step) % count if row >= 0 else (0 if step > 0 else count - 1))
            self._jump(self.tree.currentIndex())

    def _choose(self, row: int) -> None:
        self.tree.selectionModel().setCurrentIndex(
            self._model.index(row, 0),
            QItemSelectionModel.SelectionFlag.ClearAndSelect
            | QItemSelectionModel.SelectionFlag.Rows,
        )

    def _jump(self, index: QModelIndex) -> None:
        problem = self._model.problems[index.row()]
        if problem.index is not None:
            self.jumped.emit(problem.index)

    def _explain(self, index: QModelIndex, _before: QModelIndex) -> None:
        if not index.isValid():
            return
        problem = self._model.problems[index.row()]
        self._kind.setText(f"{problem.severity.capitalize()} {problem.rule} · {origin(problem)}")
        self._text.setText(visible(problem.text))
        self._remedy.setText(visible(problem.remedy))
        self._detail.show()


def origin(problem: Problem) -> str:
    """Whose fault it is, in words."""
    return "in the recording already" if problem.recorded else "caused by the trimming"


def _paragraph() -> QLabel:
    made = label(wrap=True)
    made.setTextInteractionFlags(
        Qt.TextInteractionFlag.TextSelectableByMouse
        | Qt.TextInteractionFlag.TextSelectableByKeyboard
    )
    return made
