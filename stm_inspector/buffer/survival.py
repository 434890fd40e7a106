"""From which budget on each message would have been in the last call."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from stm_inspector.buffer.planner import UNLIMITED, Planner
from stm_inspector.buffer.recorder import Cancelled
from stm_inspector.buffer.replay import NEVER
from stm_inspector.buffer.settings import Settings

Bools = NDArray[np.bool_]


def survival(
    planner: Planner, settings: Settings, *, cancelled: Callable[[], bool] | None = None
) -> NDArray[np.int64]:
    """The smallest input budget at which each message is in the call that is planned for.

    int64[messages at that call], in tokens; ``NEVER`` where no budget keeps it. A message stays
    at that budget and goes at one token less. For all messages at once: the budgets are halved,
    but the tokens of a buffer usually are the very budget below which it changes, and that is
    tried first.

    Raises:
        SettingError: as ``Planner.plan``.
        Cancelled: ``cancelled``, asked before each plan, says so.
    """

    def sent_at(budget: int) -> tuple[Bools, int]:
        if cancelled is not None and cancelled():
            raise Cancelled
        return planner.sent(replace(settings, budget=replace(settings.budget, fixed=budget)))

    most, tokens = sent_at(UNLIMITED)
    least, _ = sent_at(0)
    found = np.where(least, 0, NEVER).astype(np.int64)
    open_ = most & ~least
    spans = [(0, UNLIMITED, least, most, tokens)]
    while spans:
        low, high, at_low, at_high, tokens = spans.pop()
        between = at_high & ~at_low & open_
        if not between.any():
            continue
        if high - low == 1:
            found[between] = high
            open_ &= ~between
            continue
        budget = _next(low, high, tokens)
        at, tokens_at = sent_at(budget)
        spans.append((low, budget, at_low, at, tokens_at))
        spans.append((budget, high, at, at_high, tokens))
    return found


def _next(low: int, high: int, tokens: int) -> int:
    """The budget to try between two, of which the higher one leaves ``tokens``."""
    if low < tokens - 1 < high:
        return tokens - 1
    return tokens if low < tokens < high else (low + high) // 2
