"""What the main window adds to the application's style sheet."""

from __future__ import annotations

from stm_inspector.app.theme import Theme

_SHEET = """
QPushButton[link="true"] {{
    background: transparent; border: 1px solid transparent; border-radius: 4px;
    color: {accent}; padding: 0; min-height: 20px; text-align: left;
}}
QPushButton[link="true"]:hover {{ color: {accent_hover}; background: {hover}; }}
QPushButton[link="true"]:focus {{ border: 1px solid {focus}; padding: 0; min-height: 20px; }}
QPushButton[card="true"] {{ text-align: left; padding: 0; min-height: 46px; }}
QPushButton[card="true"]:focus {{ border: 2px solid {focus}; padding: 0; min-height: 44px; }}
QAbstractSpinBox[compact="true"], QComboBox[compact="true"] {{ min-height: 22px; }}
QAbstractSpinBox[compact="true"]:focus, QComboBox[compact="true"]:focus {{ min-height: 20px; }}
QScrollArea[panel="true"] {{ background: {panel}; border: none; }}
"""


def window_style(theme: Theme) -> str:
    """The window's own rules in the colours of ``theme``."""
    return _SHEET.format(
        accent=theme.accent,
        accent_hover=theme.accent_hover,
        hover=theme.hover,
        focus=theme.focus,
        panel=theme.panel,
    )
