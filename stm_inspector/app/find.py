"""Searching and filtering a conversation. No Qt here."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from stm_inspector.buffer.plan import Plan, Verdict, Zone
from stm_inspector.conversation.model import Conversation, Message, Part, Role

ROLES = tuple(Role)


@dataclass(frozen=True, slots=True)
class Filter:
    """Which messages the block list shows; None lets everything through."""

    role: Role | None = None
    zone: Zone | None = None
    verdict: Verdict | None = None
    tool: str | None = None

    @property
    def empty(self) -> bool:
        """It lets everything through."""
        return self == Filter()


@dataclass(frozen=True, eq=False, slots=True)
class Index:
    """What a filter needs of every message, as arrays; built once per conversation.

    Attributes:
        roles: uint8[n], places in ``ROLES``.
        tools: tool name -> ascending indices of the messages that call it or hold its result.
    """

    roles: NDArray[np.uint8]
    tools: Mapping[str, NDArray[np.intp]] = field(default_factory=dict)


def build_index(conversation: Conversation) -> Index:
    """Index the roles and tool names of ``conversation``."""
    order = {role: place for place, role in enumerate(ROLES)}
    messages = conversation.messages
    tools: dict[str, set[int]] = {}
    for number, message in enumerate(messages):
        for part in message.parts:
            if part.name and (part.call_id is not None or part.kind.value.startswith("tool_")):
                tools.setdefault(part.name, set()).add(number)
    for link in conversation.structure.links:
        name = messages[link.call[0]].parts[link.call[1]].name
        if name:
            tools.setdefault(name, set()).add(link.result[0])
    return Index(
        np.fromiter((order[message.role] for message in messages), np.uint8, len(messages)),
        {name: np.array(sorted(tools[name]), np.intp) for name in sorted(tools)},
    )


def filtered(index: Index, plan: Plan, wanted: Filter) -> NDArray[np.intp] | None:
    """Ascending indices of the messages that ``wanted`` lets through; None for all of them."""
    if wanted.empty:
        return None
    length = plan.length
    mask = np.ones(length, np.bool_)
    if wanted.role is not None:
        mask &= index.roles[:length] == ROLES.index(wanted.role)
    if wanted.zone is not None:
        mask &= plan.zones == wanted.zone
    if wanted.verdict is not None:
        mask &= plan.decision.verdicts == wanted.verdict
    if wanted.tool is not None:
        with_tool = np.zeros(length, np.bool_)
        places = index.tools.get(wanted.tool, np.empty(0, np.intp))
        with_tool[places[places < length]] = True
        mask &= with_tool
    return np.flatnonzero(mask)


def search(
    conversation: Conversation, query: str, cancelled: Callable[[], bool] = lambda: False
) -> NDArray[np.intp]:
    """Ascending indices of the messages that contain ``query``, upper and lower case alike.

    Looked at: all text, tool names, and the arguments of tool calls.
    """
    needle = query.casefold()
    found: list[int] = []
    if needle:
        for number, message in enumerate(conversation.messages):
            if not number % 256 and cancelled():
                break
            if _holds(message, needle):
                found.append(number)
    return np.array(found, np.intp)


def _holds(message: Message, needle: str) -> bool:
    if message.name and needle in message.name.casefold():
        return True
    return any(_part_holds(part, needle) for part in message.parts)


def _part_holds(part: Part, needle: str) -> bool:
    return (
        needle in part.text.casefold()
        or (part.name is not None and needle in part.name.casefold())
        or any(_part_holds(inner, needle) for inner in part.parts)
    )
