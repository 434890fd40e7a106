"""What a validity rule is, and what a rule reports."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from stm_inspector.buffer.plan import Severity

Ints = NDArray[np.int64]
NOWHERE: Ints = np.empty(0, dtype=np.int64)


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule that a request must keep.

    Attributes:
        id: as it is written on screen and in JSON ("A1").
        severity: an error is rejected by the API.
        title: the rule itself in a few words.
        text: what is wrong, with ``{ids}`` for the call ids concerned and the rule's own fields.
        remedy: what to do when the trimming causes it.
        recorded_remedy: what to do when the recording has it already.
        source: where the rule is known from.
    """

    id: str
    severity: Severity
    title: str
    text: str
    remedy: str
    recorded_remedy: str
    source: str


@dataclass(frozen=True, eq=False, slots=True)
class Found:
    """Places that break one rule.

    Attributes:
        rule: the rule broken.
        messages, parts: int64[k] each, the places; part -1 is the message as a whole,
            message -1 the whole buffer.
        fields: values for the placeholders of ``Rule.text``.
        anywhere: the same rule broken at another place of the recording counts as recorded
            (rules about "the first message", "the number of …").
    """

    rule: Rule
    messages: Ints
    parts: Ints
    fields: Mapping[str, str] = field(default_factory=dict)
    anywhere: bool = False


def at(rule: Rule, message: int, part: int = -1, *, anywhere: bool = False, **fields: str) -> Found:
    """One place."""
    return Found(rule, np.array([message]), np.array([part]), fields, anywhere)


def at_places(rule: Rule, places: Ints) -> Found:
    """Several places, int64[k, 2]."""
    return Found(rule, places[:, 0], places[:, 1])


def at_messages(rule: Rule, messages: Ints) -> Found:
    """Several whole messages, int64[k]."""
    return Found(rule, messages, np.full(len(messages), -1))
