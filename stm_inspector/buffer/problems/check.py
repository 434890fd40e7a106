"""Run the rules of an API over a plan and put what they find into words."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from stm_inspector.buffer.plan import Decision, Problem, Severity
from stm_inspector.buffer.problems import anthropic, openai_chat, quality
from stm_inspector.buffer.problems.facts import Bools, Facts, gather
from stm_inspector.buffer.problems.rule import Found, Ints, Rule
from stm_inspector.buffer.problems.view import View, view_of
from stm_inspector.conversation.model import Conversation

Find = Callable[[View], Iterator[Found]]

APIS: Mapping[str, tuple[tuple[Rule, ...], Find]] = {
    "openai-chat": (openai_chat.RULES, openai_chat.find),
    "anthropic-messages": (anthropic.RULES, anthropic.find),
}
"""API id (``Conversation.api``) -> its rules and the function that checks them."""

MAX_LISTED = 200
"""Problems of one rule that are listed one by one; one more says how many there are beyond."""

_IDS_SHOWN = 3
_LENGTHS_REMEMBERED = 8
_PART_BITS = 20  # of a place's code; a message has fewer than a million parts


class Checker:
    """Checks plans over one conversation; remembers what the recording breaks by itself."""

    def __init__(self, conversation: Conversation) -> None:
        self._facts = gather(conversation)
        self._find = APIS[conversation.api][1] if conversation.api in APIS else _no_rules
        self._recorded: dict[int, dict[Rule, Places]] = {}

    def check(
        self, decision: Decision, over_budget: int = 0, anchor: int | None = None
    ) -> tuple[Problem, ...]:
        """List what is wrong with the buffer of ``decision``: what the trimming causes first.

        The decision may cover only the first messages (a plan for an earlier call); what comes
        later is not looked at. ``over_budget`` is the tokens by which the budget is missed,
        ``anchor`` the message that states the task.
        """
        length = len(decision.verdicts)
        recorded = self._of_recording(length)
        view = view_of(self._facts, decision, length, anchor, over_budget)
        by_api = recorded if view.untouched else _search(self._find, view)
        problems: list[Problem] = []
        for rule, places in (by_api | _search(quality.find, view)).items():
            known = _known(places, recorded.get(rule))
            problems += _in_words(self._facts, rule, places, places.codes[~known], recorded=False)
            problems += _in_words(self._facts, rule, places, places.codes[known], recorded=True)
        return tuple(sorted(problems, key=_urgency))

    def _of_recording(self, length: int) -> dict[Rule, Places]:
        if length not in self._recorded:
            if len(self._recorded) >= _LENGTHS_REMEMBERED:
                del self._recorded[next(iter(self._recorded))]
            everything = view_of(self._facts, None, length)
            self._recorded[length] = _search(self._find, everything) | _search(
                quality.find, everything
            )
        return self._recorded[length]


def all_rules() -> tuple[Rule, ...]:
    """Every rule of every API, then the warnings that hold for all."""
    return (*(rule for rules, _ in APIS.values() for rule in rules), *quality.RULES)


@dataclass(frozen=True, eq=False, slots=True)
class Places:
    """All places that break one rule: int64[k] codes, ascending, of message and part."""

    codes: Ints
    fields: Mapping[str, str]
    anywhere: bool


def _no_rules(_view: View) -> Iterator[Found]:
    return iter(())


def _search(find: Find, view: View) -> dict[Rule, Places]:
    by_rule: dict[Rule, list[Found]] = {}
    for found in find(view):
        if len(found.messages):
            by_rule.setdefault(found.rule, []).append(found)
    return {rule: _merge(founds) for rule, founds in by_rule.items()}


def _merge(founds: Sequence[Found]) -> Places:
    codes = [((found.messages + 1) << _PART_BITS) + found.parts + 1 for found in founds]
    return Places(np.unique(np.concatenate(codes)), founds[0].fields, founds[0].anywhere)


def _place(code: int) -> tuple[int, int]:
    return (code >> _PART_BITS) - 1, (code & ((1 << _PART_BITS) - 1)) - 1


def _known(places: Places, recorded: Places | None) -> Bools:
    """bool[k]: which of the places the recording breaks by itself."""
    if recorded is None:
        return np.zeros(len(places.codes), dtype=bool)
    if places.anywhere:
        return np.ones(len(places.codes), dtype=bool)
    return np.isin(places.codes, recorded.codes)


def _in_words(
    facts: Facts, rule: Rule, places: Places, codes: Ints, *, recorded: bool
) -> Iterator[Problem]:
    """One problem a message; a last one stands for those beyond ``MAX_LISTED``."""
    starts = np.flatnonzero(np.diff(codes >> _PART_BITS, prepend=-1))
    remedy = rule.recorded_remedy if recorded else rule.remedy
    for group in np.split(codes, starts[1 : MAX_LISTED + 1])[: min(len(starts), MAX_LISTED)]:
        spots = [_place(code) for code in group.tolist()]
        message, part = spots[0]
        text = rule.text.format(ids=_ids(facts, spots), **places.fields)
        index, number = (None if value < 0 else value for value in (message, part))
        yield Problem(rule.id, rule.severity, index, text, remedy, recorded, number)
    beyond = len(starts) - MAX_LISTED
    if beyond > 0:
        text = f"{beyond:,} more message{'s' * (beyond > 1)} break this rule: {rule.title}."
        yield Problem(rule.id, rule.severity, None, text, remedy, recorded, places=beyond)


def _ids(facts: Facts, spots: Sequence[tuple[int, int]]) -> str:
    """The calls concerned: by id, else by the tool's name."""
    parts = [facts.part(spot) for spot in spots[:_IDS_SHOWN] if min(spot) >= 0]
    words = ", ".join(part.call_id or part.name or "(no id)" for part in parts)
    beyond = len(spots) - _IDS_SHOWN
    return f"{words} and {beyond:,} more" if beyond > 0 else words


def _urgency(problem: Problem) -> tuple[bool, bool, bool, int, str]:
    index = problem.index
    closing = problem.places > 1
    return (
        problem.recorded,
        problem.severity is not Severity.ERROR,
        closing,
        -1 if index is None else index,
        problem.rule,
    )
