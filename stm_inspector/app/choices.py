"""Everything the user decides about the plan, as one value, and the undo entry for a change."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeGuard

from PySide6.QtGui import QUndoCommand

from stm_inspector.buffer.budget import Budget
from stm_inspector.buffer.policies import all_policies, get_policy
from stm_inspector.buffer.settings import SettingError, Settings, build, to_json


@dataclass(frozen=True, slots=True)
class Choices:
    """The plan's settings, and what the numbers are counted with.

    Attributes:
        settings: policy, options, budget, marks and pins.
        model: name of the model planned for, None for the one in the recording.
        counter: id of the token counter, or "auto".
    """

    settings: Settings = field(default_factory=Settings)
    model: str | None = None
    counter: str = "auto"


class ChangeCommand(QUndoCommand):
    """Goes from one value of the choices to another.

    Commands that carry the same ``gesture`` merge: a drag of a handle is one entry.
    """

    _ID = 1

    def __init__(
        self,
        text: str,
        before: Choices,
        after: Choices,
        put: Callable[[Choices], None],
        gesture: tuple[str, int],
    ) -> None:
        super().__init__(text)
        self._before, self._after = before, after
        self._put = put
        self._gesture = gesture

    def id(self) -> int:
        return self._ID

    def redo(self) -> None:
        self._put(self._after)

    def undo(self) -> None:
        self._put(self._before)

    def mergeWith(self, other: QUndoCommand) -> bool:
        if not isinstance(other, ChangeCommand) or other._gesture != self._gesture:
            return False
        self._after = other._after
        self.setObsolete(self._after == self._before)
        return True


def to_plain(choices: Choices) -> dict[str, Any]:
    """What is remembered for the next run: not the pins and marks, which belong to one file."""
    settings = choices.settings
    options = build(get_policy(settings.policy).settings, settings.options)
    return {
        "policy": settings.policy,
        "options": to_json(options),
        "budget": dataclasses.asdict(settings.budget),
        "watermark": settings.watermark,
        "target": settings.target,
        "tail_turns": settings.tail_turns,
        "model": choices.model,
        "counter": choices.counter,
    }


def from_plain(stored: Mapping[str, Any]) -> Choices:
    """The opposite of ``to_plain``. What is missing, or makes no sense here, is a default."""
    policy = stored.get("policy")
    if policy not in {known.id for known in all_policies()}:
        return Choices()
    try:
        given = dict(stored.get("options") or {})
        options = to_json(build(get_policy(policy).settings, given))
        budget = Budget(**stored.get("budget", {}))
    except (SettingError, TypeError, ValueError):
        options, budget = {}, Budget()
    if not _sound(budget):
        budget = Budget()
    defaults = Settings()
    tail = stored.get("tail_turns", defaults.tail_turns)
    model, counter = stored.get("model"), stored.get("counter")
    return Choices(
        Settings(
            policy=policy,
            options=options,
            budget=budget,
            watermark=_mark(stored.get("watermark")),
            target=_mark(stored.get("target")),
            tail_turns=tail if _whole(tail) else defaults.tail_turns,
        ),
        model if isinstance(model, str) else None,
        counter if isinstance(counter, str) else "auto",
    )


def _whole(value: Any) -> TypeGuard[int]:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def _sound(budget: Budget) -> bool:
    sizes = (budget.window, budget.reply, budget.safety, budget.tool_headroom)
    return all(_whole(size) for size in sizes) and (budget.fixed is None or _whole(budget.fixed))


def _mark(value: Any) -> float | None:
    usable = isinstance(value, int | float) and not isinstance(value, bool) and value > 0
    return value if usable else None
