"""How much each message matters: as the user says, else the file, else a rule."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from enum import StrEnum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stm_inspector.conversation.model import Conversation, Message, Part, PartKind, Role

SHORT = 20
"""A message of fewer characters says little."""

_ERROR = re.compile(r"error|exception|traceback|\bfail(?:s|ed|ure|ures)?\b", re.IGNORECASE)
_INSIGHT = re.compile(
    r"\b(?:results?|insights?|findings?|conclusions?|conclude|trends?|correlat\w*|average|"
    r"median|outliers?|significant\w*)\b",
    re.IGNORECASE,
)
_MARKS = ("importance", "salience", "priority")


class Scoring(StrEnum):
    """The rule for messages of which neither the user nor the file says anything."""

    CONTENT = "content"
    ERRORS_AND_CODE = "errors-and-code"
    RESULTS_AND_INSIGHTS = "results-and-insights"
    ROLE = "role"


def scores_of(
    conversation: Conversation, scoring: Scoring, own: Mapping[int, float]
) -> NDArray[np.float64]:
    """Score of each message, 0 to 1: float64[n]. ``own`` are the user's."""
    scores = np.fromiter(
        (score_of(message, scoring) for message in conversation.messages),
        dtype=np.float64,
        count=len(conversation.messages),
    )
    for index, score in own.items():
        scores[index] = score
    return scores


def score_of(message: Message, scoring: Scoring) -> float:
    """What the file says of a message, else the rule."""
    marked = marked_score(message)
    return _RULES[scoring](message) if marked is None else marked


def marked_score(message: Message) -> float | None:
    """The number that the file carries, or None.

    Importance, salience or priority, the first of them that there is; beside the message or in
    its metadata. Above 1 they are read as 1 to 10, and a whole priority always is.
    """
    for tags in _tags(message):
        for mark in _MARKS:
            value = tags.get(mark)
            if isinstance(value, int | float) and not isinstance(value, bool) and value == value:
                tenths = value > 1 or (mark == "priority" and isinstance(value, int))
                return min(1.0, max(0.0, value / 10 if tenths else float(value)))
    return None


def is_sticky(message: Message) -> bool:
    """The file marks it as one that survives: ``sticky`` or ``pinned``, or a tag of that name."""
    for tags in _tags(message):
        if tags.get("sticky") is True or tags.get("pinned") is True:
            return True
        names = tags.get("tags")
        if isinstance(names, list | tuple) and ("sticky" in names or "pinned" in names):
            return True
    return False


def _tags(message: Message) -> Iterator[Mapping[str, Any]]:
    if message.tags:
        yield message.tags
        metadata = message.tags.get("metadata")
        if isinstance(metadata, Mapping):
            yield metadata


def _texts(parts: tuple[Part, ...]) -> Iterator[str]:
    for part in parts:
        yield part.text
        yield from _texts(part.parts)


def _is_system(message: Message) -> bool:
    return message.role in (Role.SYSTEM, Role.DEVELOPER) or message.source_field is not None


def _fails(message: Message) -> bool:
    errors = (part.is_error for part in message.parts)
    return any(errors) or any(_ERROR.search(text) for text in _texts(message.parts))


def _has_code(message: Message) -> bool:
    return any("```" in text for text in _texts(message.parts))


def _has_results(message: Message) -> bool:
    return message.role is Role.TOOL or any(
        part.kind is PartKind.TOOL_RESULT for part in message.parts
    )


def _by_content(message: Message) -> float:
    texts = list(_texts(message.parts))
    score = 0.9 if _is_system(message) else 0.5
    score += 0.1 * any("?" in text for text in texts)
    score += 0.2 * any("```" in text for text in texts)
    score += 0.15 * _fails(message)
    score -= 0.1 * (sum(len(text) for text in texts) < SHORT)
    # Rounded, or sums that are the same on paper would not be ties.
    return round(min(1.0, max(0.0, score)), 6)


def _by_role(message: Message) -> float:
    if _is_system(message):
        return 1.0
    return 0.3 if _has_results(message) else 0.5


_RULES = {
    Scoring.CONTENT: _by_content,
    Scoring.ERRORS_AND_CODE: lambda message: 0.9 if _fails(message) or _has_code(message) else 0.5,
    Scoring.RESULTS_AND_INSIGHTS: lambda message: (
        0.8
        if _has_results(message) or any(_INSIGHT.search(text) for text in _texts(message.parts))
        else 0.5
    ),
    Scoring.ROLE: _by_role,
}
