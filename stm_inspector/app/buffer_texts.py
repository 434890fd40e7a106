"""The words of the block list, made when a row is looked at and remembered after that."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from stm_inspector.app.buffer_rows import NONE, RowKind, Rows
from stm_inspector.app.glyphs import VERDICT_WORDS, ZONE_WORDS
from stm_inspector.buffer.plan import Inserted, Plan, Severity, Verdict, Zone
from stm_inspector.conversation.model import Conversation, Part, PartKind, Role
from stm_inspector.conversation.structure import Place
from stm_inspector.conversation.titles import Title, title_of
from stm_inspector.conversation.visible import visible
from stm_inspector.tokens.counts import UNKNOWN, Exactness, TokenCounts

ROLE_LETTERS = {
    Role.SYSTEM: "S",
    Role.DEVELOPER: "D",
    Role.USER: "U",
    Role.ASSISTANT: "A",
    Role.TOOL: "T",
}
_LARGEST_CACHE = 20_000


@dataclass(frozen=True, slots=True)
class State:
    """What became of a row: the sign and word of its verdict, and whether the model reads it."""

    word: str
    sent: bool
    changed: bool = False


class Texts:
    """Titles, states and numbers of the messages of one conversation under one plan."""

    def __init__(self, conversation: Conversation) -> None:
        self._conversation = conversation
        self._titles: dict[int, Title] = {}
        self._calls: dict[Place, Place] | None = None

    def title(self, index: int) -> Title:
        """Chips and text of message ``index``."""
        found = self._titles.get(index)
        if found is None:
            if len(self._titles) > _LARGEST_CACHE:
                self._titles.clear()
            message = self._conversation.messages[index]
            found = title_of(message, self.calls_of(index))
            self._titles[index] = found
        return found

    def calls_of(self, index: int) -> tuple[Part | None, ...]:
        """For each tool result in message ``index`` the call that it answers, or None."""
        messages = self._conversation.messages
        parts = messages[index].parts
        places = [n for n, part in enumerate(parts) if part.kind is PartKind.TOOL_RESULT]
        if not places:
            return ()
        if self._calls is None:
            links = self._conversation.structure.links
            self._calls = {link.result: link.call for link in links}
        calls = (self._calls.get((index, place)) for place in places)
        return tuple(messages[call[0]].parts[call[1]] if call else None for call in calls)

    def letter(self, index: int) -> str:
        """The letter of the message's role; tool results sent by a user message are T."""
        message = self._conversation.messages[index]
        if message.role is Role.USER and message.parts and self._only_results(index):
            return "T"
        return ROLE_LETTERS[message.role]

    def role_words(self, index: int) -> str:
        """The role in words: "tool result", "assistant", "tool definitions"."""
        message = self._conversation.messages[index]
        if message.parts and message.parts[0].kind is PartKind.TOOL_DEFINITION:
            return "tool definitions"
        if message.role is Role.TOOL or self._only_results(index):
            return "tool result"
        kinds = {part.kind for part in message.parts}
        if kinds and kinds <= {PartKind.TOOL_CALL, PartKind.THINKING}:
            return f"{message.role} tool call"
        return str(message.role)

    def _only_results(self, index: int) -> bool:
        parts = self._conversation.messages[index].parts
        return bool(parts) and all(part.kind is PartKind.TOOL_RESULT for part in parts)

    def state(self, index: int, plan: Plan | None) -> State:
        """What becomes of message ``index`` under ``plan``."""
        if plan is None:
            return State("", sent=True)
        if index >= plan.length:
            return State("later", sent=False)
        verdict = Verdict(int(plan.decision.verdicts[index]))
        if verdict in (Verdict.EVICT, Verdict.SUMMARISE):
            return State(VERDICT_WORDS[verdict], sent=False)
        if self._conversation.messages[index].unused:
            return State("not used", sent=True, changed=True)
        if verdict is Verdict.KEEP and plan.pinned[index]:
            return State("pinned", sent=True)
        return State(VERDICT_WORDS[verdict], sent=True, changed=verdict is not Verdict.KEEP)


def number(tokens: int, *, at_least: bool = False) -> str:
    """A token number as it is written everywhere: thousands separated, ≥ for a lower bound."""
    return f"≥ {tokens:,}" if at_least else f"{tokens:,}"


def mark(exactness: int) -> str:
    """What stands behind a number that is not exact and not recorded."""
    return "≈" if exactness >= Exactness.CALIBRATED else ""


def has_unknown(counts: TokenCounts, index: int) -> bool:
    """Some content of message ``index`` is not in the file, so that its number is too low."""
    return bool(np.any(counts.parts_of(index) == UNKNOWN))


