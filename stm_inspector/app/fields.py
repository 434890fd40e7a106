"""Editors for typed settings, made from the setting's own description."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import QSignalBlocker, Qt, Signal
from PySide6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QDoubleSpinBox,
    QGridLayout,
    QHBoxLayout,
    QLineEdit,
    QSpinBox,
    QWidget,
)

from stm_inspector.buffer.settings import ZONE_NAMES, Setting

LARGEST = 2_000_000_000
"""No number of tokens or messages is larger than what a spin box holds."""
ZONE_TITLES = {
    "system": "System",
    "anchor": "Anchor",
    "retrieved": "Retrieved",
    "middle": "Middle",
    "tail": "Tail",
    "current": "Current turn",
}
ZONE_TIPS = {
    "system": "System prompt, developer messages and tool definitions",
    "anchor": "The first message a person wrote",
    "retrieved": "Search hits, memories, documents and other context fetched for a turn",
    "middle": "Everything between the task and the newest turns",
    "tail": "The newest turns before the current one",
    "current": "The last message a person wrote and what follows it",
}


def count_box(name: str, unit: str = "", *, low: int = 0, high: int = LARGEST) -> QSpinBox:
    """A spin box for a count: thousands separated, whole steps sized by what it counts."""
    box = QSpinBox()
    box.setRange(low, high)
    box.setGroupSeparatorShown(True)
    box.setAccelerated(True)
    box.setKeyboardTracking(False)
    box.setAlignment(Qt.AlignmentFlag.AlignRight)
    box.setAccessibleName(name)
    if unit == "tokens":
        box.setSingleStep(256)
    elif unit:
        box.setSuffix(f" {unit}")
    return box


def percent_box(name: str) -> QDoubleSpinBox:
    """A spin box for a share, shown in per cent; its value is 0 to 100."""
    box = QDoubleSpinBox()
    box.setRange(1, 100)
    box.setDecimals(1)
    box.setSuffix(" %")
    box.setKeyboardTracking(False)
    box.setAlignment(Qt.AlignmentFlag.AlignRight)
    box.setAccessibleName(name)
    return box


class Field(QWidget):
    """An editor for one setting.

    Attributes:
        editors: what takes the keyboard, in order.

    Signals:
        edited(object): the user gave another value, of the setting's own type.
    """

    edited = Signal(object)

    def __init__(self, entry: Setting) -> None:
        super().__init__()
        self.entry = entry
        self.editors: tuple[QWidget, ...] = ()
        self._row = QHBoxLayout(self)
        self._row.setContentsMargins(0, 0, 0, 0)

    def set_value(self, value: Any) -> None:
        """Show ``value`` without emitting ``edited``."""
        raise NotImplementedError

    def _adopt(self, editor: QWidget) -> None:
        unit = f" ({self.entry.unit})" if self.entry.unit else ""
        tip = f"{self.entry.help}\nDefault: {_shown(self.entry)}"
        editor.setToolTip(tip)
        editor.setAccessibleName(f"{self.entry.label}{unit}")
        editor.setAccessibleDescription(self.entry.help)
        self._row.addWidget(editor)
        # No focus proxy: one that stands behind its editor in the Tab chain is a trap.
        self.editors = (editor,)


def _shown(entry: Setting) -> str:
    value = entry.default
    if isinstance(value, bool):
        return "on" if value else "off"
    if isinstance(value, list):
        return ", ".join(value) or "none"
    if is_share(entry):
        return f"{100 * value:g} %"
    text = f"{value:,}" if isinstance(value, int) else str(value)
    return f"{text} {entry.unit}".strip()


def is_share(entry: Setting) -> bool:
    """A fraction: shown in per cent."""
    bounded = entry.high is not None and entry.high <= 1
    return entry.type == "float" and (bounded or entry.unit.startswith("of "))


class _IntField(Field):
    def __init__(self, entry: Setting) -> None:
        super().__init__(entry)
        low = int(entry.low) if entry.low is not None else 0
        high = int(entry.high) if entry.high is not None else LARGEST
        self._box = count_box(entry.label, entry.unit, low=low, high=high)
        self._box.valueChanged.connect(lambda value: self.edited.emit(value))
        self._adopt(self._box)

    def set_value(self, value: Any) -> None:
        with QSignalBlocker(self._box):
            self._box.setValue(value)


class _FloatField(Field):
    def __init__(self, entry: Setting) -> None:
        super().__init__(entry)
        self._scale = 100.0 if is_share(entry) else 1.0
        self._box = percent_box(entry.label) if is_share(entry) else QDoubleSpinBox()
        self._box.setKeyboardTracking(False)
        self._box.setAlignment(Qt.AlignmentFlag.AlignRight)
        low = entry.low if entry.low is not None else 0.0
        high = entry.high if entry.high is not None else (LARGEST if self._scale == 1 else 1.0)
        self._box.setRange(low * self._scale, high * self._scale)
        if self._scale == 1 and entry.unit:
            self._box.setSuffix(f" {entry.unit}")
        self._box.valueChanged.connect(lambda value: self.edited.emit(value / self._scale))
        self._adopt(self._box)

    def set_value(self, value: Any) -> None:
        with QSignalBlocker(self._box):
            self._box.setValue(value * self._scale)


class _BoolField(Field):
    def __init__(self, entry: Setting) -> None:
        super().__init__(entry)
        self._box = QCheckBox(entry.label)
        self._box.toggled.connect(lambda on: self.edited.emit(on))
        self._adopt(self._box)

    def set_value(self, value: Any) -> None:
        with QSignalBlocker(self._box):
            self._box.setChecked(value)


class _ChoiceField(Field):
    def __init__(self, entry: Setting) -> None:
        super().__init__(entry)
        self._box = QComboBox()
        for choice in entry.choices:
            self._box.addItem(choice.replace("-", " ").replace("_", " "), choice)
        self._box.activated.connect(lambda _place: self.edited.emit(self._box.currentData()))
        self._adopt(self._box)

    def set_value(self, value: Any) -> None:
        self._box.setCurrentIndex(self._box.findData(value))


class _TextField(Field):
    def __init__(self, entry: Setting) -> None:
        super().__init__(entry)
        self._line = QLineEdit()
        self._line.editingFinished.connect(self._finish)
        self._value = ""
        self._adopt(self._line)

    def set_value(self, value: Any) -> None:
        self._value = value
        if self._line.text() != value:
            self._line.setText(value)

    def _finish(self) -> None:
        if self._line.text() != self._value:
            self.edited.emit(self._line.text())


class ZonesField(Field):
    """Check boxes for a set of zones; the value is a list of zone names in buffer order."""

    def __init__(self, entry: Setting) -> None:
        super().__init__(entry)
        grid = QGridLayout()
        grid.setContentsMargins(0, 0, 0, 0)
        grid.setHorizontalSpacing(10)
        grid.setVerticalSpacing(4)
        self._boxes = {name: QCheckBox(ZONE_TITLES[name]) for name in ZONE_NAMES}
        for place, (name, box) in enumerate(self._boxes.items()):
            box.setToolTip(f"{ZONE_TIPS[name]}.\nChecked: the policy never touches it.")
            box.setAccessibleName(f"{entry.label}: {ZONE_TITLES[name]}")
            box.toggled.connect(self._toggled)
            grid.addWidget(box, place // 2, place % 2)
        self._row.addLayout(grid)
        self._row.addStretch()
        self.editors = tuple(self._boxes.values())

    def set_value(self, value: Any) -> None:
        for name, box in self._boxes.items():
            with QSignalBlocker(box):
                box.setChecked(name in value)

    def _toggled(self, _on: bool) -> None:
        self.edited.emit([name for name, box in self._boxes.items() if box.isChecked()])


_FIELDS: dict[str, type[Field]] = {
    "int": _IntField,
    "float": _FloatField,
    "bool": _BoolField,
    "text": _TextField,
    "choice": _ChoiceField,
    "zones": ZonesField,
}


def make_field(entry: Setting) -> Field:
    """The editor for ``entry``."""
    return _FIELDS[entry.type](entry)
