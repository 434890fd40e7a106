"""Some releases of PySide6 give away a reference to None that they do not own.

6.12.0 does so with every call that returns nothing, under Python 3.11 and older: after a few
thousand calls the interpreter aborts ("none_dealloc: deallocating None"). pyproject.toml excludes
it there; this test fails if such a release comes in all the same.
"""

from __future__ import annotations

import sys
from collections.abc import Callable

import pytest
from PySide6.QtCore import QRect
from PySide6.QtGui import QColor, QImage, QPainter
from PySide6.QtWidgets import QLabel, QSlider
from pytestqt.qtbot import QtBot

CALLS = 500
SLACK = 50
"""References to None that the interpreter itself may gain or lose meanwhile."""


@pytest.mark.skipif(
    sys.version_info >= (3, 12), reason="None is immortal from Python 3.12 on, nothing can be lost"
)
def test_calls_that_return_nothing_leave_the_references_to_none_alone(qtbot: QtBot) -> None:
    label, slider = QLabel(), QSlider()
    qtbot.addWidget(label)
    qtbot.addWidget(slider)
    image = QImage(8, 8, QImage.Format.Format_RGB32)
    painter = QPainter(image)
    calls: dict[str, Callable[[], object]] = {
        "QLabel.setText": lambda: label.setText("x"),
        "QWidget.update": label.update,
        "QSlider.setValue": lambda: slider.setValue(3),
        "QPainter.setPen": lambda: painter.setPen(QColor("red")),
        "QPainter.fillRect": lambda: painter.fillRect(QRect(0, 0, 4, 4), QColor("blue")),
    }
    lost = {}
    for name, call in calls.items():
        before = sys.getrefcount(None)
        for _ in range(CALLS):
            call()
        lost[name] = before - sys.getrefcount(None)
    painter.end()
    assert {name: number for name, number in lost.items() if number > SLACK} == {}
