"""Every command of the window in one table: menus, shortcuts and their list come from it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from PySide6.QtGui import QAction, QKeySequence
from PySide6.QtWidgets import QMainWindow

Standard = QKeySequence.StandardKey


@dataclass(frozen=True, slots=True)
class Command:
    """One command.

    Attributes:
        id: what the window binds it by.
        menu: the menu it stands in.
        text: with its mnemonic.
        keys: a standard key, or shortcuts as text; a standard key that the platform leaves
            empty falls back to ``fallback``.
        tip: what it does, in one sentence.
        needs_file: it is off until something is open.
        apart: a line stands before it in the menu.
    """

    id: str
    menu: str
    text: str
    tip: str
    keys: QKeySequence.StandardKey | str = ""
    fallback: str = ""
    needs_file: bool = True
    apart: bool = False


MENUS = ("&File", "&Edit", "&View", "&Policy", "&Help")
COMMANDS = (
    Command("open", "&File", "&Open…", "Open a recorded conversation.", Standard.Open,
            needs_file=False),
    Command("open-as", "&File", "Open &as…",
            "Say which format a file is in, then open it.", needs_file=False),
    Command("reload", "&File", "Re&load", "Read the open file again.", "F5"),
    Command("export", "&File", "&Export JSON…", "Write the trimmed buffer to a file.",
            Standard.Save, apart=True),
    Command("export-as", "&File", "E&xport as…",
            "Write the trimmed buffer as the request body of another API.", "Ctrl+Shift+E"),
    Command("copy-export", "&File", "&Copy export to clipboard",
            "Put the trimmed buffer on the clipboard as JSON.", "Ctrl+Shift+S"),
    Command("checkpoint", "&File", "Save chec&kpoint…",
            "Save what is shown, to open it again: file, settings, pins, marks and call.",
            "Ctrl+Alt+S"),
    Command("quit", "&File", "&Quit", "Close the window.", Standard.Quit, "Ctrl+Q",
            needs_file=False, apart=True),
    Command("copy", "&Edit", "&Copy message", "Copy the text of the selected message.",
            Standard.Copy, apart=True),
    Command("copy-json", "&Edit", "Copy message as &JSON", "Copy the selected message as JSON.",
            "Ctrl+Shift+C"),
    Command("pin", "&Edit", "&Pin or unpin", "Always keep the selected message and its group.",
            "Ctrl+K", apart=True),
    Command("retrieved", "&Edit", "&Mark as retrieved or not",
            "Say whether the selected message is fetched context.", "Ctrl+M"),
    Command("find", "&Edit", "&Find…", "Search texts and tool arguments.", Standard.Find,
            apart=True),
    Command("find-next", "&Edit", "Find &next", "Go to the next match.", Standard.FindNext, "F3"),
    Command("find-previous", "&Edit", "Find pre&vious", "Go to the previous match.",
            Standard.FindPrevious, "Shift+F3"),
    Command("go-to", "&Edit", "&Go to message…", "Select a message by its number.", "Ctrl+J"),
    Command("filter", "&View", "&Filter", "Put the keyboard on the filter row.", "Ctrl+L"),
    Command("clear-filter", "&View", "&Clear filter", "Show every message again.",
            "Ctrl+Shift+L"),
    Command("problems", "&View", "&Problems", "Show the problem list.", "Ctrl+Shift+M", apart=True),
    Command("next-problem", "&View", "&Next problem", "Go to the next problem.", "F8"),
    Command("previous-problem", "&View", "Previous pr&oblem", "Go to the previous problem.",
            "Shift+F8"),
    Command("next-pane", "&View", "Next p&ane", "Move the keyboard to the next pane.", "F6",
            apart=True),
    Command("first-call", "&View", "First ca&ll", "Show the first call of the recording.",
            "Alt+Home", apart=True),
    Command("previous-call", "&View", "Pre&vious call", "Show the call before.", "Alt+Left"),
    Command("next-call", "&View", "Ne&xt call", "Show the call after.", "Alt+Right"),
    Command("last-call", "&View", "La&st call", "Show what would be sent next.", "Alt+End"),
    Command("timeline", "&View", "&Timeline", "Show or hide the timeline.", "Ctrl+T"),
    Command("full-screen", "&View", "F&ull screen", "Use the whole screen, or not.",
            Standard.FullScreen, "F11", needs_file=False, apart=True),
    Command("reset", "&Policy", "&Reset to defaults", "Put every setting back to its default.",
            "Ctrl+Shift+R", apart=True),
    Command("shortcuts", "&Help", "&Keyboard shortcuts", "List every command and its keys.",
            Standard.HelpContents, "F1", needs_file=False),
    Command("about", "&Help", "&About STM Inspector", "Say what this program is.",
            needs_file=False),
)  # fmt: skip


class Actions(Mapping[str, QAction]):
    """The commands as actions of a window, by id."""

    def __init__(self, window: QMainWindow, run: Callable[[str], object]) -> None:
        """Make an action for every command; ``run`` carries out the one of an id."""
        self._actions: dict[str, QAction] = {}
        for command in COMMANDS:
            action = QAction(command.text, window)
            action.setObjectName(command.id)
            action.setStatusTip(command.tip)
            action.setToolTip(command.tip)
            action.setShortcuts(keys_of(command))
            action.triggered.connect(lambda _on=False, name=command.id: run(name))
            window.addAction(action)
            self._actions[command.id] = action

    def __getitem__(self, key: str) -> QAction:
        return self._actions[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._actions)

    def __len__(self) -> int:
        return len(self._actions)

    def set_file_open(self, is_open: bool) -> None:
        """Switch on or off what needs an open file."""
        for command in COMMANDS:
            if command.needs_file:
                self._actions[command.id].setEnabled(is_open)


def keys_of(command: Command) -> list[QKeySequence]:
    """The shortcuts of a command on this platform."""
    if isinstance(command.keys, str):
        return [QKeySequence(command.keys)] if command.keys else []
    bound = QKeySequence.keyBindings(command.keys)
    wanted = QKeySequence(command.fallback) if command.fallback else None
    if wanted is not None and wanted not in bound:
        bound.append(wanted)
    return bound


def shortcut_rows() -> list[tuple[str, str, str]]:
    """(command, keys, what it does) of every command, for the list of shortcuts."""
    rows = []
    for command in COMMANDS:
        keys = keys_of(command)[:1]  # the others are those of rare keyboards
        text = "".join(one.toString(QKeySequence.SequenceFormat.NativeText) for one in keys)
        rows.append((command.text.replace("&", "").rstrip("…"), text, command.tip))
    return rows
