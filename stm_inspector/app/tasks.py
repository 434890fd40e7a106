"""Work off the GUI thread: one job at a time, the newest wins, results come back on it."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any, Generic, TypeVar

from PySide6.QtCore import QObject, QRunnable, Qt, QThreadPool, Signal, Slot

T = TypeVar("T")
_log = logging.getLogger(__name__)


class Cancelled(Exception):
    """Raised inside a job that notices that nobody wants its result any more."""


class Job:
    """What a running job sees of the outside: where to report, and whether to stop.

    Used from the worker thread; ``cancelled`` is also a predicate to hand to the engine.
    """

    def __init__(self, report: Callable[[float], None]) -> None:
        self._report = report
        self._stop = False

    def stop(self) -> None:
        """Ask the job to end soon."""
        self._stop = True

    def cancelled(self) -> bool:
        """Somebody asked the job to end."""
        return self._stop

    def check(self) -> None:
        """Raise ``Cancelled`` if the job was asked to end."""
        if self._stop:
            raise Cancelled

    def progress(self, fraction: float) -> None:
        """Report how much is done, 0 to 1."""
        if not self._stop:
            self._report(fraction)


class _Runnable(QRunnable):
    def __init__(self, body: Callable[[], None]) -> None:
        super().__init__()
        self._body = body

    def run(self) -> None:
        self._body()


class Runner(QObject, Generic[T]):
    """Runs a job in a thread and delivers its result on the GUI thread, unless a newer one began.

    Signals:
        busy_changed(bool): a job began, or the last one ended.
        progressed(float): the fraction done of the newest job.
    """

    busy_changed = Signal(bool)
    progressed = Signal(float)
    _ended = Signal(int, object, object)
    _reported = Signal(int, float)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._pool = QThreadPool(self)
        # A job that cannot be interrupted (one decode of a huge line) must not hold up the next.
        self._pool.setMaxThreadCount(2)
        self._generation = 0
        self._job: Job | None = None
        self._done: Callable[[T], None] | None = None
        self._failed: Callable[[BaseException], None] | None = None
        self._ended.connect(self._deliver, Qt.ConnectionType.QueuedConnection)
        self._reported.connect(self._forward, Qt.ConnectionType.QueuedConnection)

    @property
    def busy(self) -> bool:
        """A job whose result is wanted is running."""
        return self._job is not None

    def start(
        self,
        work: Callable[[Job], T],
        done: Callable[[T], None],
        failed: Callable[[BaseException], None],
    ) -> None:
        """Run ``work(job)`` in a thread, then ``done(result)`` or ``failed(error)`` here."""
        self.cancel()
        self._generation += 1
        generation = self._generation
        job = Job(lambda fraction: self._reported.emit(generation, fraction))
        self._job, self._done, self._failed = job, done, failed

        def body() -> None:
            result: T | None = None
            error: BaseException | None = None
            try:
                job.check()
                result = work(job)
            except Exception as caught:  # delivered to the GUI thread, never lost
                error = caught
            if not job.cancelled():
                self._ended.emit(generation, result, error)

        self._pool.start(_Runnable(body))
        self.busy_changed.emit(True)

    def cancel(self) -> None:
        """Give up the running job; neither of its callbacks will be called."""
        if self._job is not None:
            self._job.stop()
            self._forget()

    def close(self) -> None:
        """Cancel, and wait for the threads to end."""
        self.cancel()
        self._pool.waitForDone()

    def _forget(self) -> None:
        self._job = self._done = self._failed = None
        self.busy_changed.emit(False)

    @Slot(int, object, object)
    def _deliver(self, generation: int, result: Any, error: BaseException | None) -> None:
        if generation != self._generation or self._job is None:
            return
        done, failed = self._done, self._failed
        self._forget()
        if error is None:
            assert done is not None
            done(result)
        elif not isinstance(error, Cancelled):
            _log.info("a job failed", exc_info=error)
            assert failed is not None
            failed(error)

    @Slot(int, float)
    def _forward(self, generation: int, fraction: float) -> None:
        if generation == self._generation and self._job is not None:
            self.progressed.emit(fraction)
