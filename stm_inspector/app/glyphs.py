"""The small signs of the window, drawn as paths so that no font has to have them.

Every zone and verdict has a sign of its own, so that colour never stands alone.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, lru_cache

from PySide6.QtCore import QLineF, QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QBrush, QColor, QIcon, QPainter, QPainterPath, QPen, QPixmap, QTransform

from stm_inspector.app.theme import Theme
from stm_inspector.buffer.plan import Verdict, Zone

VERDICT_WORDS = {
    Verdict.KEEP: "kept",
    Verdict.EVICT: "evicted",
    Verdict.CLEAR: "cleared",
    Verdict.TRUNCATE: "truncated",
    Verdict.SUMMARISE: "summarised",
}
ZONE_WORDS = {
    Zone.SYSTEM: "system",
    Zone.ANCHOR: "anchor",
    Zone.RETRIEVED: "retrieved",
    Zone.MIDDLE: "middle",
    Zone.TAIL: "tail",
    Zone.CURRENT: "current turn",
}


def _stroke(*points: tuple[float, float]) -> QPainterPath:
    path = QPainterPath(QPointF(*points[0]))
    for point in points[1:]:
        path.lineTo(QPointF(*point))
    return path


def _check() -> QPainterPath:
    return _stroke((0.08, 0.55), (0.38, 0.85), (0.92, 0.18))


def _cross() -> QPainterPath:
    path = _stroke((0.15, 0.15), (0.85, 0.85))
    path.moveTo(0.85, 0.15)
    path.lineTo(0.15, 0.85)
    return path


def _box() -> QPainterPath:
    path = QPainterPath()
    path.addRect(QRectF(0.12, 0.12, 0.76, 0.76))
    return path


def _cut() -> QPainterPath:
    """A line that breaks off: text, then a bar."""
    path = _stroke((0.0, 0.3), (0.62, 0.3))
    path.moveTo(0.0, 0.7)
    path.lineTo(0.38, 0.7)
    path.moveTo(0.86, 0.05)
    path.lineTo(0.86, 0.95)
    return path


def _hook() -> QPainterPath:
    """Down into something smaller: an arrow that turns downwards."""
    path = QPainterPath(QPointF(0.05, 0.12))
    path.lineTo(0.4, 0.12)
    path.quadTo(QPointF(0.66, 0.12), QPointF(0.66, 0.4))
    path.lineTo(0.66, 0.92)
    path.moveTo(0.4, 0.66)
    path.lineTo(0.66, 0.94)
    path.lineTo(0.92, 0.66)
    return path


def _diamond() -> QPainterPath:
    path = _stroke((0.5, -0.02), (1.02, 0.5), (0.5, 1.02), (-0.02, 0.5))
    path.closeSubpath()
    return path


def _plus() -> QPainterPath:
    path = _stroke((0.5, 0.1), (0.5, 0.9))
    path.moveTo(0.1, 0.5)
    path.lineTo(0.9, 0.5)
    return path


def _ring() -> QPainterPath:
    path = QPainterPath()
    path.addEllipse(QRectF(0.12, 0.12, 0.76, 0.76))
    path.moveTo(0.24, 0.76)
    path.lineTo(0.76, 0.24)
    return path


def _clock() -> QPainterPath:
    path = QPainterPath()
    path.addEllipse(QRectF(0.05, 0.05, 0.9, 0.9))
    path.moveTo(0.5, 0.25)
    path.lineTo(0.5, 0.52)
    path.lineTo(0.68, 0.62)
    return path


def _right() -> QPainterPath:
    path = _stroke((0.25, 0.1), (0.85, 0.5), (0.25, 0.9))
    path.closeSubpath()
    return path


def _down() -> QPainterPath:
    path = _stroke((0.1, 0.25), (0.5, 0.85), (0.9, 0.25))
    path.closeSubpath()
    return path


SIGNS: dict[str, tuple[Callable[[], QPainterPath], bool]] = {
    "kept": (_check, False),
    "evicted": (_cross, False),
    "cleared": (_box, False),
    "truncated": (_cut, False),
    "summarised": (_hook, False),
    "pinned": (_diamond, True),
    "synthetic": (_plus, False),
    "not used": (_ring, False),
    "later": (_clock, False),
    "folded": (_right, True),
    "unfolded": (_down, True),
}
"""Name -> (the path in a unit square, filled instead of stroked)."""


@cache
def _scaled(name: str, side: float) -> QPainterPath:
    return QTransform.fromScale(side, side).map(SIGNS[name][0]())


def draw_sign(painter: QPainter, name: str, rect: QRectF, colour: QColor) -> None:
    """Draw the sign ``name`` of ``SIGNS`` centred in ``rect``."""
    side = min(rect.width(), rect.height())
    path = _scaled(name, side)
    painter.save()
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.translate(rect.center() - QPointF(side / 2, side / 2))
    if SIGNS[name][1]:
        painter.fillPath(path, colour)
    else:
        painter.strokePath(path, _pen(colour, max(1.2, side / 7)))
    painter.restore()


def _pen(colour: QColor, width: float) -> QPen:
    return QPen(
        QBrush(colour),
        width,
        Qt.PenStyle.SolidLine,
        Qt.PenCapStyle.RoundCap,
        Qt.PenJoinStyle.RoundJoin,
    )


def draw_outline(painter: QPainter, name: str, rect: QRectF, colour: QColor) -> None:
    """Draw the outline of a sign that is filled otherwise: what a click would set."""
    painter.save()
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.translate(rect.topLeft())
    painter.strokePath(_scaled(name, rect.width()), _pen(colour, 1.2))
    painter.restore()


def draw_warning(painter: QPainter, rect: QRectF, colour: QColor, *, filled: bool) -> None:
    """A triangle with an exclamation mark; hollow for what the recording had already."""
    painter.save()
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    triangle = _stroke(
        (rect.center().x(), rect.top()),
        (rect.right(), rect.bottom()),
        (rect.left(), rect.bottom()),
    )
    triangle.closeSubpath()
    width = max(1.2, rect.width() / 9)
    ink = colour
    if filled:
        painter.fillPath(triangle, colour)
        ink = QColor("#ffffff") if colour.lightness() < 140 else QColor("#16191d")
    painter.strokePath(triangle, _pen(colour, width))
    x, height = rect.center().x(), rect.height()
    painter.setPen(_pen(ink, width))
    painter.drawLine(QLineF(x, rect.top() + height * 0.38, x, rect.top() + height * 0.64))
    painter.drawPoint(QPointF(x, rect.top() + height * 0.84))
    painter.restore()


def draw_padlock(painter: QPainter, rect: QRectF, colour: QColor, *, broken: bool = False) -> None:
    """A padlock filling ``rect``: closed, or with its shackle hanging open."""
    painter.save()
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    width, height = rect.width(), rect.height()
    body = QRectF(rect.left(), rect.top() + height * 0.44, width, height * 0.56)
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(colour)
    painter.drawRoundedRect(body, width * 0.16, width * 0.16)
    shackle = QPainterPath(QPointF(rect.left() + width * 0.2, body.top()))
    shackle.lineTo(rect.left() + width * 0.2, rect.top() + height * 0.3)
    shackle.arcTo(
        QRectF(rect.left() + width * 0.2, rect.top() + height * 0.04, width * 0.6, height * 0.5),
        180,
        -180,
    )
    if not broken:
        shackle.lineTo(rect.left() + width * 0.8, body.top())
    painter.strokePath(shackle, _pen(colour, max(1.1, width * 0.15)))
    painter.restore()


def draw_zone(
    painter: QPainter, zone: int, rect: QRectF, fill: QColor, edge: QColor | None
) -> None:
    """The upright bar of a zone. Its shape says the zone as well as its colour does:

    system a full bar, anchor a bar with a knob, retrieved three pieces, middle a thin bar,
    tail a bar that ends in a point, current a broader one.
    """
    painter.save()
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(QPen(edge, 1) if edge is not None else QPen(Qt.PenStyle.NoPen))
    painter.setBrush(fill)
    _ZONE_SHAPES[Zone(zone)](painter, rect.adjusted(0.5, 0.5, -0.5, -0.5))
    painter.restore()


def _bar(painter: QPainter, rect: QRectF) -> None:
    painter.drawRoundedRect(rect, 1.5, 1.5)


def _knob_bar(painter: QPainter, rect: QRectF) -> None:
    thin = rect.adjusted(rect.width() * 0.2, 0, -rect.width() * 0.2, 0)
    side = rect.width() * 1.5
    path = QPainterPath()
    path.setFillRule(Qt.FillRule.WindingFill)
    path.addRoundedRect(thin, 1.5, 1.5)
    knob = QPainterPath()
    knob.addEllipse(rect.center(), side / 2 + 0.5, side / 2 + 0.5)
    painter.drawPath(path.united(knob))


def _pieces(painter: QPainter, rect: QRectF) -> None:
    gap = max(2.0, rect.height() * 0.09)
    height = (rect.height() - 2 * gap) / 3
    for number in range(3):
        top = rect.top() + number * (height + gap)
        painter.drawRoundedRect(QRectF(rect.left(), top, rect.width(), height), 1, 1)


def _thin_bar(painter: QPainter, rect: QRectF) -> None:
    painter.drawRoundedRect(rect.adjusted(rect.width() * 0.3, 0, -rect.width() * 0.3, 0), 1, 1)


def _pointed(painter: QPainter, rect: QRectF) -> None:
    tip = rect.width() * 1.4
    path = _stroke(
        (rect.left(), rect.top()),
        (rect.right(), rect.top()),
        (rect.right(), rect.bottom() - tip),
        (rect.center().x(), rect.bottom()),
        (rect.left(), rect.bottom() - tip),
    )
    path.closeSubpath()
    painter.drawPath(path)


def _broad_pointed(painter: QPainter, rect: QRectF) -> None:
    _pointed(painter, rect.adjusted(-rect.width() * 0.25, 0, rect.width() * 0.25, 0))


_ZONE_SHAPES: dict[Zone, Callable[[QPainter, QRectF], None]] = {
    Zone.SYSTEM: _bar,
    Zone.ANCHOR: _knob_bar,
    Zone.RETRIEVED: _pieces,
    Zone.MIDDLE: _thin_bar,
    Zone.TAIL: _pointed,
    Zone.CURRENT: _broad_pointed,
}


def zone_icon(theme: Theme, zone: int, size: QSize | None = None) -> QIcon:
    """The bar of a zone as an icon, for legends and menus."""
    return _icon(
        size,
        lambda painter, rect: draw_zone(
            painter,
            zone,
            QRectF(rect.center().x() - 3, rect.top(), 6, rect.height()),
            theme.zone(zone),
            theme.zone_edge(zone),
        ),
    )


def sign_icon(name: str, colour: QColor, size: QSize | None = None) -> QIcon:
    """A sign of ``SIGNS`` as an icon."""
    return _icon(
        size,
        lambda painter, rect: draw_sign(painter, name, rect.adjusted(2, 2, -2, -2), colour),
    )


def warning_icon(colour: QColor, *, filled: bool, size: QSize | None = None) -> QIcon:
    """The sign of a problem as an icon."""
    return _icon(
        size,
        lambda painter, rect: draw_warning(
            painter, rect.adjusted(1, 2, -1, -2), colour, filled=filled
        ),
    )


def _icon(size: QSize | None, draw: Callable[[QPainter, QRectF], None]) -> QIcon:
    size = size or QSize(14, 14)
    icon = QIcon()
    for ratio in (1, 2, 3):
        pixmap = QPixmap(size * ratio)
        pixmap.setDevicePixelRatio(ratio)
        pixmap.fill(Qt.GlobalColor.transparent)
        painter = QPainter(pixmap)
        draw(painter, QRectF(0, 0, size.width(), size.height()))
        painter.end()
        icon.addPixmap(pixmap)
    return icon


def hatch(colour: QColor, ratio: float, step: int = 8, width: float = 1.2) -> QPixmap:
    """A tile of diagonal lines on a transparent ground, ``step`` device-independent pixels."""
    return _hatch(colour.name(), ratio, step, width)


@lru_cache(maxsize=32)
def _hatch(colour: str, ratio: float, step: int, width: float) -> QPixmap:
    side = round(step * ratio)
    tile = QPixmap(side, side)
    tile.fill(Qt.GlobalColor.transparent)
    painter = QPainter(tile)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(QPen(QColor(colour), width * ratio))
    for offset in (-side, 0, side):
        painter.drawLine(QLineF(offset - 1, side + 1, offset + side + 1, -1))
    painter.end()
    tile.setDevicePixelRatio(ratio)
    return tile
