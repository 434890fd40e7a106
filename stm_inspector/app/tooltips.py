"""Tool tips with text from a conversation."""

from __future__ import annotations

import html
import textwrap

from PySide6.QtGui import Qt as GuiQt

from stm_inspector.conversation.visible import visible

_WIDTH = 76


def plain(text: str) -> str:
    """``text`` in lines of readable length, so that a tool tip shows it as it stands.

    Qt would read tags in it as HTML, and so open files that an image names.
    """
    lines = visible(text).splitlines()
    shown = "\n".join(textwrap.fill(line, _WIDTH) for line in lines)
    if not GuiQt.mightBeRichText(shown):
        return shown
    return f"<p style='white-space: pre-wrap'>{html.escape(shown)}</p>"