def message_tokens(index: int, plan: Plan | None, counts: TokenCounts | None) -> tuple[str, str]:
    """The token number of a message (with what it becomes) and the mark behind it."""
    if counts is None:
        return "", ""
    before = int(counts.messages[index])
    text = number(before, at_least=has_unknown(counts, index))
    if plan is not None and index < plan.length:
        verdict = plan.decision.verdicts[index]
        if verdict in (Verdict.CLEAR, Verdict.TRUNCATE):
            text = f"{text} → {int(plan.tokens_after[index]):,}"
    return text, mark(int(counts.exactness[index]))


@dataclass(frozen=True, slots=True)
class FoldWords:
    """The words of a folded run."""

    span: str
    title: str
    note: str
    tokens: str
    mark: str
    state: State


def fold_words(rows: Rows, row: int, plan: Plan) -> FoldWords:
    """What a fold says; while a drag freezes it, it may hold other verdicts as well."""
    first, last = int(rows.first[row]), min(int(rows.last[row]), plan.length - 1)
    verdicts = plan.decision.verdicts[first : last + 1]
    summarised = int(np.count_nonzero(verdicts == Verdict.SUMMARISE))
    whole = summarised == len(verdicts)
    entry = stand_in(rows, row, plan)
    tokens = int(plan.tokens[first : last + 1].sum())
    after = int(plan.tokens_after[first : last + 1].sum()) + (entry.tokens if entry else 0)
    exactness = int(plan.exactness[first : last + 1].max()) if len(verdicts) else 0
    noun = f"{len(verdicts):,} messages"
    title = f"{noun} summarised" if whole else f"{noun} · {summarised:,} of them summarised"
    if entry is not None:
        note = f"one {entry.role} message stands for them"
    else:
        note = "within a longer summary" if summarised else ""
    return FoldWords(
        span=f"{first}–{last}",
        title=title,
        note=note,
        tokens=f"{tokens:,} → {after:,}",
        mark=mark(max(exactness, entry.exactness if entry else 0)),
        state=State("summarised" if summarised else "kept", sent=not whole),
    )


def stand_in(rows: Rows, row: int, plan: Plan | None) -> Inserted | None:
    """The synthetic message of a row in ``plan``, which may be newer than the rows."""
    place = int(rows.stand_in[row])
    if place == NONE or plan is None or place >= len(plan.decision.inserted):
        return None
    return plan.decision.inserted[place]


def inserted_title(entry: Inserted) -> str:
    """One line for a synthetic message."""
    return visible(" ".join(entry.text[:600].split()), keep="")[:300]


def describe(index: int, texts: Texts, plan: Plan | None) -> str:
    """The signs of a message's row in words: "42 · tool result · middle · evicted"."""
    pieces = [str(index), texts.role_words(index)]
    if plan is not None and index < plan.length:
        pieces.append(ZONE_WORDS[Zone(int(plan.zones[index]))])
    word = texts.state(index, plan).word
    return " · ".join([*pieces, word] if word else pieces)


def spoken(
    rows: Rows, row: int, texts: Texts, plan: Plan | None, counts: TokenCounts | None
) -> str:
    """A row in one breath, for a screen reader."""
    kind = rows.kinds[row]
    first = int(rows.first[row])
    if kind == RowKind.FOLD and plan is not None:
        words = fold_words(rows, row, plan)
        state = "folded" if rows.folded[row] else "unfolded"
        tokens = words.tokens.replace("→", "to")
        return f"messages {words.span}, {words.title}, {tokens} tokens, {words.note}, {state}"
    if kind == RowKind.INSERTED:
        entry = stand_in(rows, row, plan)
        if entry is None:
            return "synthetic message, no longer inserted"
        return f"synthetic {entry.kind}, {entry.role}, {entry.tokens:,} tokens, {entry.text[:120]}"
    title = texts.title(first)
    pieces = [f"message {first}", f"{texts.role_words(first)} {' '.join(title.chips)}".strip()]
    tokens, sign = message_tokens(first, plan, counts)
    if tokens:
        about = "about " if sign else ""
        pieces.append(about + tokens.replace("→", "to").replace("≥", "at least") + " tokens")
    state_word = texts.state(first, plan).word
    if state_word:
        pieces.append(state_word)
    if plan is not None and first < plan.length:
        pieces.append(f"zone {ZONE_WORDS[Zone(int(plan.zones[first]))]}")
    pieces.append(title.text[:120])
    return ", ".join(pieces)


def worst_problems(plan: Plan | None) -> dict[int, tuple[Severity, bool]]:
    """The worst problem of each message: errors before warnings, caused before recorded."""
    worst: dict[int, tuple[Severity, bool]] = {}
    for problem in plan.problems if plan is not None else ():
        if problem.index is None:
            continue
        entry = (problem.severity, problem.recorded)
        known = worst.get(problem.index)
        if known is None or _gravity(entry) > _gravity(known):
            worst[problem.index] = entry
    return worst


def _gravity(problem: tuple[Severity, bool]) -> tuple[bool, bool]:
    return problem[0] is Severity.ERROR, not problem[1]
