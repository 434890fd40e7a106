"""From a plan to what a format writes."""

from __future__ import annotations

import numpy as np

from stm_inspector.buffer.plan import Plan, Verdict
from stm_inspector.conversation.edit import Edit, Insert
from stm_inspector.conversation.model import Conversation


def edit_of(conversation: Conversation, plan: Plan) -> Edit:
    """What ``plan`` does to ``conversation``: what came after the plan's call is not kept.

    Raises:
        ValueError: the plan is of a longer conversation.
    """
    if plan.length > len(conversation.messages):
        raise ValueError("the plan is of another conversation")
    decision = plan.decision
    gone = (decision.verdicts == Verdict.EVICT) | (decision.verdicts == Verdict.SUMMARISE)
    return Edit(
        kept=np.flatnonzero(~gone).tolist(),
        texts={index: change.text for index, change in decision.truncated.items()},
        results={place: change.text for place, change in decision.cleared.items()},
        inserts=[Insert(item.before, item.role, item.text) for item in decision.inserted],
    )
