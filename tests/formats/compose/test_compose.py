"""Any conversation becomes a request that the target takes, and comes back whole."""

from __future__ import annotations

import json
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stm_inspector.conversation.edit import Edit, Insert
from stm_inspector.conversation.errors import InputError
from stm_inspector.conversation.model import Conversation, Message, Part, PartKind, Role
from stm_inspector.formats.compose import compose, targets
from stm_inspector.formats.compose.registry import Composed
from tests.formats.helpers import reread
from tests.talk import assistant, call, conversations, result, system, talk, text, tool, user

TARGETS = [target.id for target in targets()]
every_target = pytest.mark.parametrize("target", TARGETS)

_WORDS = st.text(st.characters(exclude_categories=("Cs",)), min_size=1, max_size=30).filter(
    lambda words: bool(words.strip())
)
_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8), lambda inner: st.lists(inner)
)
_ARGUMENTS = st.dictionaries(st.text(max_size=6), _VALUES, max_size=3).map(json.dumps) | st.just(
    '{"city": '
)


@st.composite
def _agents(draw: st.DrawFn) -> Conversation:
    """What a well-behaved agent records: each call answered, each id once."""
    messages = [system(draw(_WORDS)), user(draw(_WORDS))]
    for turn in range(draw(st.integers(0, 4))):
        ids = [f"call_{turn}_{n}" for n in range(draw(st.integers(1, 3)))]
        asked = [Part(PartKind.TOOL_CALL, draw(_ARGUMENTS), name="look", call_id=id) for id in ids]
        words = draw(st.lists(_WORDS, max_size=1))
        messages.append(assistant(*words, *asked))
        messages += [tool(result(id, "look", draw(_WORDS))) for id in draw(st.permutations(ids))]
        messages.append(assistant(draw(_WORDS)))
        messages.append(user(draw(_WORDS)))
    return talk(*messages)


def composed(conversation: Conversation, target: str, **edit: Any) -> Composed:
    kept = edit.pop("kept", range(len(conversation.messages)))
    return compose(conversation, Edit(kept=kept, **edit), target)


def _meaning(arguments: str) -> str:
    """Arguments in one spelling, where they are JSON."""
    try:
        return json.dumps(json.loads(arguments))
    except ValueError:
        return arguments


def _told(conversation: Conversation) -> tuple[list[str], list[tuple[Any, ...]], dict[Any, str]]:
    """Texts in order, calls in order, results by the id of the call."""
    parts = [part for message in conversation.messages for part in message.parts]
    texts = [part.text for part in parts if part.kind is PartKind.TEXT]
    calls = [(p.call_id, p.name, _meaning(p.text)) for p in parts if p.kind is PartKind.TOOL_CALL]
    results = {p.call_id: p.text for p in parts if p.kind is PartKind.TOOL_RESULT}
    return texts, calls, results


@pytest.mark.parametrize("there", TARGETS)
@given(agent=_agents(), back=st.sampled_from(TARGETS))
@settings(max_examples=25, deadline=None)
def test_there_and_back_keeps_texts_calls_results_and_ids(
    there: str, agent: Conversation, back: str
) -> None:
    once = reread(composed(agent, there).text, there)
    again = reread(composed(once, back).text, back)
    home = reread(composed(again, "openai-chat").text, "openai-chat")
    texts, calls, results = _told(agent)
    # LangChain keeps calls that cannot be parsed behind those that can.
    assert _told(home)[::2] == (texts, results)
    assert sorted(_told(home)[1]) == sorted(calls)


@every_target
@given(conversation=conversations)
@settings(max_examples=40, deadline=None)
def test_anything_recorded_becomes_a_valid_request(target: str, conversation: Conversation) -> None:
    try:
        text_of = composed(conversation, target).text
    except InputError:
        return  # Nothing was left of it.
    again = reread(text_of, target)
    structure = again.structure
    if target != "langchain":
        assert not structure.orphans
    assert not structure.duplicates or target == "langchain"
    if target in ("anthropic-messages", "bedrock-converse"):
        assert not structure.reused_ids
    if target in ("anthropic-messages", "bedrock-converse", "gemini"):
        roles = [m.role for m in again.messages if not m.source_field]
        assert all(one is not other for one, other in pairwise(roles))
    _check_answers(again)


def _check_answers(conversation: Conversation) -> None:
    """Between a call and its result stands nobody but the assistant and other results."""
    messages = conversation.messages
    for link in conversation.structure.links:
        between = messages[link.call[0] + 1 : link.result[0]]
        assert all(
            message.role is Role.ASSISTANT or part.kind is PartKind.TOOL_RESULT
            for message in between
            for part in message.parts
        )


@every_target
def test_arguments_stay_as_they_were_spelled(target: str) -> None:
    spelled = '{"size":1.0e5, "b": 12345678901234567890123, "a":"\\u00e9"}'
    asked = Part(PartKind.TOOL_CALL, spelled, name="f", call_id="c1")
    conversation = talk(user("Go"), assistant(asked), tool(result("c1")))
    assert spelled in composed(conversation, target).text.replace('\\"', '"').replace("\\\\", "\\")


@every_target
def test_what_replaces_a_result_is_written_and_its_id_stays(target: str) -> None:
    conversation = talk(user("Go"), assistant(call("c1")), tool(result("c1", words="long " * 99)))
    short = composed(conversation, target, results={(2, 0): "[cleared]"})
    _, calls, results = _told(reread(short.text, target))
    assert (calls[0][0], results) == ("c1", {"c1": "[cleared]"})


