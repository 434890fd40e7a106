"""What policies that summarise have in common: a state of folded messages and their summaries."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

from stm_inspector.buffer.plan import Decision, Inserted, Verdict, Zone
from stm_inspector.buffer.policies.base import Case, Situation, by_cases, keep_all
from stm_inspector.buffer.zones import Mask
from stm_inspector.summaries.summary import Summary

LIVE = -1


class SummaryRole(StrEnum):
    """Who speaks the summary."""

    USER = "user"
    ASSISTANT = "assistant"
    SYSTEM = "system"


class Place(StrEnum):
    """Where a summary stands."""

    IN_PLACE = "in-place"
    FIRST = "first"
    BEFORE_RECENT = "before-recent"


@dataclass(frozen=True, eq=False, slots=True)
class Folded:
    """What has been summarised so far.

    Attributes:
        block_of: int32[n], the summary that stands for each message, or ``LIVE``.
        summaries: number of a summary -> it; those that a later one carries on are gone.
        fired: whether that happened at this very call.
        turns: how many turns there were when it last did; ``refreshed`` when a summary was last
            made from the raw log.
        note: the text of a block of facts, or "", and its tokens.
    """

    block_of: NDArray[np.int32]
    summaries: dict[int, Summary]
    fired: bool = False
    turns: int = 0
    refreshed: int = 0
    note: str = ""
    note_tokens: int = 0

    @property
    def live(self) -> Mask:
        """bool[n], the messages that no summary stands for."""
        live: Mask = self.block_of == LIVE
        return live


def grown(state: Folded | None, situation: Situation) -> Folded:
    """The state with the messages that have come since.

    A late partner goes where its lock group went. What is always kept comes back if a late
    partner made it so; the summary goes on telling of it.
    """
    n, layout = situation.length, situation.layout
    if state is None:
        return Folded(np.full(n, LIVE, dtype=np.int32), {})
    old = len(state.block_of)
    block_of = np.full(n, LIVE, dtype=np.int32)
    if state.summaries:
        unit = np.full(n, LIVE, dtype=np.int32)
        gone = state.block_of != LIVE
        unit[layout.newest[:old][gone]] = state.block_of[gone]
        block_of = np.where(layout.protected, np.int32(LIVE), unit[layout.newest])
    left = set(block_of[block_of != LIVE].tolist())
    summaries = {number: made for number, made in state.summaries.items() if number in left}
    return replace(state, block_of=block_of, summaries=summaries, fired=False)


def tokens_now(state: Folded, situation: Situation) -> int:
    """Tokens of the request as ``state`` leaves it."""
    live = int(situation.counts.messages[state.live].sum()) + situation.counts.overhead
    return live + sum(made.tokens for made in state.summaries.values()) + state.note_tokens


def folded(
    state: Folded,
    situation: Situation,
    where: Mask,
    max_tokens: int,
    *,
    rewrite: bool,
    from_raw: bool = False,
) -> Folded:
    """The state after ``where`` has been summarised.

    Args:
        rewrite: one new summary carries on all that there were; otherwise it stands beside them.
        from_raw: the new one is made from the log, not from the summary before it.
    """
    number = max(state.summaries, default=-1) + 1
    block_of, summaries = state.block_of.copy(), dict(state.summaries)
    previous = None
    if rewrite and summaries:
        earlier = block_of != LIVE
        block_of[earlier] = number
        previous = None if from_raw else next(iter(summaries.values()))
        summaries = {}
        if from_raw:
            where = where | earlier
    block_of[where] = number
    summaries[number] = situation.summarise(where, max_tokens, previous)
    return replace(state, block_of=block_of, summaries=summaries, fired=True)


def begin_of(situation: Situation) -> int:
    """The protected task, behind which summaries begin; -1 if there is none."""
    layout = situation.layout
    anchor = layout.zones.anchor
    return anchor if anchor is not None and Zone.ANCHOR.word in layout.protect else -1


def turns_so_far(situation: Situation) -> int:
    """How many turns have begun."""
    return int(situation.log.structure.turn_starts.searchsorted(situation.length))


def older_than(state: Folded, situation: Situation, start: int) -> Mask:
    """What may be summarised: live, free, behind the protected task, and older than message
    ``start``. A lock group that begins before that goes whole."""
    layout = situation.layout
    older: Mask = (layout.oldest > begin_of(situation)) & (layout.oldest < start)
    return older & ~layout.protected & state.live


@dataclass(frozen=True, slots=True)
class Wording:
    """What a decision says: of live messages, of summarised ones, and where nothing was."""

    kept: str
    summarised: str
    idle: str
    edge: str = ""


def shown(
    state: Folded,
    situation: Situation,
    wording: Wording,
    *,
    role: SummaryRole,
    place: Place = Place.IN_PLACE,
    recent: int | None = None,
    notes: tuple[str, ...] = (),
) -> Decision:
    """The decision that ``state`` stands for. ``recent``: where the newest messages begin."""
    if not state.summaries:
        return keep_all(situation, wording.idle, notes)
    layout = situation.layout
    gone = ~state.live
    edge = gone & (layout.newest >= (situation.length if recent is None else recent))
    decision = by_cases(
        situation,
        wording.kept,
        Case(layout.oldest < begin_of(situation), "Stands before the task", Verdict.KEEP),
        Case(gone, wording.summarised, Verdict.SUMMARISE),
        Case(edge, wording.edge or wording.summarised, Verdict.SUMMARISE),
    )
    start = situation.length if recent is None else recent
    inserted = [
        Inserted(
            before=gap_at(situation, gone, _wanted(situation, members, place, start)),
            role=role.value,
            kind="summary",
            text=made.text,
            tokens=made.tokens,
            exactness=situation.synthetic_exactness,
            stands_for=tuple(np.flatnonzero(members).tolist()),
        )
        for number, made in state.summaries.items()
        for members in (state.block_of == number,)
    ]
    inserted.sort(key=lambda item: item.before)
    if state.note:
        note = replace(
            inserted[0], kind="note", text=state.note, tokens=state.note_tokens, stands_for=()
        )
        inserted.insert(0, note)
    told = notes + _larger(situation, state, gone)
    return replace(decision, inserted=tuple(inserted), notes=told, fired=state.fired)


def _wanted(situation: Situation, members: Mask, place: Place, recent: int) -> int:
    if place is Place.FIRST:
        system = situation.layout.zones.system
        return int((~system).argmax()) if not system.all() else situation.length
    if place is Place.BEFORE_RECENT:
        return max(recent, int(members.argmax()))
    return int(members.argmax())


def gap_at(situation: Situation, gone: Mask, place: int) -> int:
    """``place``, but not inside a lock group that stays, between a call and its result."""
    layout = situation.layout
    while True:
        around = ~gone & (layout.oldest < place) & (layout.newest >= place)
        if not around.any():
            return place
        place = int(layout.oldest[around].min())


def _larger(situation: Situation, state: Folded, gone: Mask) -> tuple[str, ...]:
    replaced = int(situation.counts.messages[gone].sum())
    tokens = sum(made.tokens for made in state.summaries.values())
    if tokens <= replaced:
        return ()
    what = "summary" if len(state.summaries) == 1 else "summaries"
    return (
        f"The {what} ({tokens:,} tokens) {'is' if what == 'summary' else 'are'} larger than the "
        f"messages {'it stands' if what == 'summary' else 'they stand'} for ({replaced:,} tokens)",
    )
