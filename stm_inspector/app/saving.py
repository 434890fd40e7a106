"""Saving a checkpoint of what the window shows."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QFileDialog, QWidget

from stm_inspector.app.preferences import Preferences
from stm_inspector.app.session import Session
from stm_inspector.checkpoint import SUFFIX, Checkpoint, save_checkpoint
from stm_inspector.conversation.errors import InputError


class CheckpointSaver(QObject):
    """Writes what the session shows to a checkpoint.

    Signals:
        done(str): what was done, one sentence.
        failed(str): what went wrong, one sentence.
    """

    done = Signal(str)
    failed = Signal(str)

    def __init__(self, session: Session, preferences: Preferences, window: QWidget) -> None:
        super().__init__(window)
        self._session, self._preferences, self._window = session, preferences, window

    def ask(self) -> None:
        """Ask where, and save."""
        if self._session.recording is None:
            return
        name = f"{Path(self._session.recording.path).stem}{SUFFIX}"
        chosen, _kind = QFileDialog.getSaveFileName(
            self._window,
            "Save a checkpoint",
            str(Path(self._preferences.folder) / name),
            f"Checkpoints (*{SUFFIX});;All files (*)",
        )
        if chosen:
            self.save(chosen)

    def save(self, path: str) -> None:
        """Save what is shown to ``path``, or say why that does not work."""
        session = self._session
        recording, conversation, choices = session.recording, session.conversation, session.choices
        if recording is None or conversation is None:
            return
        checkpoint = Checkpoint(
            recording.path,
            recording.format,
            conversation.origin.number,
            choices.settings,
            choices.counter,
            choices.model,
            session.selection,
        )
        try:
            save_checkpoint(path, checkpoint)
        except InputError as error:
            self.failed.emit(str(error))
        else:
            self.done.emit(f"Saved {Path(path).name}.")
