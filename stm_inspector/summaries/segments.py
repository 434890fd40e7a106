"""Topic changes by lexical cohesion.

After M. A. Hearst, "TextTiling: Segmenting Text into Multi-paragraph Subtopic Passages",
Computational Linguistics 23(1), 1997: compare the words before and after each gap, and take the
gaps whose similarity lies deep between two peaks for topic changes. Other than there, a gap is
where a turn begins, peaks are searched within a few turns, and the depth that counts is fixed:
so what is found once stays found as the talk goes on.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from functools import reduce
from math import sqrt
from operator import add

from stm_inspector.conversation.model import Conversation, Message, PartKind

BLOCK = 2
"""Turns on either side of a gap whose words are compared."""

REACH = 3
"""Turns on either side within which a peak is searched."""

_LOOK_AT = 4_000  # characters of a part
_WORD = re.compile(r"[^\W\d_]{3,}")
_STOP = frozenset(
    re.findall(
        r"\w+",
        """the and for that this with you are was were have has had not but can could would should
        will from they them their there here what when where which who how why all any some one
        our your its his her she him out about into over then than just now also been being does
        did please let make get use need want like more very yes okay""",
    )
)


def words_of(messages: Sequence[Message]) -> Counter[str]:
    """How often each word that says something occurs; of results and calls nothing counts."""
    counts: Counter[str] = Counter()
    for message in messages:
        for part in message.parts:
            if part.kind is PartKind.TEXT:
                words = _WORD.findall(part.text[:_LOOK_AT].lower())
                counts.update(word for word in words if word not in _STOP)
    return counts


def cohesion(before: Counter[str], after: Counter[str]) -> float:
    """Cosine of two word counts, 0 to 1; 1 where either is empty: nothing speaks for a change."""
    if not before or not after:
        return 1.0
    dot = sum(count * after[word] for word, count in before.items())
    squares = sum(n * n for n in before.values()) * sum(n * n for n in after.values())
    return dot / sqrt(squares)


def topic_changes(conversation: Conversation, depth: float) -> tuple[tuple[int, int], ...]:
    """(first message of the new topic, messages after which that is known), ascending.

    ``depth`` is how far the similarity at a gap lies below the peaks on its two sides, taken
    together: 0 to 2; the deepest gap within reach counts. A change is known when the turns that
    it was judged by are complete.
    """
    messages = conversation.messages
    starts = conversation.structure.turn_starts.tolist()
    stops = [*starts, len(messages)][1:]
    turns = [words_of(messages[a:b]) for a, b in zip(starts, stops, strict=True)]
    gaps = range(1, len(turns))
    similar = [
        cohesion(_sum(turns[max(0, gap - BLOCK) : gap]), _sum(turns[gap : gap + BLOCK]))
        for gap in gaps
    ]
    depths = [
        max(similar[max(0, at - REACH) : at + 1])
        + max(similar[at : at + REACH + 1])
        - 2 * similar[at]
        for at in range(len(similar))
    ]
    changes = []
    for at, gap in enumerate(gaps):
        last = gap + BLOCK + REACH
        around = depths[max(0, at - REACH) : at + REACH + 1]
        # The depth of a neighbour hangs on turns that are further away.
        if last + REACH <= len(turns) and depths[at] >= depth and depths[at] == max(around):
            changes.append((starts[gap], stops[last + REACH - 1]))
    return tuple(changes)


def _sum(turns: Sequence[Counter[str]]) -> Counter[str]:
    return reduce(add, turns, Counter())
