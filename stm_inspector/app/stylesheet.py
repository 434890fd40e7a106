"""The application's one style sheet, made from a theme: flat, calm, even heights."""

from __future__ import annotations

from typing import TYPE_CHECKING

from stm_inspector.paths import resource

if TYPE_CHECKING:
    from stm_inspector.app.theme import Theme

_SHEET = """
QToolTip { background: @panel; color: @text; border: 1px solid @line_strong; padding: 5px 7px; }

QPushButton, QToolButton {
    background: @background; color: @text; border: 1px solid @line_strong; border-radius: 6px;
    padding: 0 11px; min-height: 26px;
}
QToolButton { padding: 0 8px; }
QPushButton:hover, QToolButton:hover { background: @hover; }
QPushButton:pressed, QToolButton:pressed, QToolButton:checked { background: @pressed; }
QPushButton:disabled, QToolButton:disabled { color: @text_faint; border-color: @line; }
QPushButton:focus, QToolButton:focus {
    border: 2px solid @focus; padding: 0 10px; min-height: 24px;
}
QToolButton:focus { padding: 0 7px; }
QToolButton[autoRaise="true"] { background: transparent; border-color: transparent; }
QToolButton[autoRaise="true"]:hover { background: @hover; }
QToolButton[autoRaise="true"]:focus { border-color: @focus; }
QPushButton:default, QPushButton[primary="true"], QToolButton[primary="true"] {
    background: @accent; color: @on_accent; border-color: @accent;
}
QPushButton:default:hover, QPushButton[primary="true"]:hover, QToolButton[primary="true"]:hover {
    background: @accent_hover; border-color: @accent_hover;
}
QPushButton[primary="true"]:focus, QPushButton:default:focus, QToolButton[primary="true"]:focus {
    border: 2px solid @text;
}
QPushButton:default:disabled, QPushButton[primary="true"]:disabled,
QToolButton[primary="true"]:disabled {
    background: @raised; color: @text_faint; border-color: @raised;
}
QPushButton[flat="true"] { background: transparent; border-color: transparent; color: @accent; }
QPushButton[flat="true"]:hover { background: @hover; }
QPushButton[flat="true"]:focus { border-color: @focus; }
QPushButton[compact="true"], QToolButton[compact="true"] {
    padding: 0 7px; min-height: 19px; border-radius: 5px;
}
QPushButton[compact="true"]:focus, QToolButton[compact="true"]:focus {
    padding: 0 6px; min-height: 17px;
}
QPushButton::menu-indicator, QToolButton::menu-indicator {
    image: url(@icons/chevron-down.svg); width: 10px; height: 10px;
    subcontrol-origin: padding; subcontrol-position: right center; right: 7px;
}
QToolButton[popupMode="2"], QPushButton[menu="true"] { padding-right: 23px; }
QToolButton[popupMode="1"] { padding-right: 26px; }
QToolButton::menu-button {
    border: none; border-left: 1px solid @line_strong; width: 20px;
    border-top-right-radius: 6px; border-bottom-right-radius: 6px;
}
QToolButton::menu-arrow { image: url(@icons/chevron-down.svg); width: 10px; height: 10px; }

QComboBox {
    background: @background; color: @text; border: 1px solid @line_strong; border-radius: 6px;
    padding: 0 4px 0 9px; min-height: 26px;
}
QComboBox:hover { background: @hover; }
QComboBox:focus, QComboBox:on { border: 2px solid @focus; padding: 0 3px 0 8px; min-height: 24px; }
QComboBox:disabled { color: @text_faint; border-color: @line; }
QComboBox::drop-down { border: none; width: 20px; }
QComboBox::down-arrow { image: url(@icons/chevron-down.svg); width: 10px; height: 10px; }
QComboBox QAbstractItemView {
    background: @background; color: @text; border: 1px solid @line_strong; padding: 3px;
    selection-background-color: @selection; selection-color: @text; outline: none;
}
QComboBox QAbstractItemView::item { min-height: 24px; padding: 0 6px; }

QLineEdit, QAbstractSpinBox {
    background: @background; color: @text; border: 1px solid @line_strong; border-radius: 6px;
    padding: 0 8px; min-height: 26px;
    selection-background-color: @accent; selection-color: @on_accent;
}
QAbstractSpinBox { padding: 0 2px 0 6px; }
QLineEdit:focus, QAbstractSpinBox:focus { border: 2px solid @focus; min-height: 24px; }
QLineEdit:focus { padding: 0 7px; }
QAbstractSpinBox:focus { padding: 0 1px 0 5px; }
QLineEdit:disabled, QAbstractSpinBox:disabled { color: @text_faint; border-color: @line; }
QAbstractSpinBox QLineEdit, QComboBox QLineEdit {
    border: none; padding: 0 4px; min-height: 0; background: transparent;
}
QAbstractSpinBox QLineEdit:focus, QComboBox QLineEdit:focus { border: none; min-height: 0; }
QAbstractSpinBox::up-button, QAbstractSpinBox::down-button {
    border: none; background: transparent; width: 16px; subcontrol-origin: border;
}
QAbstractSpinBox::up-button { subcontrol-position: top right; margin: 2px 2px 0 0; }
QAbstractSpinBox::down-button { subcontrol-position: bottom right; margin: 0 2px 2px 0; }
QAbstractSpinBox::up-button:hover, QAbstractSpinBox::down-button:hover {
    background: @raised; border-radius: 3px;
}
QAbstractSpinBox::up-arrow { image: url(@icons/chevron-up.svg); width: 8px; height: 8px; }
QAbstractSpinBox::down-arrow { image: url(@icons/chevron-down.svg); width: 8px; height: 8px; }

QCheckBox, QRadioButton { color: @text; spacing: 7px; min-height: 22px; }
QCheckBox:disabled, QRadioButton:disabled { color: @text_faint; }
QCheckBox::indicator {
    width: 14px; height: 14px; border: 1px solid @text_faint; border-radius: 4px;
    background: @background;
}
QCheckBox::indicator:hover { background: @hover; }
QCheckBox::indicator:checked {
    background: @accent; border-color: @accent; image: url(@icons/check-@name.svg);
}
QCheckBox::indicator:focus { border: 2px solid @focus; width: 12px; height: 12px; }
QCheckBox::indicator:disabled { border-color: @line_strong; background: @raised; }

QTabWidget::pane { border: none; border-top: 1px solid @line; }
QTabBar { background: transparent; qproperty-drawBase: 0; }
QTabBar::tab {
    background: transparent; color: @text_soft; border: none;
    border-bottom: 2px solid transparent; padding: 6px 2px 5px 2px; margin-right: 18px;
}
QTabBar::tab:hover { color: @text; }
QTabBar::tab:selected { color: @text; border-bottom-color: @accent; }
QTabBar::tab:focus { color: @accent; border-bottom-color: @focus; }
QTabBar::tab:disabled { color: @text_faint; }

QScrollBar { background: transparent; border: none; margin: 0; }
QScrollBar:vertical { width: 11px; }
QScrollBar:horizontal { height: 11px; }
QScrollBar::handle { background: @scroll; border-radius: 3px; margin: 2px 4px 2px 2px; }
QScrollBar::handle:vertical { min-height: 32px; }
QScrollBar::handle:horizontal { min-width: 32px; margin: 2px 2px 4px 2px; }
QScrollBar::handle:hover, QScrollBar::handle:pressed { background: @scroll_hover; }
QScrollBar::add-line, QScrollBar::sub-line { width: 0; height: 0; border: none; }
QScrollBar::add-page, QScrollBar::sub-page { background: transparent; }
QAbstractScrollArea::corner { background: transparent; border: none; }

QSplitter::handle { background: @line; }
QSplitter::handle:horizontal { width: 1px; }
QSplitter::handle:vertical { height: 1px; }
QSplitter::handle:hover { background: @accent; }

QMenuBar { background: @background; color: @text; border-bottom: 1px solid @line; }
QMenuBar::item { background: transparent; padding: 5px 9px; border-radius: 5px; }
QMenuBar::item:selected { background: @raised; }
QMenu { background: @background; color: @text; border: 1px solid @line_strong; padding: 4px; }
QMenu::item { padding: 5px 22px 5px 22px; border-radius: 5px; }
QMenu::item:selected { background: @selection; }
QMenu::item:disabled { color: @text_faint; }
QMenu::separator { height: 1px; background: @line; margin: 4px 8px; }
QMenu::indicator { width: 12px; height: 12px; left: 6px; }
QMenu::indicator:checked { image: url(@icons/tick-@name.svg); }

QStatusBar { background: @panel; color: @text_soft; border-top: 1px solid @line; }
QStatusBar::item { border: none; }

QTableView, QTreeView, QListView {
    background: @background; color: @text; border: none; gridline-color: @line;
    selection-background-color: @selection; selection-color: @text; outline: none;
}
QTreeView::item, QListView::item { min-height: 24px; }
QTableView:focus, QTreeView:focus, QListView:focus { border: 1px solid @focus; }
QHeaderView::section {
    background: @background; color: @text_soft; border: none; border-bottom: 1px solid @line;
    padding: 5px 6px;
}
QPlainTextEdit, QTextEdit, QTextBrowser {
    background: @background; color: @text; border: none;
    selection-background-color: @accent; selection-color: @on_accent;
}
QProgressBar {
    background: @raised; border: none; border-radius: 3px; max-height: 6px; min-height: 6px;
    text-align: center; color: transparent;
}
QProgressBar::chunk { background: @accent; border-radius: 3px; }

QLabel[level="soft"] { color: @text_soft; }
QLabel[level="faint"] { color: @text_faint; }
QLabel[level="error"] { color: @error; }
QLabel[level="caps"] { color: @text_soft; }
QLabel[chip="true"] {
    background: @raised; color: @text; border-radius: 4px; padding: 2px 6px;
}
QFrame[panel="true"], QWidget[panel="true"] { background: @panel; }
QFrame[rule="true"] { background: @line; border: none; max-height: 1px; min-height: 1px; }
"""


def stylesheet(theme: Theme) -> str:
    """The style sheet of ``theme``.

    Widgets ask for what is not of their class by dynamic properties: ``primary`` buttons,
    labels with a ``level`` ("soft", "faint", "error", "caps") or as a ``chip``, frames as a
    ``panel`` or a ``rule``.
    """
    words = {name: getattr(theme, name) for name in theme.__slots__ if name != "zone_edges"}
    words["icons"] = resource("icons").as_posix()
    words["scroll"] = theme.line_strong
    words["scroll_hover"] = theme.text_faint
    sheet = _SHEET
    for name in sorted(words, key=len, reverse=True):
        sheet = sheet.replace(f"@{name}", words[name])
    return sheet
