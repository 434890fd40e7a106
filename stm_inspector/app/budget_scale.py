"""The arithmetic of the budget bar: tokens to pixels, ticks, coloured runs, labels. No Qt here."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from stm_inspector.buffer.plan import Plan

SYNTHETIC = 6
"""Stands behind the zones: tokens of synthetic messages."""

FIT_SHARE = 0.84
"""Of the bar, for the part below the break, when the recording is fitted to it."""


@dataclass(frozen=True, slots=True)
class Scale:
    """Tokens to pixels and back: linear, or in two linear pieces with a break between them.

    ``most`` are the tokens at the right end, ``width`` is in pixels; ``knee`` is the token
    number at the break, or None.
    """

    most: int
    width: float
    knee: int | None = None

    @property
    def _knots(self) -> tuple[list[float], list[float]]:
        if self.knee is None:
            return [0.0, float(self.most)], [0.0, self.width]
        return (
            [0.0, float(self.knee), float(self.most)],
            [0.0, FIT_SHARE * self.width, self.width],
        )

    def x(self, tokens: float) -> float:
        """Where ``tokens`` is, held within the bar."""
        ends, places = self._knots
        return float(np.interp(tokens, ends, places))

    def tokens(self, x: float) -> float:
        """What stands at ``x``, held within the scale."""
        ends, places = self._knots
        return float(np.interp(x, places, ends))

    def tokens_at(self, xs: NDArray[np.float64]) -> NDArray[np.float64]:
        """``tokens`` of many places."""
        ends, places = self._knots
        return np.interp(xs, places, ends)

    def step(self, x: float) -> int:
        """A round number of tokens that is about one pixel at ``x``."""
        return nice_step(self.tokens(x + 0.5) - self.tokens(x - 0.5))

    @property
    def ticks(self) -> list[int]:
        """Round numbers along the bar (below the break), about 180 pixels apart; without 0."""
        end, width = (self.most, self.width)
        if self.knee is not None:
            end, width = self.knee, FIT_SHARE * self.width
        step = nice_step(end * 180 / max(width, 180.0), fine=True)
        return list(range(step, end + 1, step))


def make_scale(plan: Plan, width: float, *, fit: bool) -> Scale:
    """The scale for ``plan``: the whole context window, or with ``fit`` the recording enlarged."""
    most = max(plan.budget.window, plan.budget.input, 1)
    if not fit:
        return Scale(most, width)
    wanted = max(plan.totals.before.tokens, 1) * 1.15
    knee = -(-int(wanted) // (step := nice_step(wanted / 12))) * step
    return Scale(most, width, knee) if knee < most * FIT_SHARE else Scale(most, width)


def wants_fit(plan: Plan) -> bool:
    """To scale, the recording would be too small on the bar to be worked with."""
    return 4 * plan.totals.before.tokens < max(plan.budget.window, plan.budget.input)


def nice_step(tokens: float, *, fine: bool = False) -> int:
    """The round number at or above ``tokens``: 1, 2 or 5 (``fine``: also 2.5) times a power of 10.

    >>> nice_step(137), nice_step(0.2), nice_step(23_000, fine=True)
    (200, 1, 25000)
    """
    if tokens <= 1:
        return 1
    power = 10 ** int(np.floor(np.log10(tokens)))
    factors = (1, 2, 2.5, 5, 10) if fine and power >= 10 else (1, 2, 5, 10)
    return next(int(factor * power) for factor in factors if factor * power >= tokens)


def short(tokens: int) -> str:
    """A round number of tokens in as few characters as say it.

    >>> short(50_000), short(1_500_000), short(250)
    ('50k', '1.5M', '250')
    """
    if tokens >= 1_000_000:
        return f"{tokens / 1_000_000:g}M"
    if tokens >= 1_000:
        return f"{tokens / 1_000:g}k"
    return str(tokens)


@dataclass(frozen=True, eq=False, slots=True)
class Contents:
    """What would be sent, in order: zone (or ``SYNTHETIC``) and tokens up to its end."""

    zones: NDArray[np.uint8]
    ends: NDArray[np.int64]

    @property
    def total(self) -> int:
        """Tokens of all of it."""
        return int(self.ends[-1]) if len(self.ends) else 0

    def by_zone(self) -> NDArray[np.int64]:
        """int64[7], the tokens of each zone, and of synthetic messages at the end."""
        tokens = np.diff(self.ends, prepend=np.int64(0))
        return np.bincount(self.zones, weights=tokens, minlength=7).astype(np.int64)

    def zone_at(self, tokens: float) -> int | None:
        """The zone that holds the token of that number, None behind the end."""
        place = int(np.searchsorted(self.ends, tokens, side="right"))
        return int(self.zones[place]) if place < len(self.zones) else None


def make_contents(plan: Plan) -> Contents:
    """The contents of the buffer that ``plan`` sends, synthetic messages in their places."""
    zones, tokens = plan.zones, plan.tokens_after
    inserted = plan.decision.inserted
    if inserted:
        places = [entry.before for entry in inserted]
        zones = np.insert(zones, places, SYNTHETIC)
        tokens = np.insert(tokens, places, [entry.tokens for entry in inserted])
    return Contents(zones, np.cumsum(tokens))


@dataclass(frozen=True, slots=True)
class Run:
    """A stretch of the bar in one colour; ``left`` and ``right`` in pixels."""

    zone: int
    left: float
    right: float


def make_runs(contents: Contents, scale: Scale, ratio: float) -> list[Run]:
    """The coloured runs, one sample a device pixel; ``ratio`` is device pixels to a pixel.

    A zone that has tokens but no pixel of its own gets a sliver, so that nothing vanishes.
    """
    if not contents.total:
        return []
    columns = max(1, int(np.ceil(scale.x(contents.total) * ratio)))
    middles = (np.arange(columns, dtype=np.float64) + 0.5) / ratio
    wanted = np.floor(scale.tokens_at(middles)).astype(np.int64)
    places = np.searchsorted(contents.ends, wanted, side="right")
    zones = contents.zones[np.minimum(places, len(contents.zones) - 1)]
    cuts = np.flatnonzero(np.diff(zones)) + 1
    starts = np.concatenate([[0], cuts])
    stops = np.concatenate([cuts, [columns]])
    runs = [
        Run(int(zones[start]), start / ratio, stop / ratio)
        for start, stop in zip(starts, stops, strict=True)
    ]
    return runs + _slivers(contents, scale, {run.zone for run in runs})


def _slivers(contents: Contents, scale: Scale, seen: set[int]) -> list[Run]:
    slivers = []
    for zone, tokens in enumerate(contents.by_zone()):
        if tokens and zone not in seen:
            place = int(np.flatnonzero(contents.zones == zone)[0])
            x = scale.x(int(contents.ends[place]))
            slivers.append(Run(zone, max(0.0, x - 1), x + 1))
    return slivers


@dataclass(frozen=True, slots=True)
class Label:
    """A label that wants a place beside the handle at ``x``: widths of its long and short form."""

    x: float
    widths: tuple[float, ...]
    left_first: bool = False


@dataclass(frozen=True, slots=True)
class Placed:
    """Where a label goes and which of its forms, 0 the longest."""

    left: float
    form: int


def place_labels(
    labels: Sequence[Label], width: float, gap: float, reach: float
) -> list[Placed | None]:
    """Give each label a place beside its handle, the first ones first; None where none is free.

    Labels keep ``gap`` to their own handle and to each other, stay off the other handles by
    ``reach``, and stay within ``width``.
    """
    taken: list[tuple[float, float]] = []
    result: list[Placed | None] = []
    for number, label in enumerate(labels):
        others = [(o.x - reach, o.x + reach) for n, o in enumerate(labels) if n != number]
        found = _place(label, width, gap, taken + others)
        result.append(found)
        if found is not None:
            taken.append((found.left - gap, found.left + label.widths[found.form] + gap))
    return result


def _place(
    label: Label, width: float, gap: float, taken: Sequence[tuple[float, float]]
) -> Placed | None:
    for form, own in enumerate(label.widths):
        sides = [label.x - gap - own, label.x + gap]
        for left in sides if label.left_first else sides[::-1]:
            right = left + own
            inside = left >= 0 and right <= width
            if inside and not any(left < end and right > start for start, end in taken):
                return Placed(left, form)
    return None


def reserves(plan: Plan) -> list[tuple[str, int, int]]:
    """Name, start and end of each reserve, in tokens from the left of the window."""
    budget = plan.budget
    start = max(0, budget.window - budget.reserved)
    result = []
    for name, size in (
        ("tool headroom", budget.tool_headroom),
        ("safety headroom", budget.safety),
        ("reply reserve", budget.reply),
    ):
        result.append((name, start, min(start + size, budget.window)))
        start += size
    return result
