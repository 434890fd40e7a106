"""The brackets that show which messages are locked together."""

from __future__ import annotations

import heapq
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QPointF, QRectF
from PySide6.QtGui import QColor, QPainter, QPainterPath, QPen

from stm_inspector.app import glyphs
from stm_inspector.app.buffer_rows import NONE, Rows
from stm_inspector.buffer.plan import Plan, Verdict
from stm_inspector.conversation.structure import Structure

LANES = 3
"""Brackets side by side where groups overlap; more of them share the outermost lane."""


@dataclass(frozen=True, eq=False, slots=True)
class Brackets:
    """Where each lock group begins and ends, and the lane its bracket is drawn in."""

    groups: tuple[tuple[int, ...], ...]
    first: NDArray[np.int64]
    last: NDArray[np.int64]
    lane: NDArray[np.int64]

    def crossing(self, first: int, last: int) -> NDArray[np.intp]:
        """The groups that reach into messages ``first`` to ``last``."""
        return np.flatnonzero((self.first <= last) & (self.last >= first))


def make_brackets(structure: Structure) -> Brackets:
    """Give every group a lane, so that brackets of groups that overlap do not."""
    first = np.array([group[0] for group in structure.groups], dtype=np.int64)
    last = np.array([group[-1] for group in structure.groups], dtype=np.int64)
    lanes = np.zeros(len(first), dtype=np.int64)
    free = list(range(LANES))
    busy: list[tuple[int, int]] = []
    for number in range(len(first)):
        while busy and busy[0][0] < first[number]:
            heapq.heappush(free, heapq.heappop(busy)[1])
        if free:
            lanes[number] = heapq.heappop(free)
            heapq.heappush(busy, (int(last[number]), int(lanes[number])))
        else:
            lanes[number] = LANES - 1
    return Brackets(structure.groups, first, last, lanes)


def draw_bracket(
    painter: QPainter,
    rows: list[int],
    lane: int,
    colour: QColor,
    right: float,
    em: float,
    row_height: int,
    offset: int,
    *,
    broken: bool = False,
) -> None:
    """One bracket over the rows of a group: a padlock at the first, a tick at every other.

    A ``broken`` one, of a group that the plan splits, is dashed and its padlock open.
    ``right`` is where the ticks end; ``offset`` is the y of row 0.
    """
    x = round(right - 0.55 * em - lane * 0.3 * em) + 0.5
    centre = row_height / 2
    top, bottom = rows[0] * row_height + offset + centre, rows[-1] * row_height + offset + centre
    radius = 0.28 * em
    path = QPainterPath(QPointF(right, top))
    path.lineTo(x + radius, top)
    path.quadTo(QPointF(x, top), QPointF(x, top + radius))
    path.lineTo(x, bottom - radius)
    path.quadTo(QPointF(x, bottom), QPointF(x + radius, bottom))
    path.lineTo(right, bottom)
    for row in rows[1:-1]:
        y = row * row_height + offset + centre
        path.moveTo(x, y)
        path.lineTo(right, y)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    pen = QPen(colour, 1.4)
    if broken:
        pen.setDashPattern([2, 2])
    painter.strokePath(path, pen)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)
    height = 0.78 * em
    lock = QRectF(0.35 * em, top - height / 2 - 0.5, 0.6 * em, height)
    glyphs.draw_padlock(painter, lock, colour, broken=broken)


def rows_of_group(group: tuple[int, ...], rows: Rows) -> list[int]:
    """The rows, ascending, in which the members of a group are listed."""
    found = rows.row_of[list(group)]
    return sorted({int(row) for row in found if row != NONE})


def is_split(group: tuple[int, ...], plan: Plan | None) -> bool:
    """The plan sends some members of a group and not others."""
    if plan is None:
        return False
    verdicts = plan.decision.verdicts[[index for index in group if index < plan.length]]
    gone = (verdicts == Verdict.EVICT) | (verdicts == Verdict.SUMMARISE)
    return bool(gone.any() and not gone.all())
