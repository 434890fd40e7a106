"""The undoable half of the state: everything the user decides about the plan."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from PySide6.QtCore import QElapsedTimer, QObject, Signal
from PySide6.QtGui import QUndoStack

from stm_inspector.app.choices import ChangeCommand, Choices
from stm_inspector.buffer.policies import get_policy
from stm_inspector.buffer.settings import SettingError, Settings, build, describe, to_json
from stm_inspector.tokens.models import find_model

PAUSE = 1000
"""Milliseconds after which a further change of the same setting is an undo entry of its own."""


class Decisions(QObject):
    """Holds the choices and their history. Every intent here is one undo entry.

    Signals:
        choices_changed: policy, options, budget, marks, pins, model or counter changed.
        drag_changed(bool): a handle is held, or was let go.
        refused(str): a setting makes no sense and was left as it was; one sentence.
    """

    choices_changed = Signal()
    drag_changed = Signal(bool)
    refused = Signal(str)

    def __init__(self, choices: Choices, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.choices = choices
        self.undo_stack = QUndoStack(self)
        self.dragging = False
        self._options: dict[str, Mapping[str, Any]] = {}
        self._gesture = 0
        self._since_change = QElapsedTimer()
        self._since_change.start()

    @property
    def settings(self) -> Settings:
        """The plan's settings."""
        return self.choices.settings

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

    def without_fixed_budget(self) -> Choices:
        """The choices, with the budget that the window and its reserves leave."""
        budget = replace(self.settings.budget, fixed=None)
        return replace(self.choices, settings=replace(self.settings, budget=budget))

    def set_window(self, tokens: int) -> None:
        """Set the context window; the budget is what the reserves leave of it."""
        self._change("window", budget=self.settings.budget.in_window(tokens))

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
            budget = budget.in_window(model.window)
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
        # Undo goes back in what was decided, not in what was looked at.
        settings = replace(choices.settings, call=self.settings.call)
        before, self.choices = self.choices, replace(choices, settings=settings)
        self.choices_changed.emit()
        self._decided(before)

    def _decided(self, before: Choices) -> None:
        """Follow up on a change of the choices, made by the user or by undo."""
        raise NotImplementedError


def sentence(text: str) -> str:
    """``text`` as a sentence: with a capital and a full stop."""
    whole = text[:1].upper() + text[1:]
    return whole if whole.endswith((".", "?", "!")) else f"{whole}."
