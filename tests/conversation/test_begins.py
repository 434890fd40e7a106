"""The structure of a shorter log, cut out of the whole one, is the one derived from it."""

from __future__ import annotations

import dataclasses

import numpy as np
from hypothesis import given

from stm_inspector.conversation.model import Conversation
from stm_inspector.conversation.structure import Structure, derive
from tests.talk import assistant, call, conversations, result, talk, tool, user


def plain(structure: Structure) -> dict[str, object]:
    fields = {item.name: getattr(structure, item.name) for item in dataclasses.fields(structure)}
    fields["bonds"] = sorted(map(tuple, structure.bonds.T.tolist()))
    return {
        name: value.tolist() if isinstance(value, np.ndarray) else value
        for name, value in fields.items()
    }


@given(conversations)
def test_every_beginning_has_the_structure_of_a_log_that_ends_there(
    conversation: Conversation,
) -> None:
    for length in range(len(conversation.messages) + 1):
        begun = conversation.first(length)
        alone = derive(conversation.messages[:length])
        assert begun.messages == conversation.messages[:length]
        assert plain(begun.structure) == plain(alone)
        oldest, newest = conversation.structure.begins.ends(length)
        ends = [(i, i) for i in range(length)]
        for group in alone.groups:
            for member in group:
                ends[member] = (group[0], group[-1])
        assert list(zip(oldest.tolist(), newest.tolist(), strict=True)) == ends


def test_two_calls_that_one_message_answers_are_no_group_before_it() -> None:
    log = talk(
        user("go"),
        assistant(call("a")),
        assistant(call("b")),
        user(result("a"), result("b")),
        assistant("done"),
    )
    assert log.structure.groups == ((1, 2, 3),)
    assert log.first(3).structure.groups == ()
    assert log.first(3).structure.unanswered == ((1, 0), (2, 0))
    assert log.structure.begins.ends(3)[1].tolist() == [0, 1, 2]
    assert log.structure.begins.crossing.tolist() == [0, 0, 1, 1, 0, 0]


def test_a_beginning_of_a_beginning_is_one_of_the_whole() -> None:
    log = talk(user("go"), assistant(call("a")), tool(result("a")), assistant("done"))
    assert log.first(3).first(2).structure.unanswered == ((1, 0),)
    assert log.first(4) is log
