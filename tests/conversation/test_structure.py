"""Turns, call/result links and lock groups, by example and against a slow reference."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from hypothesis import given

from stm_inspector.conversation.model import Conversation, Message, Part, PartKind, Role
from stm_inspector.conversation.structure import Place, derive
from tests.talk import assistant, call, conversations, result, system, text, tool, user


def links(*messages: Message) -> list[tuple[Place, Place]]:
    return [(link.call, link.result) for link in derive(messages).links]


def test_parallel_calls_make_one_group_wherever_the_results_stand() -> None:
    structure = derive(
        [
            user("go"),
            assistant(call("1"), call("2")),
            tool(result("2")),
            user("wait"),
            tool(result("1")),
            assistant("done"),
        ]
    )
    assert structure.groups == ((1, 2, 4),)
    assert structure.group_of.tolist() == [-1, 0, 0, -1, 0, -1]
    assert [(link.call, link.result) for link in structure.links] == [
        ((1, 1), (2, 0)),
        ((1, 0), (4, 0)),
    ]


def test_a_reused_id_answers_the_nearest_call_before_it() -> None:
    log = [assistant(call("x")), tool(result("x")), assistant(call("x")), tool(result("x"))]
    structure = derive(log)
    assert structure.groups == ((0, 1), (2, 3))
    assert structure.reused_ids == ("x",)


def test_a_reused_id_leaves_the_interrupted_call_unanswered() -> None:
    structure = derive([assistant(call("x")), user("no"), assistant(call("x")), tool(result("x"))])
    assert structure.unanswered == ((0, 0),)
    assert structure.groups == ((2, 3),)


def test_one_id_on_two_parallel_calls_is_answered_in_order() -> None:
    assert links(assistant(call("x"), call("x")), tool(result("x")), tool(result("x"))) == [
        ((0, 0), (1, 0)),
        ((0, 1), (2, 0)),
    ]


def test_empty_and_missing_ids_are_matched_by_name() -> None:
    for nothing in (None, ""):
        log = (
            assistant(call(nothing, "read"), call(nothing, "list")),
            tool(result(nothing, "list")),
            tool(result(nothing, "read")),
        )
        assert links(*log) == [((0, 1), (1, 0)), ((0, 0), (2, 0))]
        assert derive(log).orphans == ()


def test_without_id_and_name_the_order_decides() -> None:
    log = (assistant(call("", "a"), call("", "b")), tool(result("")), tool(result("")))
    assert links(*log) == [((0, 0), (1, 0)), ((0, 1), (2, 0))]


def test_a_result_without_id_does_not_answer_a_call_interrupted_long_ago() -> None:
    log = (assistant(call(None)), user("stop"), assistant(call(None)), tool(result(None)))
    assert links(*log) == [((2, 0), (3, 0))]
    assert derive(log).unanswered == ((0, 0),)


def test_a_name_that_no_open_call_has_is_an_orphan() -> None:
    structure = derive([assistant(call(None, "read")), tool(result(None, "write"))])
    assert structure.orphans == ((1, 0),)
    assert structure.unanswered == ((0, 0),)


def test_an_unknown_id_answers_a_call_without_one_but_never_another_id() -> None:
    assert links(assistant(call(None, "f")), tool(result("q", "f"))) == [((0, 0), (1, 0))]
    assert derive([assistant(call("a", "f")), tool(result("q", "f"))]).orphans == ((1, 0),)


def test_a_result_before_its_call_is_an_orphan() -> None:
    structure = derive([tool(result("x")), assistant(call("x"))])
    assert structure.orphans == ((0, 0),)
    assert structure.unanswered == ((1, 0),)
    assert structure.groups == ()


def test_a_second_result_is_a_duplicate_and_goes_with_its_call() -> None:
    structure = derive([assistant(call("x")), tool(result("x")), user("hm"), tool(result("x"))])
    assert structure.duplicates == ((3, 0),)
    assert structure.orphans == ()
    assert structure.groups == ((0, 1, 3),)


def test_a_server_tool_stands_in_one_message_and_may_go_unanswered() -> None:
    structure = derive(
        [
            assistant(call("s", server=True), result("s", server=True), "found"),
            assistant(call("t", server=True)),
        ]
    )
    assert [(link.call, link.result) for link in structure.links] == [((0, 0), (0, 1))]
    assert structure.unanswered == ()
    assert structure.groups == ()


def test_a_client_result_without_id_does_not_answer_a_server_call() -> None:
    log = (assistant(call(None), call(None, server=True)), tool(result(None)))
    assert links(*log) == [((0, 0), (1, 0))]


def test_a_lock_key_joins_messages_and_their_groups() -> None:
    thought = Message(Role.ASSISTANT, (Part(PartKind.THINKING, "hm"),), lock="r1")
    acts = Message(Role.ASSISTANT, (call("1"),), lock="r1")
    assert derive([user("go"), thought, acts, tool(result("1"))]).groups == ((1, 2, 3),)


def test_two_calls_answered_in_one_message_are_one_group() -> None:
    log = [assistant(call("1")), assistant(call("2")), user(result("1"), result("2"))]
    assert derive(log).groups == ((0, 1, 2),)


def test_turns_open_where_a_person_writes() -> None:
    reminder = Message(Role.USER, (text("<reminder/>"),), injected=True)
    structure = derive(
        [system(), user("one"), assistant(call("1")), user(result("1")), reminder, user("two")]
    )
    assert structure.turns.tolist() == [-1, 0, 0, 0, 0, 1]
    assert structure.turn_starts.tolist() == [1, 5]


def test_nothing_has_no_structure() -> None:
    structure = derive([])
    assert structure.turns.tolist() == []
    assert structure.groups == ()


@dataclass
class Waiting:
    place: Place
    part: Part
    run: int
    answered: bool = False


def slow_pairs(conversation: Conversation) -> dict[str, list[object]]:
    """The pairing rule, read aloud: every result looks at every call before it."""
    calls: list[Waiting] = []
    found: dict[str, list[object]] = {"links": [], "orphans": [], "duplicates": []}
    run = 0
    for index, message in enumerate(conversation.messages):
        run += message.by_person
        for number, part in enumerate(message.parts):
            if part.kind is PartKind.TOOL_CALL:
                calls.append(Waiting((index, number), part, run))
            elif part.kind is PartKind.TOOL_RESULT:
                run += 1
                slow_answer(calls, (index, number), part, found)
    found["unanswered"] = [c.place for c in calls if not c.answered and not c.part.server]
    return found


def slow_answer(
    calls: Sequence[Waiting], place: Place, part: Part, found: dict[str, list[object]]
) -> None:
    same = [c for c in calls if part.call_id and c.part.call_id == part.call_id]
    waiting = [c for c in same if not c.answered]
    if same and not waiting:
        found["duplicates"].append(place)
        return
    if waiting:
        nearest = max(c.place[0] for c in waiting)
        chosen = next(c for c in waiting if c.place[0] == nearest)
    else:
        fits = [
            c
            for c in calls
            if not c.answered
            and c.part.server == part.server
            and not (part.call_id and c.part.call_id)
            and part.name in (None, c.part.name)
        ]
        if not fits:
            found["orphans"].append(place)
            return
        newest = max(c.run for c in fits)
        chosen = next(c for c in fits if c.run == newest)
    chosen.answered = True
    found["links"].append((chosen.place, place))


@given(conversations)
def test_pairs_agree_with_the_slow_reference(conversation: Conversation) -> None:
    structure = conversation.structure
    slow = slow_pairs(conversation)
    assert [(link.call, link.result) for link in structure.links] == slow["links"]
    assert list(structure.orphans) == slow["orphans"]
    assert list(structure.duplicates) == slow["duplicates"]
    assert list(structure.unanswered) == slow["unanswered"]


@given(conversations)
def test_groups_are_the_connected_messages(conversation: Conversation) -> None:
    structure = conversation.structure
    together = {index: {index} for index in range(len(conversation.messages))}
    bonds = [(link.call[0], link.result[0]) for link in structure.links]
    ids = {part.call_id for message in conversation.messages for part in message.parts}
    for place in structure.duplicates:
        part = conversation.messages[place[0]].parts[place[1]]
        assert part.call_id in ids
        earlier = [
            index
            for index, message in enumerate(conversation.messages)
            for number, other in enumerate(message.parts)
            if other.kind is PartKind.TOOL_CALL
            and other.call_id == part.call_id
            and (index, number) < place
        ]
        bonds.append((earlier[-1], place[0]))
    keys: dict[str, int] = {}
    for index, message in enumerate(conversation.messages):
        if message.lock:
            bonds.append((keys.setdefault(message.lock, index), index))
    for one, other in bonds:
        joined = together[one] | together[other]
        for member in joined:
            together[member] = joined
    groups = {tuple(sorted(group)) for group in together.values() if len(group) > 1}
    assert structure.groups == tuple(sorted(groups))
    for number, members in enumerate(structure.groups):
        assert set(structure.group_of[list(members)].tolist()) == {number}
    alone = [index for index, group in together.items() if len(group) == 1]
    assert all(structure.group_of[index] == -1 for index in alone)


@given(conversations)
def test_the_links_of_a_beginning_are_the_links_within_it(conversation: Conversation) -> None:
    whole = conversation.structure.links
    for length in range(len(conversation.messages)):
        part = derive(conversation.messages[:length])
        assert part.links == tuple(link for link in whole if link.result[0] < length)
