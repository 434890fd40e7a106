"""Old tool results shrink; the calls and the talk stay."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from stm_inspector.buffer.layout import HELD_REASONS
from stm_inspector.buffer.plan import Decision, Replacement, Verdict
from stm_inspector.buffer.policies.base import (
    ActingSettings,
    Basis,
    Situation,
    keep_all,
)
from stm_inspector.buffer.policies.worth import worthwhile
from stm_inspector.buffer.settings import setting
from stm_inspector.conversation.model import Conversation, PartKind
from stm_inspector.tokens.counts import UNKNOWN

PLACEHOLDER = "[Old tool result cleared]"


@dataclass(frozen=True, slots=True)
class ClearResultsSettings(ActingSettings):
    """Settings of ``clear-results``."""

    keep: int = setting(
        3,
        "How many of the newest tool results stay as they are.",
        label="Newest results",
        unit="results",
        low=0,
    )


@dataclass(frozen=True, slots=True)
class ClearResults:
    """The policy ``clear-results``."""

    id: str = "clear-results"
    title: str = "Clear old tool results"
    idea: str = "Shrink tool results"
    help: str = (
        "Tool results older than the newest few become a placeholder; the calls stay, so the "
        "model knows what it did and can do it again. Right for agents that read files and "
        "pages: results are most of the buffer, and an old one is rarely read twice. Wrong "
        "where a result cannot be had again, or is the answer itself; and talk without tools "
        "does not shrink at all. With a watermark it acts only above it."
    )
    basis: Basis = Basis.OURS
    emulates: str | None = None
    settings: type[ClearResultsSettings] = ClearResultsSettings
    uses_budget: bool = False
    uses_watermark: bool = True
    uses_target: bool = False

    def decide(self, situation: Situation, options: ClearResultsSettings) -> Decision:
        """Clear the results that are older than the newest ``keep``."""
        if situation.watermark is not None and situation.total <= situation.watermark:
            return keep_all(
                situation, f"The buffer does not exceed the watermark, {situation.watermark:,}"
            )
        old = _free_results(situation, options.keep)
        tokens = _part_tokens(situation, PLACEHOLDER)
        gain = _tokens_at(situation, old) > tokens
        placeholder = Replacement(PLACEHOLDER, tokens)
        indices, parts = old[gain].T.tolist()
        cleared = dict.fromkeys(zip(indices, parts, strict=True), placeholder)
        decision = _changed(situation, f"Among the newest {options.keep:,} tool results", cleared)
        return worthwhile(situation, options, decision)


@dataclass(frozen=True, slots=True)
class SoftHardSettings(ActingSettings):
    """Settings of ``soft-hard``."""

    soft: float = setting(
        0.3,
        "Above that, long old results are trimmed to head and tail.",
        label="Trim above",
        unit="of budget",
        low=0,
        high=1,
    )
    hard: float = setting(
        0.5,
        "If the buffer still exceeds that, old results are cleared, the oldest first.",
        label="Clear above",
        unit="of budget",
        low=0,
        high=1,
    )
    keep: int = setting(
        3,
        "How many of the newest tool results stay as they are.",
        label="Newest results",
        unit="results",
        low=0,
    )
    long: int = setting(
        4_000,
        "A longer result is trimmed.",
        label="Long is above",
        unit="characters",
        low=1,
    )
    head: int = setting(
        1_500, "What stays of its beginning.", label="Head", unit="characters", low=0
    )
    tail: int = setting(1_500, "What stays of its end.", label="Tail", unit="characters", low=0)


@dataclass(frozen=True, slots=True)
class SoftHard:
    """The policy ``soft-hard``."""

    id: str = "soft-hard"
    title: str = "Trim, then clear results"
    idea: str = "Shrink tool results"
    help: str = (
        "In two steps: above a first share of the budget, long old tool results keep only their "
        "head and tail; if that is not enough for a second share, old results are cleared, the "
        "oldest first, until it is. Right where results are long logs whose beginning and end "
        "tell most. Wrong where what matters stands in the middle of a file, and for talk "
        "without tools."
    )
    basis: Basis = Basis.OURS
    emulates: str | None = None
    settings: type[SoftHardSettings] = SoftHardSettings
    uses_budget: bool = True
    uses_watermark: bool = False
    uses_target: bool = False

    def decide(self, situation: Situation, options: SoftHardSettings) -> Decision:
        """Trim above ``soft``, clear above ``hard``, both of the limit."""
        soft, hard = int(options.soft * situation.limit), int(options.hard * situation.limit)
        if situation.total <= soft:
            return keep_all(situation, f"The buffer does not exceed {soft:,} tokens")
        old = _free_results(situation, options.keep)
        sizes = _tokens_at(situation, old).tolist()
        total, changes = situation.total, {}
        for at, (index, part) in enumerate(old.tolist()):
            trimmed = _trimmed(situation, options, index, part)
            if trimmed is not None and trimmed.tokens < sizes[at]:
                changes[(index, part)] = trimmed
                total += trimmed.tokens - sizes[at]
                sizes[at] = trimmed.tokens
        placeholder = Replacement(PLACEHOLDER, _part_tokens(situation, PLACEHOLDER))
        for at, (index, part) in enumerate(old.tolist()):
            if total <= hard:
                break
            if placeholder.tokens < sizes[at]:
                changes[(index, part)] = placeholder
                total += placeholder.tokens - sizes[at]
        decision = _changed(situation, "No old tool result that is long enough to act on", changes)
        return worthwhile(situation, options, decision)


def _trimmed(
    situation: Situation, options: SoftHardSettings, index: int, part: int
) -> Replacement | None:
    text = situation.log.messages[index].parts[part].text
    if len(text) <= max(options.long, options.head + options.tail):
        return None

    def make() -> Replacement:
        left_out = len(text) - options.head - options.tail
        note = f"[… {left_out:,} of {len(text):,} characters left out …]"
        tail = text[len(text) - options.tail :]
        shown = "\n".join(piece for piece in (text[: options.head], note, tail) if piece)
        return Replacement(shown, _part_tokens(situation, shown))

    made: Replacement = situation.remember(
        ("trimmed", index, part, options.head, options.tail), make
    )
    return made


def _changed(
    situation: Situation, kept_because: str, changes: dict[tuple[int, int], Replacement]
) -> Decision:
    """The decision that puts ``changes`` in the place of tool results."""
    verdicts = np.zeros(situation.length, dtype=np.uint8)
    reason_of = situation.layout.held.copy()
    trimmed = [index for (index, _), new in changes.items() if new.text != PLACEHOLDER]
    cleared = [index for (index, _), new in changes.items() if new.text == PLACEHOLDER]
    for verdict, indices, number in ((Verdict.TRUNCATE, trimmed, 0), (Verdict.CLEAR, cleared, 1)):
        verdicts[indices] = int(verdict)
        reason_of[indices] = len(HELD_REASONS) + number
    reasons = (
        kept_because if changes else "No tool result to act on",
        *HELD_REASONS[1:],
        "An old tool result is trimmed to its head and tail",
        "An old tool result is replaced by a placeholder; the call stays",
    )
    return Decision(verdicts, reason_of, reasons, cleared=changes, fired=bool(changes))


def _free_results(situation: Situation, keep: int) -> NDArray[np.int64]:
    """(message, part) of each result a policy may touch but for the newest ``keep`` of all:
    int64[results, 2], oldest first."""
    places: NDArray[np.int64] = situation.remember("results", lambda: _places(situation.log))
    places = places[: int(places[:, 0].searchsorted(situation.length))]
    places = places[: max(0, len(places) - keep)]
    return places[~situation.layout.protected[places[:, 0]]]


def _places(conversation: Conversation) -> NDArray[np.int64]:
    def every() -> Iterator[tuple[int, int]]:
        for index, message in enumerate(conversation.messages):
            for number, part in enumerate(message.parts):
                if part.kind is PartKind.TOOL_RESULT and not part.server:
                    yield index, number

    return np.array(list(every()), dtype=np.int64).reshape(-1, 2)


def _tokens_at(situation: Situation, places: NDArray[np.int64]) -> NDArray[np.int64]:
    """Tokens of each result: int64[results]; what is unknown counts 0."""
    counts = situation.counts
    tokens = counts.parts[counts.part_starts[places[:, 0]] + places[:, 1]]
    return np.where(tokens == UNKNOWN, 0, tokens)


def _part_tokens(situation: Situation, text: str) -> int:
    """Tokens of a text within a message."""
    count = situation.counts.of_message
    tokens: int = situation.remember(("part", text), lambda: max(0, count(text) - count("")))
    return tokens