@every_target
def test_inserts_stand_where_they_belong(target: str) -> None:
    conversation = talk(user("One"), assistant("Two"), user("Three"))
    made = composed(conversation, target, kept=[2], inserts=[Insert(2, "user", "Summary.")])
    assert _told(reread(made.text, target))[0] == ["Summary.", "Three"]


@every_target
def test_results_of_an_item_log_stand_behind_their_calls(target: str) -> None:
    conversation = talk(
        user("Go"), assistant(call("a")), assistant(call("b")), tool(result("a")), tool(result("b"))
    )
    made = composed(conversation, target)
    assert made.losses == () or all("moved" not in loss for loss in made.losses)
    _check_answers(reread(made.text, target))


def test_server_tools_become_calls_and_results_of_a_client() -> None:
    conversation = talk(
        user("Find it"),
        assistant(
            "I look.", call("s1", server=True), result("s1", words="found", server=True), "Here."
        ),
        api="anthropic-messages",
    )
    body = json.loads(composed(conversation, "openai-chat").text)
    roles = [message["role"] for message in body["messages"]]
    assert roles == ["user", "assistant", "tool", "assistant"]
    losses = composed(conversation, "openai-chat").losses
    assert any("1 call (message 1) of a tool that the provider ran" in loss for loss in losses)


def test_orphan_becomes_text_and_is_told() -> None:
    conversation = talk(user("Go"), tool(result("gone", words="what it said")), user("On"))
    made = composed(conversation, "anthropic-messages")
    assert _told(reread(made.text, "anthropic-messages"))[0] == ["Go", "what it said", "On"]
    assert made.losses[0] == "1 result (message 1) without its call: written as text of the user."


def test_missing_and_reused_ids_are_numbered_alike_every_time() -> None:
    conversation = talk(
        user("Go"),
        assistant(call(None), call("x")),
        tool(result(None, "f"), result("x")),
        assistant(call("x")),
        tool(result("x")),
    )
    one, two = (composed(conversation, "anthropic-messages").text for _ in range(2))
    assert one == two
    ids = [told[0] for told in _told(reread(one, "anthropic-messages"))[1]]
    assert ids == ["call_0", "x", "x_2"]


@every_target
def test_thinking_that_nobody_can_sign_is_told_with_its_place(target: str) -> None:
    thought = Part(PartKind.THINKING, "", hidden="encrypted by the provider", signed=True)
    conversation = talk(user("Go"), assistant(thought, "Done."))
    losses = composed(conversation, target).losses
    assert any(loss.startswith("1 thinking block (message 1) left out") for loss in losses)


@every_target
@pytest.mark.parametrize("spelling", ["data-uri", "anthropic", "gemini", "bedrock"])
def test_picture_arrives_whatever_its_spelling(target: str, spelling: str) -> None:
    data = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJ"
    raw: dict[str, Any] = {
        "data-uri": {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{data}"}},
        "anthropic": {
            "type": "image",
            "source": {"type": "base64", "media_type": "image/png", "data": data},
        },
        "gemini": {"inlineData": {"mimeType": "image/png", "data": data.replace("+", "-")}},
        "bedrock": {"image": {"format": "png", "source": {"bytes": data}}},
    }[spelling]
    picture = Part(PartKind.IMAGE, raw=raw)
    made = composed(talk(user(picture, "What is it?")), target)
    assert data in made.text
    assert made.losses == ()
    found = reread(made.text, target).messages[0].parts[0]
    assert found.kind is PartKind.IMAGE
    assert found.media is not None
    assert (found.media.width, found.media.height) == (1, 1)


def test_tool_definitions_take_the_shape_of_the_target() -> None:
    schema = {"type": "object", "properties": {"city": {"type": "string"}}}
    definition = {"name": "look", "description": "Looks.", "input_schema": schema}
    part = Part(PartKind.TOOL_DEFINITION, json.dumps(definition), name="look")
    defined = Message(Role.SYSTEM, (part,), source_field="tools")
    conversation = talk(defined, user("Go"))
    for target in TARGETS:
        if target == "langchain":
            assert (
                "1 tool definition (message 0) left out" in composed(conversation, target).losses[0]
            )
            continue
        again = reread(composed(conversation, target).text, target)
        (found,) = again.messages[0].parts
        assert (found.kind, found.name) == (PartKind.TOOL_DEFINITION, "look")
        assert json.dumps(schema) in found.text
        assert "Looks." in found.text


def test_unknown_target_is_refused() -> None:
    with pytest.raises(InputError, match="choose one of openai-chat"):
        composed(talk(user(text("Go"))), "telegram")


@every_target
def test_nothing_left_is_refused(target: str) -> None:
    with pytest.raises(InputError, match="Nothing is left to export"):
        composed(talk(user("Go")), target, kept=[])


def test_langchain_reads_its_own() -> None:
    messages = pytest.importorskip("langchain_core.messages")
    conversation = talk(
        system(),
        user("Go"),
        assistant("I look.", call("a"), Part(PartKind.TOOL_CALL, "{", name="f", call_id="b")),
        tool(result("a"), result("b")),
        assistant("Done."),
    )
    made = messages.messages_from_dict(json.loads(composed(conversation, "langchain").text))
    assert [message.type for message in made] == ["system", "human", "ai", "tool", "tool", "ai"]
    assert made[2].invalid_tool_calls[0]["args"] == "{"
