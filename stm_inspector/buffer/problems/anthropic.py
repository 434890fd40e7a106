"""What the Anthropic Messages API demands of a list of messages.

Messages in a row with one role count as one message, except that the results of parallel calls
must share one message of the file.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from stm_inspector.buffer.problems.anthropic_rules import (
    A1,
    A2,
    A3,
    A4,
    A5,
    A6,
    A7,
    A8,
    A9,
    A10,
    A11,
    A12,
    A13,
    A14,
    A15,
    A16,
    NO_MESSAGES,
    RULES,
)
from stm_inspector.buffer.problems.facts import ASSISTANT, USER
from stm_inspector.buffer.problems.rule import Found, at, at_messages, at_places
from stm_inspector.buffer.problems.view import View

__all__ = ["RULES", "find"]

MAX_MARKERS = 4
"""Cache breakpoints in one request (rule A10)."""


def find(view: View) -> Iterator[Found]:
    """Check everything that rules A1 to A16 ask of the buffer that is sent."""
    if not len(view.dialogue[0]):
        yield at(NO_MESSAGES, -1, anywhere=True)
        return
    yield from _pairing(view)
    yield from _server_tools(view)
    yield from _first_message(view)
    yield from _content(view)
    yield from _cache_markers(view)
    yield from _thinking(view)


def _pairing(view: View) -> Iterator[Found]:
    """A1 to A5: the user message right behind a call opens with the results of all its calls."""
    facts, there = view.facts, view.whole
    links = facts.links
    run_of, opened_by = view.runs
    call, result = links[:, 0], links[:, 2]
    called, answered = there[call], there[result]
    follows = called & answered & (run_of[result] == run_of[call] + 1)
    yield at_places(A1, links[called & ~follows][:, :2])
    yield at_places(A2, links[answered & ~follows][:, 2:])
    first = opened_by[run_of[result[follows]]]
    behind = first != result[follows]
    after_results = facts.answers[first[behind]] & (first[behind] >= 0)
    split = links[follows][behind][:, 2:]
    yield at_places(A4, split[after_results])
    yield at_places(A5, split[~after_results])
    late = facts.late_results
    yield at_places(A5, late[there[late[:, 0]]])
    unanswered, orphans, surplus = facts.unanswered, facts.orphans, facts.duplicates
    yield at_places(A1, unanswered[there[unanswered[:, 0]]])
    yield at_places(A2, orphans[there[orphans[:, 0]]])
    again, left = there[surplus[:, 2]], there[surplus[:, 0]]
    yield at_places(A2, surplus[again & ~left][:, 2:])
    yield at_places(A3, surplus[again & left][:, 2:])


def _server_tools(view: View) -> Iterator[Found]:
    """A15: a call without a result is accepted as the provider left it, half a pair is not."""
    links, orphans = view.facts.server_links, view.facts.server_orphans
    call, result = view.whole[links[:, 0]], view.whole[links[:, 2]]
    yield at_places(A15, links[call & ~result][:, :2])
    yield at_places(A15, links[result & ~call][:, 2:])
    yield at_places(A15, orphans[view.whole[orphans[:, 0]]])


def _first_message(view: View) -> Iterator[Found]:
    """A6; a compaction block stands for all that was before it, so it may come first."""
    order, roles = view.dialogue
    first = int(order[0])
    if roles[0] != USER and not (first >= 0 and view.facts.compacts[first]):
        yield at(A6, first, anywhere=True)


def _content(view: View) -> Iterator[Found]:
    """A7 to A9 and A16: nothing empty is sent."""
    facts, there = view.facts, view.whole
    empty = np.flatnonzero(facts.empty & there & facts.listed)
    last = view.order[-1]
    if len(empty) and empty[-1] == last and facts.roles[last] == ASSISTANT:
        empty = empty[:-1]
    yield at_messages(A7, empty)
    for places, rule in (
        (facts.empty_texts, A8),
        (facts.marked_empty_texts, A8),
        (facts.marked_empty_texts, A9),
        (facts.empty_compactions, A16),
    ):
        sent = places[there[places[:, 0]]]
        if len(sent) and view.cleared:
            uncleared = [tuple(place) not in view.cleared for place in sent.tolist()]
            sent = sent[np.array(uncleared, dtype=bool)]
        yield at_places(rule, sent)


def _cache_markers(view: View) -> Iterator[Found]:
    """A10, over system prompt and tool definitions as well."""
    total = int(view.facts.markers[view.whole].sum())
    if total > MAX_MARKERS:
        marked = np.flatnonzero(view.whole & (view.facts.markers > 0))
        yield at(A10, int(marked[-1]), anywhere=True, count=f"{total}")


def _thinking(view: View) -> Iterator[Found]:
    """A11 to A14: what the API ties to the thinking of the model."""
    facts = view.facts
    order, roles = view.dialogue
    last = int(order[-1])
    said = np.flatnonzero(roles == ASSISTANT)
    latest = int(order[said[-1]]) if len(said) else -1
    if facts.conversation.thinking:
        yield from _thinking_in_loop(view)
    if latest >= 0 and facts.thinks[latest] and not view.whole[latest]:
        yield at(A12, latest)
    if facts.conversation.thinking is False and last == latest >= 0 and facts.thinks[last]:
        yield at(A13, last)
    yield from _bound_thinking(view)


def _thinking_in_loop(view: View) -> Iterator[Found]:
    """A11: the answer that a running tool loop belongs to opens with its thinking."""
    facts = view.facts
    order, roles = view.dialogue
    last = int(order[-1])
    if last < 0 or not facts.answers[last]:
        return
    asked = np.flatnonzero((roles == USER) & ((order < 0) | facts.speaks[order]))
    loop = slice(int(asked[-1]) + 1 if len(asked) else 0, None)
    said = order[loop][roles[loop] == ASSISTANT]
    if not len(said):
        return
    first = int(said[0])
    if first < 0 or not (facts.opens_with_thinking[first] and view.whole[first]):
        yield at(A11, first)


def _bound_thinking(view: View) -> Iterator[Found]:
    """A14: thinking that is signed over all that stood before it, behind the first change."""
    changed = int(view.edits[0]) if len(view.edits) else len(view.sent)
    if view.inserted:
        changed = min(changed, view.inserted[0].before)
    bound = changed + np.flatnonzero((view.facts.signed & view.whole)[changed:])
    if len(bound):
        blocks = "block" if len(bound) == 1 else "blocks"
        yield at(
            A14,
            int(bound[0]),
            count=f"{len(bound):,} message{'s' * (len(bound) > 1)}",
            blocks=blocks,
            change=f"{changed}",
        )
