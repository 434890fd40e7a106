"""What is evicted leaves a list of what it mentioned."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from stm_inspector.buffer.plan import Decision, Inserted, Verdict
from stm_inspector.buffer.policies.base import (
    ActingSettings,
    Basis,
    Case,
    Situation,
    at_most,
    by_cases,
    keep_all,
)
from stm_inspector.buffer.policies.folding import SummaryRole, gap_at
from stm_inspector.buffer.policies.worth import worthwhile
from stm_inspector.buffer.settings import setting
from stm_inspector.buffer.zones import Mask
from stm_inspector.conversation.model import Conversation
from stm_inspector.summaries.entities import EntityKind, entities_of, list_of

Entities = tuple[tuple[EntityKind, str], ...]


@dataclass(frozen=True, slots=True)
class EntitySettings(ActingSettings):
    """Settings of ``entity``."""

    max_list_tokens: int = setting(
        500,
        "The list is at most that long: the entities mentioned last. That room is kept free.",
        label="Longest list",
        unit="tokens",
        low=1,
    )
    role: SummaryRole = setting(
        SummaryRole.USER,
        "Who speaks the list. As the first message, Anthropic accepts only the user's.",
        label="List speaks as",
    )


@dataclass(frozen=True, slots=True)
class Entity:
    """The policy ``entity``."""

    id: str = "entity"
    title: str = "Entity list"
    idea: str = "Summarise"
    help: str = (
        "Keeps the newest lock groups that fit; what is older leaves a list of what it mentioned "
        "instead of its text: names, identifiers, paths, URLs, numbers with units. Right where "
        "the model can look things up again if only it knows what they are called. Wrong where "
        "what was said about them matters, not that they were mentioned; and the rules guess."
    )
    basis: Basis = Basis.OURS
    emulates: str | None = None
    settings: type[EntitySettings] = EntitySettings
    uses_budget: bool = True
    uses_watermark: bool = True
    uses_target: bool = True

    def decide(self, situation: Situation, options: EntitySettings) -> Decision:
        """Keep the newest units that fit beside the list."""
        trigger = at_most(situation.watermark, situation.limit)
        if situation.total <= trigger:
            return keep_all(situation, f"The buffer does not exceed {trigger:,} tokens")
        goal = at_most(situation.target, situation.limit)
        return worthwhile(situation, options, _listed(situation, options, goal))


def _listed(situation: Situation, options: EntitySettings, goal: int) -> Decision:
    layout = situation.layout
    held = layout.protected_tokens + situation.counts.overhead + options.max_list_tokens
    fitting = int(layout.unit_sums.searchsorted(goal - held, side="right"))
    if fitting == len(layout.unit_newest):
        return keep_all(situation, f"Fits into {goal:,} tokens beside the list")
    gone = (layout.newest <= int(layout.unit_newest[fitting])) & ~layout.protected
    text, tokens = _list(situation, gone, options.max_list_tokens)
    verdict = Verdict.SUMMARISE if text else Verdict.EVICT
    left = "the list tells what it mentioned" if text else "it mentioned nothing for the list"
    decision = by_cases(
        situation,
        f"Among the newest that fit into {goal:,} tokens beside the list",
        Case(gone, f"Older than what fits into {goal:,} tokens: {left}", verdict),
    )
    if not text:
        return decision
    inserted = Inserted(
        before=gap_at(situation, gone, int(gone.argmax())),
        role=options.role.value,
        kind="note",
        text=text,
        tokens=tokens,
        exactness=situation.synthetic_exactness,
        stands_for=tuple(np.flatnonzero(gone).tolist()),
    )
    return replace(decision, inserted=(inserted,))


def _list(situation: Situation, gone: Mask, max_tokens: int) -> tuple[str, int]:
    """The list of what ``gone`` mentioned, with its tokens; ("", 0) if nothing fits."""

    def make() -> tuple[str, int]:
        every: tuple[Entities, ...] = situation.remember(
            "entities", lambda: _entities(situation.log)
        )
        found = [entity for index in np.flatnonzero(gone).tolist() for entity in every[index]]
        known = list(dict.fromkeys(reversed(found)))[::-1]
        return _fitting(situation, known, max_tokens)

    made: tuple[str, int] = situation.remember(
        ("list", np.packbits(gone).tobytes().rstrip(b"\0"), max_tokens), make
    )
    return made


def _fitting(
    situation: Situation, known: list[tuple[EntityKind, str]], max_tokens: int
) -> tuple[str, int]:
    """The longest list within ``max_tokens``: every entity costs at least one."""
    count = situation.counts.of_message
    fits, fails, best = 0, min(len(known), max_tokens) + 1, ("", 0)
    while fails - fits > 1:
        middle = (fits + fails) // 2
        text = list_of(known, middle)
        tokens = count(text)
        if tokens <= max_tokens:
            fits, best = middle, (text, tokens)
        else:
            fails = middle
    return best


def _entities(conversation: Conversation) -> tuple[Entities, ...]:
    return tuple(entities_of(message) for message in conversation.messages)
