"""The one place of state: what is open, what is decided, what is selected, and the plan of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QElapsedTimer, QObject, QTimer, Signal
from PySide6.QtGui import QUndoStack

from stm_inspector.app.choices import ChangeCommand, Choices
from stm_inspector.app.find import Filter, Index, filtered, search
from stm_inspector.app.opening import Counted, Opened, open_recording, prepare, recount
from stm_inspector.app.tasks import Job, Runner
from stm_inspector.buffer.plan import Inserted, Plan, Zone
from stm_inspector.buffer.planner import Planner
from stm_inspector.buffer.policies import get_policy
from stm_inspector.buffer.settings import SettingError, Settings, build, describe, to_json
from stm_inspector.conversation.errors import InputError
from stm_inspector.conversation.model import Conversation
from stm_inspector.engine import check_pins
from stm_inspector.formats import Recording
from stm_inspector.tokens.counts import TokenCounts
from stm_inspector.tokens.models import find_model

FRAME = 16
"""Milliseconds between two plans while a handle moves."""
PAUSE = 1000
"""Milliseconds after which a further change of the same setting is an undo entry of its own."""
SEARCH_DELAY = 150
"""Milliseconds of quiet before a search starts."""

Indices = NDArray[np.intp]
_NONE_FOUND: Indices = np.empty(0, np.intp)


class Session(QObject):
    """Holds the state of the window; views show it and call its intents.

    Signals:
        opened: another conversation is open (``conversation`` may be None before the first).
        counted: ``counts`` became better, or are by another counter.
        choices_changed: policy, options, budget, marks, pins, model or counter changed.
        planned: ``plan`` is new, as are ``visible`` and everything derived from it.
        selected: ``selection`` changed.
        found: ``query`` or ``matches`` changed.
        filter_changed: ``filter`` changed (``planned`` does not follow, ``visible`` is new).
        drag_changed(bool): a handle is held, or was let go.
        failed(str): something the user asked for did not work; one sentence.
        refused(str): a setting makes no sense and was left as it was; one sentence.
    """

    opened = Signal()
    counted = Signal()
    choices_changed = Signal()
    planned = Signal()
    selected = Signal()
    found = Signal()
    filter_changed = Signal()
    drag_changed = Signal(bool)
    failed = Signal(str)
    refused = Signal(str)

    def __init__(self, choices: Choices | None = None, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.choices = choices or Choices()
        self.recording: Recording | None = None
        self.conversation: Conversation | None = None
        self.counts: TokenCounts | None = None
        self.planner: Planner | None = None
        self.plan: Plan | None = None
        self.index: Index | None = None
        self.selection: int | None = None
        self.synthetic: int | None = None
        self.query = ""
        self.matches: Indices = _NONE_FOUND
        self.filter = Filter()
        self.visible: Indices | None = None
        self.undo_stack = QUndoStack(self)
        self.opening: Runner[Opened] = Runner(self)
        self.counting: Runner[Counted] = Runner(self)
        self._searching: Runner[Indices] = Runner(self)
        self._options: dict[str, Mapping[str, Any]] = {}
        self.dragging = False
        self._gesture = 0
        self._since_change = QElapsedTimer()
        self._since_change.start()
        self._since_plan = QElapsedTimer()
        self._plan_timer = QTimer(self, singleShot=True)
        self._plan_timer.timeout.connect(self._replan)
        self._search_timer = QTimer(self, singleShot=True, interval=SEARCH_DELAY)
        self._search_timer.timeout.connect(self._search)

    # Reading and counting

    @property
    def settings(self) -> Settings:
        """The plan's settings."""
        return self.choices.settings

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
        counter = self.choices.counter

        def work(job: Job) -> Opened:
            recording = open_recording(path, format)
            job.check()
            return prepare(recording, number, counter, job.check)

        self.opening.start(work, lambda opened: self._show(opened, settings), self._fail)

    def choose_conversation(self, number: int) -> None:
        """Show another conversation of the open file."""
        recording, counter = self.recording, self.choices.counter
        if recording is not None:
            self.opening.start(
                lambda job: prepare(recording, number, counter, job.check), self._show, self._fail
            )

    def close(self) -> None:
        """End all threads."""
        for runner in (self.opening, self.counting, self._searching):
            runner.close()

    def _show(self, opened: Opened, given: Settings | None = None) -> None:
        # Pins and marks are places in the conversation that goes now.
        bare = replace(self.settings, pins=frozenset(), marks={}, call=None)
        choices = replace(self.choices, settings=given or bare)
        try:
            if given is not None:
                check_pins(opened.conversation, given)
            plan = opened.planner.plan(choices.settings)
        except SettingError as error:
            self.failed.emit(f"{sentence(str(error))}")
            return
        self.counting.cancel()
        self.recording, self.conversation = opened.recording, opened.conversation
        self.counts, self.planner, self.index = opened.counts, opened.planner, opened.index
        self.choices, self.plan = choices, plan
        self.selection, self.synthetic = None, None
        self.query, self.matches = "", _NONE_FOUND
        self.filter, self.visible = Filter(), None
        self.undo_stack.clear()
        self.opened.emit()
        self.choices_changed.emit()
        self.planned.emit()
        self.count()

    def count(self) -> None:
        """Count the open conversation with the chosen counter, off the GUI thread."""
        conversation = self.conversation
        if conversation is None:
            return
        counter, model = self.choices.counter, self.choices.model
        self.counting.start(
            lambda job: recount(conversation, counter, model, job.progress, job.cancelled),
            self._recounted,
            self._fail,
        )

    def _recounted(self, counted: Counted) -> None:
        self.counts, self.planner = counted.counts, counted.planner
        self.counted.emit()
        self._replan()

    def _fail(self, error: BaseException) -> None:
        if isinstance(error, InputError):
            self.failed.emit(str(error))
        else:
            raise error

    # The plan

    @property
    def settled(self) -> bool:
        """Nothing is being read, counted, searched or planned."""
        waiting = self._plan_timer.isActive() or self._search_timer.isActive()
        running = self.opening.busy or self.counting.busy or self._searching.busy
        return not waiting and not running

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

    def reason(self, index: int) -> str:
        """One sentence: why message ``index`` has its verdict; "" without a plan."""
        if self.planner is None or self.plan is None:
            return ""
        return self.planner.reason(self.plan, index)

    def survives_from(self, index: int) -> int | None:
        """The smallest input budget that keeps message ``index``, None if none does."""
        return None if self.planner is None else self.planner.survives_from(self.settings, index)

    # Choices: every one of these is one undo entry

    def begin_drag(self) -> None:
        """A handle is held: what it changes until ``end_drag`` is one undo entry."""
        self._gesture += 1
        self.dragging = True
        self.drag_changed.emit(True)

    def end_drag(self) -> None:
        """The handle was let go."""
        self._gesture += 1
        self.dragging = False
        self.drag_changed.emit(False)

    def set_policy(self, policy: str) -> None:
        """Plan by ``policy``, with the options it last had in this session."""
        if policy == self.settings.policy:
            return
        self._options[self.settings.policy] = self.settings.options
        options = self._options.get(policy, {})
        title = get_policy(policy).title
        self._change(f"policy {title}", policy=policy, options=options, watermark=None, target=None)

    def set_option(self, key: str, value: Any) -> None:
        """Set one of the policy's own settings."""
        options = {**self.settings.options, key: value}
        try:
            build(get_policy(self.settings.policy).settings, options)
        except SettingError as error:
            self.refused.emit(sentence(str(error).replace(key, self._label(key), 1)))
            self.choices_changed.emit()
        else:
            mark = None if key == "trigger" else self.settings.watermark
            self._change(key.replace("_", " "), options=options, watermark=mark)

    def _label(self, key: str) -> str:
        entries = describe(get_policy(self.settings.policy).settings)
        return next(entry.label for entry in entries if entry.key == key)

    def options(self) -> Mapping[str, Any]:
        """All of the policy's own settings with their present values, as plain JSON values."""
        return to_json(build(get_policy(self.settings.policy).settings, self.settings.options))

    def set_budget(self, tokens: int) -> None:
        """Set the input budget itself; the window and the reserves stay."""
        budget = self.settings.budget
        fixed = None if tokens == budget.window - budget.reserved else max(0, tokens)
        self._change("budget", budget=replace(budget, fixed=fixed))

    def set_window(self, tokens: int) -> None:
        """Set the context window; the budget is what the reserves leave of it."""
        self._change("window", budget=replace(self.settings.budget, window=tokens, fixed=None))

    def set_reserve(self, name: str, tokens: int) -> None:
        """Set "reply", "safety" or "tool_headroom"; the budget follows."""
        budget = replace(self.settings.budget, **{name: tokens}, fixed=None)
        self._change(name.replace("_", " "), budget=budget)

    def set_watermark(self, mark: float | None) -> None:
        """Set where the policy acts; see ``Settings.watermark`` for the units.

        A policy that has a trigger among its own settings gets it there, so that there is one
        number and not two.
        """
        if mark is not None and mark <= 1 and "trigger" in self.options():
            options = {**self.settings.options, "trigger": mark}
            self._change("watermark", options=options, watermark=None)
        else:
            self._change("watermark", watermark=mark)

    def set_target(self, mark: float | None) -> None:
        """Set what the policy brings the buffer down to, in the same units."""
        self._change("target", target=mark)

    def set_tail_turns(self, turns: int) -> None:
        """Set how many turns before the current one count as the tail."""
        self._change("tail turns", tail_turns=turns)

    def set_model(self, name: str | None) -> None:
        """Plan for a model: its window, and its token counter where that is automatic."""
        budget = self.settings.budget
        model = find_model(name) if name else None
        if model is not None and model.window:
            budget = replace(budget, window=model.window, fixed=None)
        settings = replace(self.settings, budget=budget)
        self._push("model", replace(self.choices, settings=settings, model=name))

    def set_counter(self, counter: str) -> None:
        """Count with another counter."""
        self._push("counter", replace(self.choices, counter=counter))

    def reset(self) -> None:
        """Every setting of the policy, the budget and the marks back to its default."""
        defaults = Settings()
        self._change(
            "reset to defaults",
            options={},
            budget=defaults.budget,
            watermark=None,
            target=None,
            tail_turns=defaults.tail_turns,
        )

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

    def _change(self, text: str, **changes: Any) -> None:
        self._push(text, replace(self.choices, settings=replace(self.settings, **changes)))

    def _push(self, text: str, after: Choices) -> None:
        if after != self.choices:
            if not self.dragging and self._since_change.elapsed() > PAUSE:
                self._gesture += 1
            self._since_change.start()
            gesture = (text, self._gesture)
            self.undo_stack.push(ChangeCommand(text, self.choices, after, self._put, gesture))

    def _put(self, choices: Choices) -> None:
        before, self.choices = self.choices, choices
        self.choices_changed.emit()
        self._schedule()
        if (before.model, before.counter) != (choices.model, choices.counter):
            self.count()

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


def sentence(text: str) -> str:
    """``text`` as a sentence: with a capital and a full stop."""
    whole = text[:1].upper() + text[1:]
    return whole if whole.endswith((".", "?", "!")) else f"{whole}."
