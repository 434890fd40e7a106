"""What happened at one call of a replay, in a sentence or two."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from stm_inspector.buffer.replay import Replay

_NAMED = 3  # messages that are named one by one


def what_happened(replay: Replay, tokens: NDArray[np.int64], call: int) -> str:
    """Why the policy acted at ``call`` or did not, what left for the first time, what is missed.

    ``tokens`` are those of each message of the whole log.
    """
    sentences = [replay.why[call]] if replay.fired[call] else [_quiet(replay, call)]
    lost = np.flatnonzero(replay.first_lost == call)
    if len(lost):
        amount = int(tokens[lost].sum())
        left = f"{_messages(lost.tolist())} left ({amount:,} tokens)"
        if replay.newly_summarised[call] and replay.inserted[call]:
            left += f"; a summary of {int(replay.inserted[call]):,} tokens stands for them"
        sentences.append(f"{left}.")
    elif replay.fired[call]:
        sentences.append("No further message left.")
    if replay.over_budget[call]:
        sentences.append(f"The budget is missed by {int(replay.over_budget[call]):,}.")
    return " ".join(sentences)


def _quiet(replay: Replay, call: int) -> str:
    changed = replay.messages[call] != replay.lengths[call] or replay.cleared[call]
    after, budget = int(replay.after[call]), replay.budget
    if replay.over_budget[call] or changed:
        return f"{after:,} of {budget:,} tokens are sent."
    return f"Everything is sent: {after:,} of {budget:,} tokens."


def _messages(indices: list[int]) -> str:
    """ "Message 4", "Messages 4, 5 and 6", "37 messages, 4 to 51,"."""
    if len(indices) == 1:
        return f"Message {indices[0]}"
    if len(indices) <= _NAMED:
        return f"Messages {', '.join(map(str, indices[:-1]))} and {indices[-1]}"
    return f"{len(indices):,} messages, {indices[0]} to {indices[-1]},"
