"""The one place of state: what is open, what is decided, what is selected, and the plan of it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QElapsedTimer, QObject, QTimer, Signal

from stm_inspector.app.choices import Choices
from stm_inspector.app.decisions import Decisions, sentence
from stm_inspector.app.find import Filter, Index, filtered, search
from stm_inspector.app.opening import (
    Counted,
    Opened,
    open_checkpoint,
    open_recording,
    prepare,
    recount,
)
from stm_inspector.app.tasks import Job, Runner
from stm_inspector.buffer.plan import Inserted, Plan, Zone
from stm_inspector.buffer.planner import Planner
from stm_inspector.buffer.recorder import replay
from stm_inspector.buffer.replay import Replay
from stm_inspector.buffer.settings import SettingError, Settings
from stm_inspector.checkpoint import is_checkpoint
from stm_inspector.conversation.errors import InputError, UnknownFormatError
from stm_inspector.conversation.model import Conversation
from stm_inspector.formats import Recording
from stm_inspector.tokens.counts import TokenCounts

FRAME = 16
"""Milliseconds between two plans while a handle moves."""
SEARCH_DELAY = 150
"""Milliseconds of quiet before a search starts."""
LARGEST_REPLAY = 60_000_000
"""Messages times calls that are replayed beside a drag without holding it up."""

Indices = NDArray[np.intp]
_NONE_FOUND: Indices = np.empty(0, np.intp)


class Session(Decisions):
    """Holds the state of the window; views show it and call its intents.

    Signals, beside those of ``Decisions``:
        opened: another conversation is open (``conversation`` may be None before the first).
        counted: ``counts`` became better, or are by another counter.
        replayed: ``replay`` is new; it follows the plan off the GUI thread.
        planned: ``plan`` is new, as are ``visible`` and everything derived from it.
        selected: ``selection`` changed.
        found: ``query`` or ``matches`` changed.
        filter_changed: ``filter`` changed (``planned`` does not follow, ``visible`` is new).
        failed(str): something the user asked for did not work; one sentence.
    """

    opened = Signal()
    counted = Signal()
    planned = Signal()
    replayed = Signal()
    selected = Signal()
    found = Signal()
    filter_changed = Signal()
    failed = Signal(str)

    def __init__(self, choices: Choices | None = None, parent: QObject | None = None) -> None:
        super().__init__(choices or Choices(), parent)
        self.recording: Recording | None = None
        self.conversation: Conversation | None = None
        self.counts: TokenCounts | None = None
        self.planner: Planner | None = None
        self.plan: Plan | None = None
        self.replay: Replay | None = None
        self.index: Index | None = None
        self.selection: int | None = None
        self.synthetic: int | None = None
        self.query = ""
        self.matches: Indices = _NONE_FOUND
        self.filter = Filter()
        self.visible: Indices | None = None
        self.opening: Runner[Opened] = Runner(self)
        self.counting: Runner[Counted] = Runner(self)
        self.replaying: Runner[Replay] = Runner(self)
        self._replayed: tuple[Planner, Settings] | None = None
        self._searching: Runner[Indices] = Runner(self)
        self._since_plan = QElapsedTimer()
        self._plan_timer = QTimer(self, singleShot=True)
        self._plan_timer.timeout.connect(self._replan)
        self._search_timer = QTimer(self, singleShot=True, interval=SEARCH_DELAY)
        self._search_timer.timeout.connect(self._search)

    # Reading and counting

    def open(
        self,
        path: str,
        *,
        format: str | None = None,
        number: int | None = None,
        settings: Settings | None = None,
    ) -> None:
        """Read ``path`` off the GUI thread. What is open stays until the new one is there.

        ``settings``, where given, hold from then on, with their pins and marks.
        """
        counter, wanted = self.choices.counter, settings or self._bare()

        def work(job: Job) -> Opened:
            if is_checkpoint(path):
                return open_checkpoint(path, job.check)
            recording = open_recording(path, format)
            job.check()
            return prepare(recording, number, counter, wanted, job.check)

        self.opening.start(work, lambda opened: self._show(opened, settings), self._fail)

    def choose_conversation(self, number: int) -> None:
        """Show another conversation of the open file."""
        recording, counter, bare = self.recording, self.choices.counter, self._bare()
        if recording is not None:
            self.opening.start(
                lambda job: prepare(recording, number, counter, bare, job.check),
                self._show,
                self._fail,
            )

    def close(self) -> None:
        """End all threads."""
        for runner in (self.opening, self.counting, self.replaying, self._searching):
            runner.close()

    def _bare(self) -> Settings:
        """The settings without pins and marks: these are places in one conversation."""
        return replace(self.settings, pins=frozenset(), marks={}, call=None)

    def _show(self, opened: Opened, given: Settings | None = None) -> None:
        stored = opened.checkpoint
        if stored is not None:
            choices = Choices(stored.settings, stored.model, stored.counter)
        else:
            choices = replace(self.choices, settings=given or self._bare())
        plan = opened.planner.plan(choices.settings)
        self.counting.cancel()
        self.recording, self.conversation = opened.recording, opened.conversation
        self.counts, self.planner, self.index = opened.counts, opened.planner, opened.index
        self.choices, self.plan, self.replay = choices, plan, None
        self.selection, self.synthetic = None, None
        self.query, self.matches = "", _NONE_FOUND
        self.filter, self.visible = Filter(), None
        self.undo_stack.clear()
        self.opened.emit()
        self.choices_changed.emit()
        self.planned.emit()
        if stored is not None:
            self.select(stored.selection)
        self._follow()
        self.count()

    def count(self) -> None:
        """Count the open conversation with the chosen counter, off the GUI thread."""
        conversation = self.conversation
        if conversation is None:
            return
        counter, model, settings = self.choices.counter, self.choices.model, self.settings
        self.counting.start(
            lambda job: recount(
                conversation, counter, model, settings, job.progress, job.cancelled
            ),
            self._recounted,
            self._fail,
        )

    def _recounted(self, counted: Counted) -> None:
        self.counts, self.planner = counted.counts, counted.planner
        self.counted.emit()
        self._replan()

    def _fail(self, error: BaseException) -> None:
        if isinstance(error, UnknownFormatError):
            self.failed.emit(f"{error} If you know what it is, File, Open as… says so.")
        elif isinstance(error, InputError):
            self.failed.emit(str(error))
        elif isinstance(error, SettingError):
            self.failed.emit(sentence(str(error)))
        else:
            raise error

    # The plan

    @property
    def settled(self) -> bool:
        """Nothing is being read, counted, searched or planned."""
        waiting = self._plan_timer.isActive() or self._search_timer.isActive()
        runners = (self.opening, self.counting, self.replaying, self._searching)
        return not waiting and not any(runner.busy for runner in runners)

    def _decided(self, before: Choices) -> None:
        self._schedule()
        if (before.model, before.counter) != (self.choices.model, self.choices.counter):
            self.count()

    def _schedule(self) -> None:
        """Plan within this frame: now if the last plan is a frame old, else when it will be."""
        if not self._plan_timer.isActive():
            due = FRAME - self._since_plan.elapsed() if self._since_plan.isValid() else 0
            self._plan_timer.start(max(0, due))

    def _replan(self) -> None:
        self._plan_timer.stop()
        self._since_plan.start()
        if self.planner is None:
            return
        self.plan = self.planner.plan(self.settings)
        self._refilter()
        self.planned.emit()
        self._follow()

    @property
    def has_timeline(self) -> bool:
        """There is more than one call, and few enough to replay them all at every change."""
        plan, conversation = self.plan, self.conversation
        if plan is None or conversation is None or plan.calls < 2:
            return False
        return plan.calls * len(conversation.messages) <= LARGEST_REPLAY

    def _follow(self) -> None:
        """Replay what is planned, unless that has been done; an older replay is given up."""
        if self.planner is None or not self.has_timeline:
            return
        planner, settings = self.planner, replace(self.settings, call=None)
        if self._replayed is None or (planner, settings) != self._replayed:
            self._replayed = (planner, settings)
            self.replaying.start(
                lambda job: replay(planner, settings, cancelled=job.cancelled),
                self._show_replay,
                self._fail,
            )

    def _show_replay(self, replayed: Replay) -> None:
        self.replay = replayed
        self.replayed.emit()

    def set_call(self, call: int | None) -> None:
        """Show another call of the recording; None is the last, what would be sent next."""
        if self.plan is None:
            return
        last = self.plan.calls - 1
        wanted = None if call is None or call >= last else max(0, call)
        if wanted != self.settings.call:
            settings = replace(self.settings, call=wanted)
            self.choices = replace(self.choices, settings=settings)
            self._schedule()

    def step_call(self, step: int) -> None:
        """Show the call that many calls later."""
        if self.plan is not None:
            now = self.settings.call
            at = self.plan.calls - 1 if now is None else now
            self.set_call(max(0, at + step))

    def reason(self, index: int) -> str:
        """One sentence: why message ``index`` has its verdict; "" without a plan."""
        if self.planner is None or self.plan is None:
            return ""
        return self.planner.reason(self.plan, index)

    def survives_from(self, index: int) -> int | None:
        """The smallest input budget that keeps message ``index``, None if none does."""
        return None if self.planner is None else self.planner.survives_from(self.settings, index)

    # Pins and marks

    def toggle_pin(self, index: int) -> None:
        """Pin message ``index`` and what it is locked to, or let them go."""
        if self.conversation is None:
            return
        group = set(self.partners(index)) | {index}
        pins = self.settings.pins
        pinned = bool(pins & group)
        self._gesture += 1
        after = pins - group if pinned else pins | {index}
        self._change(f"{'unpin' if pinned else 'pin'} message {index}", pins=frozenset(after))

    def toggle_retrieved(self, index: int) -> None:
        """Mark message ``index`` as retrieved context, or as not."""
        if self.plan is None or index >= self.plan.length:
            return
        retrieved = self.plan.zones[index] == Zone.RETRIEVED
        self._gesture += 1
        word = "not retrieved" if retrieved else "retrieved"
        marks = {**self.settings.marks, index: not retrieved}
        self._change(f"mark message {index} as {word}", marks=marks)

    def partners(self, index: int) -> tuple[int, ...]:
        """The messages locked together with message ``index``, itself included, or ()."""
        if self.conversation is None:
            return ()
        structure = self.conversation.structure
        group = int(structure.group_of[index])
        return structure.groups[group] if group >= 0 else ()

    # Looking

    def select(self, index: int | None) -> None:
        """Select message ``index``."""
        if index != self.selection or self.synthetic is not None:
            self.selection, self.synthetic = index, None
            self.selected.emit()

    def select_synthetic(self, place: int) -> None:
        """Select the synthetic message at ``place`` among those the plan puts in."""
        if place != self.synthetic:
            self.selection, self.synthetic = None, place
            self.selected.emit()

    @property
    def inserted(self) -> Inserted | None:
        """The synthetic message that is selected, as it now is; None where there is none."""
        if self.plan is None or self.synthetic is None:
            return None
        inserted = self.plan.decision.inserted
        return inserted[self.synthetic] if self.synthetic < len(inserted) else None

    def set_filter(self, wanted: Filter) -> None:
        """Show only the messages that ``wanted`` lets through."""
        if wanted != self.filter:
            self.filter = wanted
            self._refilter()
            self.filter_changed.emit()

    def _refilter(self) -> None:
        if self.index is not None and self.plan is not None:
            self.visible = filtered(self.index, self.plan, self.filter)

    def set_query(self, query: str) -> None:
        """Search for ``query`` once it stays the same for a moment."""
        if query != self.query:
            self.query = query
            self._searching.cancel()
            self._search_timer.start()

    def _search(self) -> None:
        conversation, query = self.conversation, self.query
        if conversation is None or not query:
            self._show_matches(_NONE_FOUND)
            return
        self._searching.start(
            lambda job: search(conversation, query, job.cancelled), self._show_matches, self._fail
        )

    def _show_matches(self, matches: Indices) -> None:
        self.matches = matches
        self.found.emit()
        if matches.size and self.selection not in matches:
            self.step_match(1)

    def step_match(self, step: int) -> None:
        """Select the next (1) or previous (-1) match; goes round at the ends."""
        if not self.matches.size:
            return
        at = -1 if self.selection is None else self.selection
        if step > 0:
            place = int(np.searchsorted(self.matches, at, side="right"))
        else:
            place = int(np.searchsorted(self.matches, at, side="left")) - 1
        self.select(int(self.matches[place % self.matches.size]))
