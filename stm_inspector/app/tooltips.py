"""Tool tips with text from a conversation."""

from __future__ import annotations

import html

from PySide6.QtGui import Qt as GuiQt

from stm_inspector.conversation.visible import visible


def plain(text: str) -> str:
    """``text`` so that a tool tip shows it as it stands: Qt would read tags in it as HTML,
    and so open files that an image names."""
    shown = visible(text)
    if not GuiQt.mightBeRichText(shown):
        return shown
    return f"<p style='white-space: pre-wrap'>{html.escape(shown)}</p>"
