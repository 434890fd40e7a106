"""What the tests of the window share: a short chat, and waiting for the window."""

from __future__ import annotations

from typing import Any

from pytestqt.qtbot import QtBot

from stm_inspector.app.main_window import MainWindow

CHAT: list[dict[str, Any]] = [
    {"role": "system", "content": "You are a careful baker."},
    {"role": "user", "content": "Bake a rye loaf for Sunday. No sesame, please."},
    {
        "role": "assistant",
        "content": None,
        "tool_calls": [
            {
                "id": "call_1",
                "type": "function",
                "function": {"name": "read_recipe", "arguments": '{"path":"rye.md"}'},
            },
            {
                "id": "call_2",
                "type": "function",
                "function": {"name": "check_pantry", "arguments": '{"item":"rye flour"}'},
            },
        ],
    },
    {"role": "tool", "tool_call_id": "call_1", "content": "# Rye\n\n500 g rye flour " * 30},
    {"role": "tool", "tool_call_id": "call_2", "content": "2 kg of rye flour on the shelf"},
    {"role": "assistant", "content": "There is flour enough. Start on Saturday."},
    {"role": "user", "content": "Which tin should I use?"},
    {"role": "assistant", "content": "The long one.\n\n```python\nprint('tin')\n```\n"},
    {"role": "user", "content": "And how hot is the oven?"},
]
"""A short chat with one lock group of three messages."""


def settle(window: MainWindow, qtbot: QtBot) -> None:
    """Wait until the window has nothing more to do."""
    qtbot.waitUntil(lambda: window.settled, timeout=20_000)
