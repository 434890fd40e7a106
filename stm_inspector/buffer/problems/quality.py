"""Warnings that hold for every API: the request is accepted, and the answer suffers."""

from __future__ import annotations

from collections.abc import Iterator

from stm_inspector.buffer.plan import Severity
from stm_inspector.buffer.problems.facts import USER, role_code
from stm_inspector.buffer.problems.rule import Found, Rule, at
from stm_inspector.buffer.problems.view import View

W1 = Rule(
    "W1",
    Severity.WARNING,
    "the system prompt is still there",
    "The system prompt is gone: the model no longer knows its instructions.",
    "Protect the system zone, or pin the system prompt.",
    "The recording has no system prompt.",
    "open-webui#26710, agent-sdk#3, talon#171",
)
W2 = Rule(
    "W2",
    Severity.WARNING,
    "something a user said is left",
    "No user message is left: the model sees answers, but nothing that was asked.",
    "Protect the current turn, or pin a user message.",
    "Add a user message to the request.",
    "ai-agent-book#198",
)
W3 = Rule(
    "W3",
    Severity.WARNING,
    "the original task is still there",
    "The original task (message {index}) is {gone}.",
    "Protect the anchor, or pin the message.",
    "Put the task back into the request.",
    "the lesson of every sliding window",
)
W5 = Rule(
    "W5",
    Severity.WARNING,
    "the buffer keeps within the budget",
    "The buffer exceeds the budget by {over} tokens.",
    "Raise the budget, unpin or unprotect what holds it, or choose a policy that shortens.",
    "Raise the budget.",
    "litellm's trailing tool messages",
)
_FORGOTTEN = "gone: the model no longer knows what it was asked to do"
_ONLY_TOLD = "left only as far as the summary tells it"
RULES = (W1, W2, W3, W5)


def find(view: View) -> Iterator[Found]:
    """Check what the trimming costs the model."""
    facts = view.facts
    prompt = facts.prompt
    if len(prompt) and prompt[0] < view.length and not view.sent[prompt].any():
        yield at(W1, int(prompt[0]))
    asked = any(role_code(item.role) == USER for item in view.inserted)
    if not asked and not (facts.speaks & view.sent).any():
        yield at(W2, -1, anywhere=True)
    anchor = view.anchor
    if anchor is not None and not view.sent[anchor]:
        summarised = any(anchor in item.stands_for for item in view.inserted)
        gone = _ONLY_TOLD if summarised else _FORGOTTEN
        yield at(W3, anchor, index=f"{anchor}", gone=gone)
    if view.over_budget > 0:
        yield at(W5, -1, over=f"{view.over_budget:,}")
