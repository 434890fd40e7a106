"""The text of a message: plain at once, coloured from a worker, the first screen first."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from PySide6.QtCore import QEvent, QTimer, Signal
from PySide6.QtGui import QColor, QFont, QTextBlock, QTextCharFormat, QTextLayout
from PySide6.QtWidgets import QHBoxLayout, QPlainTextEdit, QVBoxLayout, QWidget

from stm_inspector.app import theme
from stm_inspector.app.highlighting import Composed, Line, compose, spans
from stm_inspector.app.rendering import Stretch
from stm_inspector.app.tasks import Runner
from stm_inspector.app.widgets import label, link

LIMIT = 200_000
"""Characters shown and highlighted unasked."""
FIRST = 6_000
"""Characters highlighted before the rest: more than one screen."""
SLICE = 200
"""Lines coloured between two looks at the event queue."""


class ContentView(QWidget):
    """Read-only text with a line below it that offers the rest of a long one.

    Signals:
        settled: colours are complete.
    """

    settled = Signal()

    def __init__(self, name: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._stretches: Sequence[Stretch] = ()
        self._composed = Composed("", (), (), 0)
        self._spans: dict[int, Line] = {}
        self._work: Iterator[None] | None = None
        self._runner: Runner[dict[int, Line]] = Runner(self)
        self._timer = QTimer(self, interval=0)
        self._timer.timeout.connect(self._colour_some)
        self.text = QPlainTextEdit()
        self.text.setReadOnly(True)
        self.text.setAccessibleName(name)
        self.text.setUndoRedoEnabled(False)
        self.text.setFrameShape(QPlainTextEdit.Shape.NoFrame)
        self.text.document().setDocumentMargin(0)
        self.rest = link("Show all")
        self.rest.clicked.connect(self._show_all)
        self._note = label(level="soft")
        self._foot = QWidget()
        row = QHBoxLayout(self._foot)
        row.setContentsMargins(0, 6, 0, 0)
        row.addWidget(self._note)
        row.addWidget(self.rest)
        row.addStretch()
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 10, 0, 0)
        column.setSpacing(0)
        column.addWidget(self.text, 1)
        column.addWidget(self._foot)
        self._foot.hide()

    def show_stretches(self, stretches: Sequence[Stretch]) -> None:
        """Show another text from its start."""
        self._stretches = stretches
        self._show(LIMIT)

    def close_jobs(self) -> None:
        """End the thread."""
        self._runner.close()

    @property
    def busy(self) -> bool:
        """Colours are still to come."""
        return self._runner.busy or self._timer.isActive()

    def changeEvent(self, event: QEvent) -> None:
        if event.type() == QEvent.Type.PaletteChange and self._composed.text:
            self._colour(self._spans)
        super().changeEvent(event)

    def _show_all(self) -> None:
        self._show(None)
        self.text.setFocus()

    def _show(self, limit: int | None) -> None:
        self._timer.stop()
        self._spans = {}
        self._composed = compose(self._stretches, limit)
        self.text.setPlainText(self._composed.text)
        cut = self._composed.cut
        self._foot.setVisible(cut > 0)
        self._note.setText(f"{len(self._composed.text):,} characters shown,")
        self.rest.setText(f"show all {len(self._composed.text) + cut:,}")
        self.rest.setAccessibleName(self.rest.text())
        self._colour({})
        self._highlight(FIRST)

    def _highlight(self, limit: int | None) -> None:
        composed = self._composed
        self._runner.start(
            lambda job: spans(composed, job.cancelled, limit),
            lambda found: self._highlighted(found, limit),
            self._failed,
        )

    def _highlighted(self, found: dict[int, Line], limit: int | None) -> None:
        self._colour(found)
        if limit is not None and len(self._composed.text) > limit:
            self._highlight(None)

    def _failed(self, error: BaseException) -> None:
        raise error

    def _colour(self, found: dict[int, Line]) -> None:
        self._spans = found
        self._work = self._colouring(_Looks())
        self._colour_some()
        if self._work is not None:
            self._timer.start()

    def _colour_some(self) -> None:
        if self._work is not None and next(self._work, self) is self:
            self._work = None
            self._timer.stop()
            if not self._runner.busy:
                self.settled.emit()

    def _colouring(self, looks: _Looks) -> Iterator[None]:
        """Colour line by line; gives the event queue a turn after every slice."""
        document = self.text.document()
        for first, count, look in self._composed.looks:
            block = document.findBlockByNumber(first)
            for line in range(first, first + count):
                if not block.isValid():
                    return
                self._colour_line(block, looks.of(look), self._spans.get(line, ()), looks)
                block = block.next()
                if line % SLICE == SLICE - 1:
                    yield

    def _colour_line(
        self,
        block: QTextBlock,
        base: QTextCharFormat,
        found: Sequence[tuple[int, int, str]],
        looks: _Looks,
    ) -> None:
        ranges = [_range(0, block.length(), base)]
        ranges += [_range(start, length, looks.of(look)) for start, length, look in found]
        block.layout().setFormats(ranges)
        self.text.document().markContentsDirty(block.position(), block.length())


def _range(start: int, length: int, look: QTextCharFormat) -> QTextLayout.FormatRange:
    made = QTextLayout.FormatRange()
    made.start, made.length, made.format = start, length, look
    return made


class _Looks:
    """The character formats of the present theme by name of the look."""

    def __init__(self) -> None:
        colours = theme.current()
        fonts = theme.fonts()
        self._formats = {
            "prose": _format(colours.text),
            "title": _format(colours.text_soft, fonts.small),
            "heading": _format(colours.text, fonts.bold),
            "fence": _format(colours.text_faint, fonts.mono_small),
            "code": _format(colours.text, fonts.mono),
            "key": _format(colours.syntax_function),
            "comment": _format(colours.syntax_comment),
            "keyword": _format(colours.syntax_keyword),
            "string": _format(colours.syntax_string),
            "number": _format(colours.syntax_number),
            "name": _format(colours.syntax_function),
            "removed": _format(colours.syntax_error),
        }

    def of(self, look: str) -> QTextCharFormat:
        return self._formats[look]


def _format(colour: str, font: QFont | None = None) -> QTextCharFormat:
    made = QTextCharFormat()
    made.setForeground(QColor(colour))
    if font is not None:
        made.setFont(font)
    return made
