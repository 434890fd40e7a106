"""Zones, protection, and how retrieved context is recognised."""

from __future__ import annotations

import pytest
from msgspec import structs

from stm_inspector.buffer.plan import Plan, Zone
from stm_inspector.buffer.planner import Planner
from stm_inspector.buffer.retrieved import is_retrieval_tool, recognise
from stm_inspector.buffer.settings import Settings
from stm_inspector.conversation.model import Conversation, Message, Part, PartKind, Role
from tests.talk import assistant, call, counted, result, system, talk, text, tool, user


def plan_of(conversation: Conversation, **settings: object) -> Plan:
    return Planner(conversation, counted(conversation)).plan(Settings(**settings))  # type: ignore[arg-type]


def shown(conversation: Conversation, **settings: object) -> str:
    """One letter a message: System, Anchor, Retrieved, Middle, Tail, Current."""
    return "".join(Zone(zone).name[0] for zone in plan_of(conversation, **settings).zones)


TALK = talk(
    system(),
    user("task"),
    assistant("1"),
    user("two"),
    assistant("2"),
    user("three"),
    assistant("3"),
    user("four"),
    assistant("4"),
)


def test_every_message_has_a_zone() -> None:
    assert shown(TALK, tail_turns=1) == "SAMMMTTCC"
    assert shown(TALK, tail_turns=2) == "SAMTTTTCC"
    assert shown(TALK, tail_turns=0) == "SAMMMMMCC"
    assert shown(TALK, tail_turns=99) == "SATTTTTCC"


def test_developer_messages_and_fields_beside_the_list_are_system_wherever_they_stand() -> None:
    late = Message(Role.DEVELOPER, (text("Use British spelling."),))
    tools = Message(Role.SYSTEM, (), source_field="tools")
    assert shown(talk(tools, user("a"), assistant("b"), user("c"), late)) == "SATCS"


def test_the_task_is_the_first_message_of_a_person() -> None:
    hook = Message(Role.USER, (text("<hook/>"),), injected=True)
    assert shown(talk(hook, user("task"), assistant("x"), user("y"))) == "MATC"


def test_where_nobody_wrote_the_task_is_the_first_message_in_a_users_place() -> None:
    summary = Message(Role.USER, (text("This session continues."),), injected=True)
    conversation = talk(system(), summary, assistant(call("1")), user(result("1")), assistant("a"))
    assert shown(conversation) == "SAMMC"


def test_a_task_marked_as_retrieved_passes_the_office_on() -> None:
    assert shown(TALK, tail_turns=1, marks={1: True}) == "SRMAMTTCC"


def test_where_nobody_opened_a_turn_the_newest_message_is_current() -> None:
    assert shown(talk(system(), assistant("a"), assistant("b"), system())) == "SMCS"
    assert shown(talk(system())) == "S"
    assert shown(talk()) == ""


def test_where_nobody_opened_a_turn_the_newest_notification_does() -> None:
    injected = [structs.replace(user(words), injected=True) for words in ("summary", "news")]
    conversation = talk(
        injected[0], assistant("1"), assistant("2"), injected[1], assistant("3"), assistant("4")
    )
    assert shown(conversation) == "AMMCCC"


def test_a_single_turn_is_task_and_current_in_one() -> None:
    conversation = talk(user("task"), assistant("a"), assistant("b"))
    assert shown(conversation) == "ACC"
    assert plan_of(conversation, options={"protect": "current"}).protected.all()


@pytest.mark.parametrize(
    ("zone", "held"),
    [
        ("system", [0]),
        ("anchor", [1]),
        ("retrieved", [3]),
        ("middle", [2, 4]),
        ("tail", [5, 6]),
        ("current", [7, 8]),
        ("", []),
    ],
)
def test_protecting_a_zone_protects_its_members(zone: str, held: list[int]) -> None:
    plan = plan_of(TALK, tail_turns=1, options={"protect": zone}, marks={3: True})
    assert plan.protected.nonzero()[0].tolist() == held


def test_a_protected_member_protects_its_lock_group_unless_locks_are_off() -> None:
    conversation = talk(user("a"), assistant(call("1")), user("b", result("1")))
    assert plan_of(conversation, options={"protect": "current"}).protected.tolist() == [
        False,
        True,
        True,
    ]
    naive = plan_of(conversation, options={"protect": "current", "locks": False})
    assert naive.protected.tolist() == [False, False, True]


def is_retrieved(*messages: Message) -> bool:
    """Whether the last of the messages is."""
    return bool(recognise(talk(*messages))[-1])


@pytest.mark.parametrize(
    "message",
    [
        user(Part(PartKind.DOCUMENT, "…", name="limits.md"), "What is the limit?"),
        user(Part(PartKind.OPAQUE, source_type="search_result")),
        tool(Part(PartKind.TOOL_RESULT, parts=(Part(PartKind.DOCUMENT),))),
        assistant(Part(PartKind.TOOL_RESULT, server=True, source_type="web_search_tool_result")),
        user("<context>\nThe limit is 5.\n</context>\nWhat is it?"),
        user('\n<document index="1">'),
        user("<retrieved_context>"),
        Message(Role.SYSTEM, (text("<memories> likes tea"),)),
        tool(result("1", "web_search")),
        tool(result("1", "retriever")),
        structs.replace(user("…"), name="rag_context"),
        structs.replace(user("…"), tags={"retrieval": "kb/limits.md"}),
    ],
)
def test_conventional_marks_are_recognised(message: Message) -> None:
    assert is_retrieved(message)


@pytest.mark.parametrize(
    "message",
    [
        user("What is <context> for?"),
        user("<contextual>"),
        assistant("<documents> is a tag."),
        tool(result("1", "read_file")),
        tool(result(None, None)),
        structs.replace(user("…"), name="researcher"),
        structs.replace(user("…"), tags={"retrieval": False, "priority": 3}),
        user(),
    ],
)
def test_other_messages_are_not(message: Message) -> None:
    assert not is_retrieved(message)


def test_a_result_takes_the_tool_from_its_call() -> None:
    assert is_retrieved(assistant(call("1", "search_docs")), tool(result("1")))
    assert not is_retrieved(assistant(call("1", "run_tests")), tool(result("1")))
    assert not recognise(talk(assistant(call("1", "search_docs")), tool(result("1"))))[0]


@pytest.mark.parametrize(
    "name",
    [
        *("web_search", "WebSearch", "mcp__kb__searchDocs", "file_search", "retrieve"),
        *("retrieval-qa", "knowledge_base", "vector_store_query", "recall", "lookup_docs"),
        *("tavily.search", "WebFetch"),
    ],
)
def test_retrieval_tools_by_name(name: str) -> None:
    assert is_retrieval_tool(name)


@pytest.mark.parametrize(
    "name",
    [
        *("grep", "Glob", "search_files", "search_code", "codebase_search", "tool_search", "Read"),
        *("search_and_replace", "research", "storage", "", None),
    ],
)
def test_tools_of_the_workspace_are_not_retrieval(name: str | None) -> None:
    assert not is_retrieval_tool(name)


def test_the_users_mark_overrides_the_rules() -> None:
    found = tool(result("1", "web_search"))
    conversation = talk(user("a"), assistant(call("1", "web_search")), found, user("b"))
    assert shown(conversation) == "ATRC"
    assert shown(conversation, marks={2: False}) == "ATTC"
    assert shown(conversation, marks={2: False, 1: True}) == "ARTC"
