"""The plan and the registries as text for a terminal: aligned, plain, safe to print."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

import numpy as np

from stm_inspector.buffer.plan import Inserted, Plan, Problem, Severity, Verdict, Zone
from stm_inspector.buffer.policies import get_policy
from stm_inspector.conversation.model import Conversation, Message, Part, PartKind
from stm_inspector.conversation.structure import Place
from stm_inspector.conversation.titles import title_of
from stm_inspector.conversation.visible import visible
from stm_inspector.formats import Entry
from stm_inspector.tokens.counts import TokenCounts

SIGNS = {
    Verdict.KEEP: "●",
    Verdict.EVICT: "○",
    Verdict.CLEAR: "◌",
    Verdict.TRUNCATE: "◐",
    Verdict.SUMMARISE: "▽",
}
INSERTED_SIGN = "+"
_GONE = (Verdict.EVICT, Verdict.SUMMARISE)
_BOLD, _DIM, _RED, _YELLOW = "1", "2", "31", "33"


@dataclass(frozen=True, slots=True)
class Style:
    """How wide the lines may be, in characters, and whether they may be coloured."""

    width: int = 120
    colour: bool = False

    def paint(self, code: str, text: str) -> str:
        return f"\x1b[{code}m{text}\x1b[0m" if self.colour else text


def plan_lines(
    conversation: Conversation, plan: Plan, counts: TokenCounts, style: Style
) -> Iterator[str]:
    """The whole plan: what it is made from, every message, totals, why, problems, notes."""
    yield from plan_head(conversation, plan, counts, style)
    yield ""
    yield from _table(conversation, plan, style)
    yield ""
    yield style.paint(_BOLD, _totals(plan))
    yield from _section("Why", _reasons(plan), style)
    yield from problem_lines(plan.problems, style)
    notes = (*plan.decision.notes, *conversation.origin.notes, *counts.notes)
    yield from _section("Notes", (_sentence(note) for note in notes), style)
    skipped = conversation.origin.skipped
    where = (
        f"line {item.line}: {item.reason}" if item.line is not None else item.reason
        for item in skipped
    )
    yield from _section(f"Skipped ({len(skipped):,})", map(_sentence, where), style)


def problem_lines(problems: Sequence[Problem], style: Style) -> Iterator[str]:
    """Problems that the trimming causes, then those of the recording; each with its remedy."""
    for title, recorded in (("Problems", False), ("Problems of the recording itself", True)):
        chosen = [problem for problem in problems if problem.recorded == recorded]
        if not chosen:
            continue
        total = sum(problem.places for problem in chosen)
        yield ""
        yield style.paint(_BOLD, f"{title} ({total:,})")
        for problem in chosen:
            error = problem.severity is Severity.ERROR
            sign = style.paint(_RED if error else _YELLOW, "✗" if error else "!")
            where = "" if problem.index is None else f" · message {problem.index}"
            yield f"  {sign} {problem.rule} {problem.severity.value}{where}"
            yield f"    {visible(problem.text, keep='')}"
            yield f"    → {problem.remedy}"


def table(header: Sequence[str], rows: Sequence[Sequence[str]], style: Style) -> Iterator[str]:
    """Columns side by side, all but the last as wide as their widest cell."""
    cells = [header, *rows]
    widths = [max(len(row[column]) for row in cells) for column in range(len(header) - 1)]
    for number, row in enumerate(cells):
        padded = [cell.ljust(width) for cell, width in zip(row, widths, strict=False)]
        line = "  ".join([*padded, row[-1]]).rstrip()
        yield style.paint(_BOLD, line) if number == 0 else line


def entry_lines(entries: Sequence[Entry], default: int, style: Style) -> Iterator[str]:
    """The conversations of a file; the one that opens unless told otherwise has an arrow."""
    rows = [
        (
            "→" if entry.number == default else "",
            str(entry.number),
            _when(entry.time),
            "" if entry.messages is None else f"{entry.messages:,}",
            visible(entry.model or ""),
            visible(entry.title),
        )
        for entry in entries
    ]
    yield from table(("", "#", "date", "messages", "model", "title"), rows, style)


def _when(time: float | None) -> str:
    try:
        return "" if time is None else f"{datetime.fromtimestamp(time, UTC):%Y-%m-%d %H:%M}"
    except (ValueError, OverflowError, OSError):
        return "?"  # the file holds a number that is no time


def plan_head(
    conversation: Conversation, plan: Plan, counts: TokenCounts, style: Style
) -> Iterator[str]:
    """What is planned: file, policy, budget, marks, counter, and the call if not the last."""
    policy, budget = get_policy(plan.policy), plan.budget
    turns = len(conversation.structure.turn_starts)
    about = [
        conversation.format,
        _many(len(conversation.messages), "message"),
        _many(turns, "turn"),
    ]
    if conversation.model:
        about.append(conversation.model)
    name = conversation.origin.path or conversation.title or "conversation"
    yield style.paint(_BOLD, visible(name, keep="")) + "  " + visible(" · ".join(about), keep="")
    yield f"policy   {policy.id}: {policy.title}"
    if budget.fixed is not None:
        yield f"budget   {budget.fixed:,} tokens"
    else:
        yield (
            f"budget   {budget.input:,} tokens = window {budget.window:,} − reply {budget.reply:,}"
            f" − safety {budget.safety:,} − tool headroom {budget.tool_headroom:,}"
        )
    marks = {"watermark": plan.watermark, "target": plan.target}
    for word, tokens in marks.items():
        if tokens is not None:
            yield f"{word:<8} {tokens:,} tokens"
    yield f"counter  {counts.counter} ({plan.totals.exactness.word})"
    if plan.call < plan.calls - 1:
        yield f"call     {plan.call} of 0 to {plan.calls - 1}: the first {plan.length:,} messages"


def _table(conversation: Conversation, plan: Plan, style: Style) -> Iterator[str]:
    calls = {
        link.result: conversation.messages[link.call[0]].parts[link.call[1]]
        for link in conversation.structure.links
    }
    brackets = _brackets(conversation, plan.length)
    inserted = list(plan.decision.inserted)
    index_width = max(5, len(str(plan.length)))
    yield style.paint(
        _BOLD, f"  {'#':>{index_width}}    {'zone':<9} {'role':<9} {'tokens':>9}  message"
    )
    for index in range(plan.length):
        while inserted and inserted[0].before <= index:
            yield _inserted_line(inserted.pop(0), index_width, style)
        verdict = Verdict(plan.decision.verdicts[index])
        message = conversation.messages[index]
        after, before = int(plan.tokens_after[index]), int(plan.tokens[index])
        changed = f"[{verdict.word} {before:,} → {after:,}] " if _changes(verdict) else ""
        chips, text = title_of(message, _answered(message, index, calls))
        title = " ".join([*chips, text])
        line = (
            f"{SIGNS[verdict]} {index:>{index_width}} {brackets[index]}"
            f"{'^' if plan.pinned[index] else ' '} {Zone(plan.zones[index]).word:<9} "
            f"{message.role.value:<9} {before:>9,}  {changed}{title}"
        )
        line = _fit(line, style)
        yield style.paint(_DIM, line) if verdict in _GONE else line
    for item in inserted:
        yield _inserted_line(item, index_width, style)


def _changes(verdict: Verdict) -> bool:
    return verdict in (Verdict.CLEAR, Verdict.TRUNCATE)


def _inserted_line(item: Inserted, index_width: int, style: Style) -> str:
    count = f" of {_many(len(item.stands_for), 'message')}" if item.stands_for else ""
    first = visible(" ".join(item.text.split()), keep="")
    return _fit(
        f"{INSERTED_SIGN} {'':>{index_width}}    {item.kind:<9} {item.role:<9} "
        f"{item.tokens:>9,}  {item.kind}{count}: {first}",
        style,
    )


def _answered(message: Message, index: int, calls: Mapping[Place, Part]) -> list[Part | None]:
    """The call that each result in the message answers, for its title."""
    return [
        calls.get((index, number))
        for number, part in enumerate(message.parts)
        if part.kind is PartKind.TOOL_RESULT
    ]


def _brackets(conversation: Conversation, length: int) -> list[str]:
    """One character a message that draws the lock groups."""
    signs = [" "] * length
    for group in conversation.structure.groups:
        members = [index for index in group if index < length]
        if len(members) < 2:
            continue
        for index in range(members[0] + 1, members[-1]):
            signs[index] = "│"
        for index in members[1:-1]:
            signs[index] = "├"
        signs[members[0]] = "╭" if signs[members[0]] == " " else "├"
        signs[members[-1]] = "╰"
    return signs


def _totals(plan: Plan) -> str:
    totals = plan.totals
    lost = {
        "evicted": totals.evicted,
        "cleared": totals.cleared,
        "truncated": totals.truncated,
        "summarised": totals.summarised,
    }
    shown = [f"kept {totals.kept:,}", *(f"{word} {n:,}" for word, n in lost.items() if n)]
    over = f" · over the budget by {totals.over_budget:,}" if totals.over_budget else ""
    return (
        f"{totals.before.messages:,} → {_many(totals.after.messages, 'message')} · "
        f"{totals.before.tokens:,} → {totals.after.tokens:,} tokens "
        f"({totals.exactness.word}){over} · {', '.join(shown)}"
    )


def _reasons(plan: Plan) -> Iterator[str]:
    """Each reason with the number of messages it holds for."""
    decision = plan.decision
    pairs = decision.verdicts.astype(np.int64) * 256 + decision.reason_of
    found, first, numbers = np.unique(pairs, return_index=True, return_counts=True)
    width = max((len(f"{number:,}") for number in numbers.tolist()), default=1)
    for place in np.argsort(first).tolist():
        verdict, reason = divmod(int(found[place]), 256)
        yield (
            f"{SIGNS[Verdict(verdict)]} {Verdict(verdict).word:<9} "
            f"{int(numbers[place]):>{width},}  {decision.reasons[reason]}"
        )


def _section(title: str, lines: Iterable[str], style: Style) -> Iterator[str]:
    listed = list(lines)
    if listed:
        yield ""
        yield style.paint(_BOLD, title)
        yield from (f"  {visible(line, keep='')}" for line in listed)


def _fit(line: str, style: Style) -> str:
    return line if len(line) <= style.width else line[: style.width - 1] + "…"


def _sentence(text: str) -> str:
    return text if text.endswith((".", "…")) else f"{text}."


def _many(number: int, word: str) -> str:
    return f"{number:,} {word}{'' if number == 1 else 's'}"
