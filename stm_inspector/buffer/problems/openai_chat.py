"""What the OpenAI Chat Completions API demands of a list of messages."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from stm_inspector.buffer.plan import Severity
from stm_inspector.buffer.problems.facts import TOOL, Bools
from stm_inspector.buffer.problems.rule import Found, Ints, Rule, at, at_places
from stm_inspector.buffer.problems.view import View

OC1 = Rule(
    "OC1",
    Severity.ERROR,
    "a tool message follows the assistant message that calls it",
    "The tool result {ids} has no call right before it (only other results may stand between). "
    "The API answers: \"messages with role 'tool' must be a response to a preceeding message "
    "with 'tool_calls'\".",
    "Keep the call with its result (locks on, or pin one of them), or drop the result too.",
    "Put the result right behind its call, or leave it out of the request.",
    "litellm#4931, autogen#3178, semantic-kernel#12708, langchain#33245",
)
OC2 = Rule(
    "OC2",
    Severity.ERROR,
    "every tool call is answered before the next message of another kind",
    "The tool call {ids} is not answered before the conversation goes on. The API answers: "
    "\"An assistant message with 'tool_calls' must be followed by tool messages responding to "
    "each 'tool_call_id'\".",
    "Keep the result with its call (locks on, or pin one of them), or drop the call too.",
    "Add the missing result right behind the call (the log may have ended before it came), or "
    "leave the call out of the request.",
    "openai-agents-python#1061, openfang#328",
)
NO_MESSAGES = Rule(
    "EMPTY",
    Severity.ERROR,
    "a request has at least one message",
    "Nothing is left to send. The API rejects a request without messages.",
    "Raise the budget, protect a zone, or pin what has to stay.",
    "The recording has no message that could be sent.",
    "the API's reference: messages is a list of at least one",
)
RULES = (OC1, OC2, NO_MESSAGES)


def find(view: View) -> Iterator[Found]:
    """Check the calls and results that are sent.

    A shortened message still carries its calls or its call id: they stand beside its content.
    """
    if not len(view.order):
        yield at(NO_MESSAGES, -1, anywhere=True)
        return
    facts, sent = view.facts, view.sent
    links = facts.links
    adjacent = _adjacent(view, links)
    broken = sent[links[:, 2]] & ~adjacent
    surplus = facts.duplicates
    lost = sent[surplus[:, 2]] & ~_adjacent(view, surplus)
    orphans = facts.orphans
    for rows in (links[broken][:, 2:], surplus[lost][:, 2:], orphans[sent[orphans[:, 0]]]):
        if len(rows):
            yield at_places(OC1, rows)
    unanswered = facts.unanswered
    open_calls = np.concatenate(
        (links[sent[links[:, 0]] & ~adjacent][:, :2], unanswered[sent[unanswered[:, 0]]])
    )
    if len(open_calls):
        yield at_places(OC2, open_calls)


def _adjacent(view: View, links: Ints) -> Bools:
    """Call and result are both sent, with nothing but results between them."""
    sent, facts = view.sent, view.facts
    call, result = links[:, 0], links[:, 2]
    others = np.cumsum(sent & facts.listed & (facts.roles != TOOL))
    between = others[np.maximum(result - 1, call)] - others[call]
    together: Bools = sent[call] & sent[result] & (between == 0)
    if view.inserted:
        before = np.array([item.before for item in view.inserted], dtype=np.int64)
        together &= np.searchsorted(before, call, "right") == np.searchsorted(
            before, result, "right"
        )
    return together
