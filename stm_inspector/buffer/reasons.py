"""Why a message stays or goes, in one sentence."""

from __future__ import annotations

from stm_inspector.buffer.plan import Plan, Verdict
from stm_inspector.conversation.model import Conversation

_NAMED = 4  # partners of a lock group that are named one by one


def reason_of(conversation: Conversation, plan: Plan, index: int) -> str:
    """The reason for the verdict on message ``index``, with its lock partners and their tokens.

    ``conversation`` is the view that the plan covers, ``index`` below its length.
    """
    decision = plan.decision
    reason = decision.reasons[decision.reason_of[index]]
    unused = conversation.messages[index].unused
    return f"{reason}{_lock(conversation, plan, index)}{_note(unused)}."


def _note(unused: str | None) -> str:
    return f"; it counts, but the model does not see it: {unused.rstrip('.')}" if unused else ""


def _lock(conversation: Conversation, plan: Plan, index: int) -> str:
    group = int(conversation.structure.group_of[index])
    if group < 0:
        return ""
    members = conversation.structure.groups[group]
    partners = _numbers([member for member in members if member != index])
    verdicts = [int(plan.decision.verdicts[member]) for member in members]
    gone = [verdict in (Verdict.EVICT, Verdict.SUMMARISE) for verdict in verdicts]
    if any(gone) and not all(gone):
        return f"; it is locked to {partners}, but the group is split here"
    tokens = f"{int(plan.tokens[list(members)].sum()):,} tokens"
    together = f"{_numbers(list(members))} {'go' if all(gone) else 'stay'} together ({tokens})"
    return f"; it is locked to {partners}, so {together}"


def _numbers(indices: list[int]) -> str:
    """Indices as text: "41, 42 and 43", or "41, 42, 43 and 9 more"."""
    if len(indices) == 1:
        return str(indices[0])
    if len(indices) <= _NAMED:
        return f"{', '.join(map(str, indices[:-1]))} and {indices[-1]}"
    shown = indices[: _NAMED - 1]
    return f"{', '.join(map(str, shown))} and {len(indices) - len(shown)} more"
