"""Exporting the trimmed buffer: asks first where the trimming breaks the request."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from PySide6.QtCore import QObject, Signal
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QFileDialog, QWidget

from stm_inspector.app.dialogs import choose, confirm, inform
from stm_inspector.app.preferences import Preferences
from stm_inspector.app.session import Session
from stm_inspector.app.tasks import Runner
from stm_inspector.buffer.plan import Plan, Problem, Severity
from stm_inspector.conversation.errors import InputError
from stm_inspector.conversation.model import Conversation
from stm_inspector.engine import export, export_text
from stm_inspector.formats.compose import Target, targets

T = TypeVar("T")


class Exporter(QObject):
    """Writes the session's plan to a file or the clipboard, off the GUI thread.

    Signals:
        done(str): what was done, one sentence.
        failed(str): what went wrong, one sentence.
    """

    done = Signal(str)
    failed = Signal(str)

    def __init__(self, session: Session, preferences: Preferences, window: QWidget) -> None:
        super().__init__(window)
        self._session = session
        self._preferences = preferences
        self._window = window
        self.runner: Runner[Any] = Runner(self)

    def to_other_api(self) -> None:
        """Ask which API's request body to write, and where; then say what it cannot hold."""
        found = targets()
        place = choose(
            self._window,
            "Export as",
            "Write the trimmed buffer as a request body of",
            [target.title for target in found],
        )
        if place is not None:
            self.to_file(found[place])

    def to_file(self, target: Target | None = None) -> None:
        """Ask where, and write beside and rename; in the source's own format without ``target``."""
        ready = self._ready()
        if ready is None:
            return
        conversation, plan = ready
        chosen, _kind = QFileDialog.getSaveFileName(
            self._window, "Export the trimmed buffer", self._suggestion(), "JSON (*.json *.jsonl)"
        )
        if not chosen:
            return
        self._preferences.folder = str(Path(chosen).parent)

        done = f"Exported {_amount(plan)} to {Path(chosen).name}."

        def finish(losses: tuple[str, ...]) -> None:
            self.done.emit(done)
            if losses and target is not None:
                inform(self._window, f"{done} {target.title} changes this:", "\n".join(losses))

        api = target.id if target is not None else None
        self._run(lambda: export(conversation, plan, chosen, api), finish)

    def to_clipboard(self) -> None:
        """Put the same text on the clipboard."""
        ready = self._ready()
        if ready is None:
            return
        conversation, plan = ready

        def finish(text: str) -> None:
            QGuiApplication.clipboard().setText(text)
            self.done.emit(f"Copied {_amount(plan)} to the clipboard as JSON.")

        self._run(lambda: export_text(conversation, plan).text, finish)

    def _ready(self) -> tuple[Conversation, Plan] | None:
        conversation, plan = self._session.conversation, self._session.plan
        if conversation is None or plan is None:
            return None
        broken = breaking(plan)
        if broken and not confirm(
            self._window,
            "The API would reject what is left. Export it all the same?",
            summary(broken),
            "Export anyway",
        ):
            return None
        return conversation, plan

    def _run(self, work: Callable[[], T], finish: Callable[[T], None]) -> None:
        self.runner.start(lambda _job: work(), finish, self._fail)

    def _fail(self, error: BaseException) -> None:
        if isinstance(error, InputError):
            self.failed.emit(str(error))
        else:
            raise error

    def _suggestion(self) -> str:
        recording = self._session.recording
        source = Path(recording.path) if recording is not None else Path("conversation.json")
        folder = self._preferences.folder or str(source.parent)
        suffix = ".jsonl" if source.suffix == ".jsonl" else ".json"
        return str(Path(folder) / f"{source.stem}.trimmed{suffix}")


def breaking(plan: Plan) -> list[Problem]:
    """The errors of a plan: for these an API rejects the request."""
    return [problem for problem in plan.problems if problem.severity is Severity.ERROR]


def summary(problems: list[Problem], shown: int = 3) -> str:
    """The first few problems in words, and how many more there are."""
    lines = [
        f"{problem.rule}{' (in the recording already)' if problem.recorded else ''}: {problem.text}"
        for problem in problems[:shown]
    ]
    more = sum(problem.places for problem in problems[shown:])
    if more:
        lines.append(f"and {more:,} more, in the problem list.")
    return "\n".join(lines)


def _amount(plan: Plan) -> str:
    after = plan.totals.after
    return f"{after.messages:,} messages ({after.tokens:,} tokens, {plan.totals.exactness.word})"
