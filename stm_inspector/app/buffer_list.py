"""What the block list holds: a conversation, its plan, the messages listed and the open folds."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray
from PySide6.QtWidgets import QWidget

from stm_inspector.app.brackets import make_brackets
from stm_inspector.app.buffer_canvas import NO_ROWS, BufferCanvas
from stm_inspector.app.buffer_painter import Scene
from stm_inspector.app.buffer_rows import NONE, build_rows
from stm_inspector.app.buffer_texts import Texts, worst_problems
from stm_inspector.buffer.plan import Plan
from stm_inspector.conversation.model import Conversation
from stm_inspector.tokens.counts import TokenCounts


class BufferList(BufferCanvas):
    """Rows that follow the plan, but never while the user drags."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._dragging = False

    def set_conversation(
        self, conversation: Conversation | None, counts: TokenCounts | None = None
    ) -> None:
        """Show another conversation, from its beginning, with nothing selected."""
        self._listed, self._matches, self._unfolded = None, frozenset(), frozenset()
        self._selected, self._cursor, self._hovered_row = None, NONE, NONE
        self._painter = None
        if conversation is None:
            self._scene, self._brackets, self._rows = None, None, NO_ROWS
        else:
            texts = Texts(conversation)
            self._rows = build_rows(len(conversation.messages), None)
            self._scene = Scene(conversation, texts, self._rows)
            self._brackets = make_brackets(conversation.structure)
            self._set_counts(counts)
        self.verticalScrollBar().setValue(0)
        self._fit()

    def set_plan(self, plan: Plan | None, counts: TokenCounts | None = None) -> None:
        """Show what ``plan`` does; no block changes its place while the user drags."""
        if self._scene is None:
            return
        self._scene.plan = plan
        self._set_counts(counts)
        self._scene.problems = worst_problems(plan)
        rows = self._rows
        if not self._dragging:
            self._rebuild()
        if self._rows is rows and self._painter is not None:
            self._update_changed()
        else:
            self.viewport().update()

    def set_selected(self, index: int | None) -> None:
        """Select message ``index`` and bring it into sight; nobody is told."""
        if index == self._selected:
            return
        self._selected = index
        if index is None:
            self._cursor = NONE
            self.viewport().update()
        else:
            self.ensure_visible(index)
            self._cursor = int(self._rows.row_of[index])
            self.viewport().update()

    def set_visible(self, indices: Iterable[int] | NDArray[np.integer] | None) -> None:
        """List only these messages, or all of them; a fold needs the whole list."""
        wanted = None if indices is None else np.unique(np.asarray(_to_array(indices)))
        if _same(wanted, self._listed):
            return
        self._listed = wanted
        if not self._dragging:
            self._rebuild()

    def set_matches(self, indices: Iterable[int] | NDArray[np.integer]) -> None:
        """Highlight these messages as found by a search."""
        self._matches = frozenset(int(index) for index in indices)
        self.viewport().update()

    def set_dragging(self, dragging: bool) -> None:
        """While the user drags a handle no row appears or goes; on release they are made anew."""
        if dragging == self._dragging:
            return
        self._dragging = dragging
        if not dragging:
            self._rebuild()

    def ensure_visible(self, index: int) -> None:
        """Scroll no more than needed to see message ``index``; open the fold that hides it."""
        row = self._row_of(index)
        if row == NONE:
            return
        if self._rows.folded[row]:
            self._set_folded(row, folded=False)
        self._see_row(self._row_of(index))

    def centre(self, index: int) -> None:
        """Scroll so that message ``index`` is in the middle."""
        row = self._row_of(index)
        if row != NONE:
            height = self._row_height()
            middle = row * height - (self.viewport().height() - height) // 2
            self.verticalScrollBar().setValue(middle)

    def _set_counts(self, counts: TokenCounts | None) -> None:
        if self._scene is not None and counts is not None and counts is not self._scene.counts:
            self._scene.counts = counts
            self._scene.largest = max(1, int(counts.messages.max(initial=1)))
            self._painter = None

    def _set_folded(self, row: int, *, folded: bool) -> None:
        first = int(self._rows.first[row])
        self._unfolded = self._unfolded - {first} if folded else self._unfolded | {first}
        self._rebuild()

    def _toggle_fold(self, row: int) -> None:
        self._set_folded(row, folded=not self._rows.folded[row])


def _to_array(indices: Iterable[int] | NDArray[np.integer]) -> NDArray[np.int64]:
    if isinstance(indices, np.ndarray):
        return indices.astype(np.int64)
    return np.array(list(indices), dtype=np.int64)


def _same(one: NDArray[np.int64] | None, other: NDArray[np.int64] | None) -> bool:
    if one is None or other is None:
        return one is other
    return np.array_equal(one, other)
