"""The calls of a recording: the points at which the model was, or would be, asked."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from stm_inspector.conversation.model import Conversation, Role


def calls_of(conversation: Conversation) -> NDArray[np.int64]:
    """How many messages existed at each call: int64[calls], ascending.

    There is a call before each recorded response of the model, and one more after the whole
    log: what would be sent next. Assistant messages that follow each other directly with the
    same id or lock key are pieces of one response. An opening greeting answers nothing and is
    no call.
    """
    lengths = []
    messages = conversation.messages
    assistant = Role.ASSISTANT
    for index, message in enumerate(messages):
        if message.role is not assistant or message.injected or index == 0:
            continue
        before = messages[index - 1]
        continues = before.role is assistant and (
            (message.id is not None and message.id == before.id)
            or (message.lock != "" and message.lock == before.lock)
        )
        if not continues:
            lengths.append(index)
    lengths.append(len(messages))
    return np.asarray(lengths, dtype=np.int64)
