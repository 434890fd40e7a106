"""Each policy once more: slow and obvious, message by message, from the table of its rules.

Shares no code with the planner but the plain data types.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from stm_inspector.buffer.settings import Settings
from stm_inspector.conversation.model import Conversation, PartKind, Role
from stm_inspector.tokens.counts import TokenCounts


@dataclass
class Outcome:
    kept: set[int] = field(default_factory=set)
    truncated: set[int] = field(default_factory=set)
    summarised: set[int] = field(default_factory=set)
    cleared: set[int] = field(default_factory=set)


@dataclass
class Log:
    """A conversation up to the call planned for, with what may not be touched."""

    conversation: Conversation
    counts: TokenCounts
    settings: Settings
    protect: frozenset[str]
    locks: bool
    sticky: bool = True

    def __post_init__(self) -> None:
        messages = self.conversation.messages
        self.n = len(messages)
        self.system = {i for i in range(self.n) if self.is_system(i)}
        starts = [i for i in range(self.n) if messages[i].by_person]
        tasks = starts or [i for i in range(self.n) if self.is_users(i)]
        tasks = [i for i in tasks if self.settings.marks.get(i) is not True]
        self.anchor = tasks[0] if tasks else None
        others = [i for i in range(self.n) if i not in self.system]
        self.current = starts[-1] if starts else (others[-1] if others else self.n)
        before = [i for i in starts if i < self.current][::-1][: self.settings.tail_turns]
        self.tail = before[-1] if before else self.current
        self.held = self.everything_held()

    def is_system(self, i: int) -> bool:
        message = self.conversation.messages[i]
        return message.role in (Role.SYSTEM, Role.DEVELOPER) or message.source_field is not None

    def is_users(self, i: int) -> bool:
        message = self.conversation.messages[i]
        kinds = {part.kind for part in message.parts}
        return message.role is Role.USER and bool(kinds - {PartKind.TOOL_RESULT})

    def is_retrieved(self, i: int) -> bool:
        if i in self.system:
            return False
        parts = self.conversation.messages[i].parts
        return self.settings.marks.get(i, any(p.kind is PartKind.DOCUMENT for p in parts))

    def unit(self, i: int) -> tuple[int, ...]:
        group = int(self.conversation.structure.group_of[i])
        if not self.locks or group < 0:
            return (i,)
        return self.conversation.structure.groups[group]

    def in_zone(self, i: int, zone: str) -> bool:
        if zone == "system":
            return i in self.system
        if zone == "anchor":
            return i == self.anchor
        if zone == "retrieved":
            return self.is_retrieved(i)
        if zone == "current":
            return i >= self.current and i not in self.system
        if zone == "tail":
            return self.tail <= i < self.current and i not in self.system
        return not any(
            self.in_zone(i, other) for other in ("system", "anchor", "retrieved", "current", "tail")
        )

    def everything_held(self) -> set[int]:
        held = {i for i in range(self.n) if any(self.in_zone(i, z) for z in self.protect)}
        held |= {i for i in self.settings.pins if i < self.n}
        messages = self.conversation.messages
        held |= {i for i in range(self.n) if self.sticky and messages[i].tags.get("sticky")}
        return {i for i in range(self.n) if held & set(self.unit(i))}

    def tokens(self, indices: set[int]) -> int:
        return sum(int(self.counts.messages[i]) for i in indices) + self.counts.overhead


def keep_everything(log: Log) -> Outcome:
    return Outcome(kept=set(range(log.n)))


def window(log: Log, max_messages: int) -> Outcome:
    """The newest ``max_messages`` beside a protected system prompt and task; groups whole."""
    head = {
        i
        for i in range(log.n)
        for zone in ("system", "anchor")
        if zone in log.protect and log.in_zone(i, zone)
    }
    newest = {i for i in range(log.n) if i not in head}
    newest = set(sorted(newest)[-max_messages:])
    start = min(newest, default=log.n)
    kept = {i for i in newest if all(member >= start for member in log.unit(i))}
    return Outcome(kept=kept | log.held)


def token_budget(log: Log, trigger: int, goal: int, budget: int) -> Outcome:
    """What is protected, then the newest groups backwards until the first that does not fit."""
    if log.tokens(set(range(log.n))) <= trigger:
        return keep_everything(log)
    outcome = Outcome(kept=set(log.held))
    used = log.tokens(log.held)
    if used > budget:
        saved = saved_by_one_line(log)
        if saved > 0 and log.anchor is not None:
            outcome.truncated.add(log.anchor)
            used -= saved
    units = {log.unit(i) for i in range(log.n) if i not in log.held}
    for unit in sorted(units, key=lambda members: members[-1], reverse=True):
        used += log.tokens(set(unit)) - log.counts.overhead
        if used > goal:
            break
        outcome.kept |= set(unit)
    outcome.kept -= outcome.truncated
    return outcome


def saved_by_one_line(log: Log) -> int:
    i = log.anchor
    if i is None or "anchor" not in log.protect or len(log.unit(i)) > 1 or i in log.settings.pins:
        return 0
    if "current" in log.protect and i >= log.current:
        return 0
    words = " ".join(
        part.text for part in log.conversation.messages[i].parts if part.kind is PartKind.TEXT
    ).split()
    if not words:
        return 0
    line = "[original task: " + " ".join(words)[:200] + "…]"
    return int(log.counts.messages[i]) - log.counts.of_message(line)
