"""The other policies once more: slow and obvious, from the table of their rules.

A destructive policy is given the log at each call so far, oldest first.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from stm_inspector.buffer.scores import Scoring, score_of
from stm_inspector.conversation.model import PartKind
from stm_inspector.summaries.extractive import Extractive
from stm_inspector.summaries.summary import Summary
from tests.buffer.slow_policies import Log, Outcome, keep_everything

Unit = tuple[int, ...]


def free_units(log: Log) -> list[Unit]:
    """The units that may be touched, oldest first; a unit is as new as its newest member."""
    units = {tuple(m for m in log.unit(i)) for i in range(log.n) if i not in log.held}
    return sorted(units, key=lambda unit: unit[-1])


def dropping_in_order(
    log: Log, order: Sequence[Unit], goal: int, *, keep: Sequence[Unit]
) -> Outcome:
    kept = set(range(log.n))
    for unit in order:
        if log.tokens(kept) <= goal:
            break
        if unit not in keep:
            kept -= set(unit)
    return Outcome(kept=kept)


def token_fifo(log: Log, trigger: int, goal: int) -> Outcome:
    """Drop the oldest group until it fits; the newest always stays."""
    if log.tokens(set(range(log.n))) <= trigger:
        return keep_everything(log)
    newest = log.unit(log.n - 1) if log.n else ()
    return dropping_in_order(log, free_units(log), goal, keep=[newest])


def turn_of(log: Log, i: int) -> int:
    """0 before the first turn, then 1, 2, …"""
    return sum(log.conversation.messages[j].by_person for j in range(i + 1))


def turn_window(log: Log, trigger: int, goal: int, max_turns: int) -> Outcome:
    """Whole turns from the newest backwards until the first that does not fit."""
    units = free_units(log)
    last = turn_of(log, log.n - 1) if log.n else 0
    kept, used = set(log.held), log.tokens(log.held)
    fits = log.tokens(set(range(log.n))) <= trigger
    for turn in range(last, -1, -1):
        members = {i for unit in units if turn_of(log, unit[0]) == turn for i in unit}
        used += log.tokens(members) - log.counts.overhead
        if (used > goal and not fits) or (max_turns and last - turn >= max_turns):
            break
        kept |= members
    return Outcome(kept=kept)


def scores(log: Log, scoring: Scoring) -> list[float]:
    own = log.settings.scores
    messages = log.conversation.messages
    return [own.get(i, score_of(messages[i], scoring)) for i in range(log.n)]


def salience(log: Log, trigger: int, goal: int, scoring: Scoring, decay: float) -> Outcome:
    """Drop the lowest score first, the oldest of equals, until it fits."""
    if log.tokens(set(range(log.n))) <= trigger:
        return keep_everything(log)
    messages = log.conversation.messages
    times: list[float] = []
    first = next((m.time for m in messages if m.time is not None), 0.0)
    for message in messages:
        before = times[-1] if times else first
        times.append(before if message.time is None else message.time)
    score = scores(log, scoring)
    if decay:
        score = [s - decay * (max(times) - t) / 3600 for s, t in zip(score, times, strict=True)]

    def worth(unit: Unit) -> tuple[float, int]:
        return round(max(score[i] for i in unit), 9), unit[-1]

    return dropping_in_order(log, sorted(free_units(log), key=worth), goal, keep=[])


def priority(logs: Sequence[Log], limit: int, scoring: Scoring) -> Outcome:
    """At each arrival evict the lowest priority, oldest first, until the newcomer fits."""
    gone: set[int] = set()
    seen = 0
    for log in logs:
        gone = {i for i in range(log.n) if gone & set(log.unit(i))} - log.held
        score = scores(log, scoring)
        units = sorted({log.unit(i) for i in range(log.n)}, key=lambda unit: unit[-1])
        present = {i for i in range(seen) if i not in gone}
        arrived = [unit for unit in units if unit[-1] < seen]
        for unit in units:
            if unit[-1] < seen or set(unit) & gone:
                continue
            present |= set(unit)
            while log.tokens(present) > limit:
                can_go = [one for one in arrived if set(one) <= present - log.held]
                if not can_go:
                    break
                lowest = min(can_go, key=lambda one: (max(score[i] for i in one), one[-1]))
                present -= set(lowest)
                gone |= set(lowest)
            arrived.append(unit)
        seen = log.n
    return Outcome(kept=set(range(logs[-1].n)) - gone)


class Folds:
    """Messages that are gone, by the summaries that stand for them."""

    def __init__(self) -> None:
        self.blocks: list[tuple[set[int], Summary]] = []
        self.note = ""

    def grow(self, log: Log) -> None:
        grown = []
        for members, made in self.blocks:
            whole = {i for i in range(log.n) if members & set(log.unit(i))} - log.held
            if whole:
                grown.append((whole, made))
        self.blocks = grown

    @property
    def gone(self) -> set[int]:
        return {i for members, _ in self.blocks for i in members}

    def tokens(self, log: Log) -> int:
        live = log.tokens(set(range(log.n)) - self.gone)
        return live + sum(made.tokens for _, made in self.blocks)

    def candidates(self, log: Log, start: int) -> set[int]:
        """Live, free, behind the task, in a group that begins before ``start``."""
        task = log.anchor if "anchor" in log.protect and log.anchor is not None else -1
        return {
            i
            for i in range(log.n)
            if i not in log.held and i not in self.gone and task < min(log.unit(i)) < start
        }

    def fold(self, log: Log, members: set[int], most: int, *, rewrite: bool, raw: bool) -> None:
        previous = None
        if rewrite and self.blocks:
            ((earlier, last),) = self.blocks
            previous = None if raw else last
            wanted = members | (earlier if raw else set())
            self.blocks = [(members | earlier, summarised(log, wanted, most, previous))]
        else:
            self.blocks.append((members, summarised(log, members, most, None)))

    def outcome(self, log: Log) -> Outcome:
        return Outcome(kept=set(range(log.n)) - self.gone, summarised=self.gone)


def summarised(log: Log, members: set[int], most: int, previous: Summary | None) -> Summary:
    return Extractive().summarise(
        log.conversation,
        sorted(members),
        max_tokens=most,
        count=log.counts.of_message,
        previous=previous,
    )


def newest_from(log: Log, keep: int, by: str) -> int:
    """Where the newest messages begin."""
    start = log.n
    while start > 0:
        suffix = set(range(start - 1, log.n))
        turns = [i for i in suffix if log.conversation.messages[i].by_person]
        tokens = log.tokens(suffix) - log.counts.overhead
        enough_turns = len([i for i in turns if i >= start]) >= keep
        if (
            (by == "messages" and len(suffix) > keep)
            or (by == "tokens" and (tokens > keep or not keep))
            or (by == "turns" and enough_turns)
        ):
            break
        start -= 1
    return start


def summary(logs: Sequence[Log], trigger: int, options: Any, target: int | None) -> Outcome:
    """Whenever the trigger is exceeded, the middle goes into the summary; at every call, or,
    where summaries are not carried on, at the last one alone."""
    folds = Folds()
    for log in logs if options.carried else logs[-1:]:
        folds.grow(log)
        live = set(range(log.n)) - folds.gone
        size = {
            "tokens": folds.tokens(log),
            "messages": len(live) + len(folds.blocks),
            "turns": len({turn_of(log, i) for i in live} - {0}),
        }[options.trigger_by.value]
        if size <= trigger:
            continue
        middle = folds.candidates(log, newest_from(log, options.keep_recent, options.keep_by.value))
        rewrite = options.merge.value == "rewrite"
        if target is not None:
            after = folds.tokens(log) + options.max_summary_tokens
            if rewrite:
                after -= sum(made.tokens for _, made in folds.blocks)
            chosen: set[int] = set()
            for unit in sorted({log.unit(i) for i in middle}):
                if after - (log.tokens(chosen) - log.counts.overhead) > target:
                    chosen |= set(unit)
            middle = chosen
        if not middle:
            continue
        before, blocks = folds.tokens(log), list(folds.blocks)
        folds.fold(log, middle, options.max_summary_tokens, rewrite=rewrite, raw=False)
        if options.min_freed and before - folds.tokens(log) < options.min_freed:
            folds.blocks = blocks
    return folds.outcome(logs[-1])


def rolling(logs: Sequence[Log], options: Any) -> Outcome:
    """Every few turns the older half of what is left is summarised."""
    folds, last, refreshed = Folds(), 0, 0
    for log in logs:
        folds.grow(log)
        turns = turn_of(log, log.n - 1) if log.n else 0
        free = sorted(folds.candidates(log, log.n))
        if turns - last < options.every_turns or len(free) < 2:
            continue
        half = folds.candidates(log, free[len(free) // 2])
        if not half:
            continue
        raw = options.refresh_turns > 0 and turns - refreshed >= options.refresh_turns
        folds.fold(log, half, options.max_summary_tokens, rewrite=True, raw=raw)
        last, refreshed = turns, turns if raw else refreshed
    return folds.outcome(logs[-1])


def hybrid(logs: Sequence[Log], options: Any) -> Outcome:
    """Every few turns all but the newest messages is summarised."""
    folds, last = Folds(), 0
    for log in logs:
        folds.grow(log)
        turns = turn_of(log, log.n - 1) if log.n else 0
        older = folds.candidates(log, log.n - options.keep_recent)
        if turns - last < options.every_turns or not older:
            continue
        folds.fold(log, older, options.max_summary_tokens, rewrite=True, raw=False)
        last = turns
    return folds.outcome(logs[-1])


def segments(
    logs: Sequence[Log], trigger: int, options: Any, changes: Sequence[tuple[int, int]]
) -> Outcome:
    """Above the trigger each completed topic becomes a summary of its own."""
    folds = Folds()
    for log in logs:
        folds.grow(log)
        before, blocks = folds.tokens(log), list(folds.blocks)
        if before <= trigger:
            continue
        first = 0
        for stop in [begin for begin, known in changes if known <= log.n]:
            topic = {i for i in folds.candidates(log, stop) if min(log.unit(i)) >= first}
            if topic:
                folds.fold(log, topic, options.max_summary_tokens, rewrite=False, raw=False)
            first = stop
        if options.min_freed and before - folds.tokens(log) < options.min_freed:
            folds.blocks = blocks
    return folds.outcome(logs[-1])


def entity(log: Log, trigger: int, goal: int, room: int) -> set[int]:
    """What leaves: older than the newest groups that fit beside the list."""
    if log.tokens(set(range(log.n))) <= trigger:
        return set()
    used = log.tokens(log.held) + room
    units = free_units(log)[::-1]
    for at, unit in enumerate(units):
        used += log.tokens(set(unit)) - log.counts.overhead
        if used > goal:
            return {i for one in units[at:] for i in one}
    return set()


def old_results(log: Log, keep: int) -> list[tuple[int, int]]:
    """(message, part) of the results older than the newest ``keep``, that may be touched."""
    places = [
        (i, j)
        for i in range(log.n)
        for j, part in enumerate(log.conversation.messages[i].parts)
        if part.kind is PartKind.TOOL_RESULT and not part.server
    ]
    return [place for place in places[: max(0, len(places) - keep)] if place[0] not in log.held]


def part_tokens(log: Log, place: tuple[int, int]) -> int:
    return max(0, int(log.counts.parts_of(place[0])[place[1]]))


def placeholder_tokens(log: Log) -> int:
    count = log.counts.of_message
    return max(0, count("[Old tool result cleared]") - count(""))


def clear_results(log: Log, watermark: int | None, options: Any) -> Outcome:
    """Results older than the newest ``keep`` become a placeholder where that is smaller."""
    kept = set(range(log.n))
    if watermark is not None and log.tokens(kept) <= watermark:
        return keep_everything(log)
    small = placeholder_tokens(log)
    cleared = {p[0] for p in old_results(log, options.keep) if part_tokens(log, p) > small}
    return Outcome(kept=kept - cleared, cleared=cleared)


def soft_hard(log: Log, limit: int, options: Any) -> Outcome:
    """Long old results are trimmed above one share; above a second, results are cleared."""
    total = log.tokens(set(range(log.n)))
    if total <= int(options.soft * limit):
        return keep_everything(log)
    places = old_results(log, options.keep)
    size = {place: part_tokens(log, place) for place in places}
    trimmed, cleared = set(), set()
    for i, j in places:
        text = log.conversation.messages[i].parts[j].text
        if len(text) > options.long and len(text) > options.head + options.tail:
            out = len(text) - options.head - options.tail
            shown = (
                f"{text[: options.head]}\n[… {out:,} of {len(text):,} characters left out …]\n"
                f"{text[len(text) - options.tail :]}"
            )
            tokens = max(0, log.counts.of_message(shown) - log.counts.of_message(""))
            if tokens < size[i, j]:
                total += tokens - size[i, j]
                size[i, j] = tokens
                trimmed.add((i, j))
    small = placeholder_tokens(log)
    for place in places:
        if total > int(options.hard * limit) and small < size[place]:
            total += small - size[place]
            cleared.add(place)
    gone = {i for i, _ in cleared}
    cut = {i for i, _ in trimmed - cleared} - gone
    return Outcome(kept=set(range(log.n)) - gone - cut, truncated=cut, cleared=gone)
