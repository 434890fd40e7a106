"""What is written: kept messages exactly as read, changed ones as the edit says."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import structs

from stm_inspector.conversation.edit import Edit, Insert
from stm_inspector.conversation.errors import InputError
from stm_inspector.conversation.model import Conversation, Part, PartKind, Role
from stm_inspector.formats import write
from stm_inspector.formats.document import parse
from stm_inspector.formats.rewrite import join, rewrite

from .helpers import lines, reread, spoken

words = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
some_words = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=12)
extras = st.dictionaries(st.sampled_from(["x_one", "x_two"]), st.none() | st.integers() | words)
call_ids = st.sampled_from(["a", "b", ""])


def fixed(kind: str, **members: Any) -> st.SearchStrategy[dict[str, Any]]:
    strategies = {
        k: v if isinstance(v, st.SearchStrategy) else st.just(v) for k, v in members.items()
    }
    return st.fixed_dictionaries({"type": st.just(kind), **strategies})


# --- OpenAI Chat

openai_parts = st.one_of(
    fixed("text", text=words),
    fixed("image_url", image_url=st.fixed_dictionaries({"url": some_words})),
    fixed("never_seen", data=words),
)
openai_content = st.none() | words | st.lists(openai_parts, max_size=3)
openai_calls = st.lists(
    st.fixed_dictionaries(
        {
            "id": call_ids,
            "type": st.just("function"),
            "function": st.fixed_dictionaries({"name": some_words, "arguments": words}),
        }
    ),
    max_size=3,
)
openai_message = st.one_of(
    st.fixed_dictionaries(
        {"role": st.sampled_from(["system", "developer", "user"]), "content": openai_content}
    ),
    st.fixed_dictionaries(
        {"role": st.just("assistant")},
        optional={
            "content": openai_content,
            "tool_calls": openai_calls,
            "reasoning_content": words,
            "refusal": st.none() | words,
        },
    ),
    st.fixed_dictionaries(
        {"role": st.just("tool"), "content": openai_content, "tool_call_id": call_ids}
    ),
)
openai_tools = st.lists(
    fixed("function", function=st.fixed_dictionaries({"name": some_words})), max_size=2
)

# --- Anthropic Messages

result_content = words | st.lists(fixed("text", text=words), max_size=2)
anthropic_block = st.one_of(
    fixed("text", text=words),
    fixed(
        "tool_use", id=call_ids, name=some_words, input=st.dictionaries(words, words, max_size=2)
    ),
    fixed("tool_result", tool_use_id=call_ids, content=result_content),
    fixed("thinking", thinking=words, signature=words),
    fixed("compaction", content=words),
    fixed("never_seen", data=words),
)
anthropic_message = st.fixed_dictionaries(
    {
        "role": st.sampled_from(["user", "assistant", "system"]),
        "content": words | st.lists(anthropic_block, max_size=4),
    }
)
anthropic_tools = st.lists(
    st.fixed_dictionaries({"name": some_words, "input_schema": st.just({})}), max_size=2
)


@st.composite
def files(draw: st.DrawFn, format_id: str) -> str:
    """The text of a body or list, with unknown members, odd white space and number spelling."""
    message = openai_message if format_id == "openai-chat" else anthropic_message
    tools = openai_tools if format_id == "openai-chat" else anthropic_tools
    messages = [
        {**one, **more}
        for one, more in draw(st.lists(st.tuples(message, extras), min_size=1, max_size=6))
    ]
    value: Any = messages
    if draw(st.booleans()):
        value = {"model": "m", "temperature": 1.0, "messages": messages, **draw(extras)}
        if draw(st.booleans()):
            value["tools"] = draw(tools)
        if format_id == "anthropic-messages" and draw(st.booleans()):
            value = {"system": draw(words), **value}
    elif draw(st.booleans()):
        return lines(messages)
    text = json.dumps(value, indent=draw(st.sampled_from([None, 1, 4])))
    return text.replace('"temperature": 1.0', '"temperature": 1.00e0')


@st.composite
def edits(draw: st.DrawFn, conversation: Conversation) -> Edit:
    """Any edit of ``conversation`` that a plan could make."""
    count = len(conversation.messages)
    kept = sorted(draw(st.sets(st.integers(0, count - 1), min_size=1)))
    texts, results, gone = {}, {}, set()
    for index in kept:
        message = conversation.messages[index]
        if message.source_field is None and draw(st.integers(0, 4)) == 0:
            texts[index] = draw(some_words)
            continue
        for part, what in enumerate(message.parts):
            chance = draw(st.integers(0, 5))
            if chance == 0:
                gone.add((index, part))
            elif chance == 1 and what.kind is PartKind.TOOL_RESULT:
                results[index, part] = draw(some_words)
    inserts = [
        Insert(before, draw(st.sampled_from(["user", "assistant"])), draw(some_words))
        for before in sorted(draw(st.lists(st.integers(0, count), max_size=2)))
    ]
    return Edit(kept, texts, results, frozenset(gone), inserts)


Spoken = list[tuple[str, tuple[Part, ...]]]


def outcome(conversation: Conversation, edit: Edit) -> tuple[Spoken, Spoken]:
    """What must be read from the export of ``edit``, worked out on the messages alone.

    First what stands beside the message list, then the list.
    """

    def plain(text: str) -> Part:
        return Part(PartKind.TEXT, text, source_type="text")

    waiting = list(edit.inserts)
    front: Spoken = []
    listed: Spoken = []
    for index in edit.kept:
        while waiting and waiting[0].before <= index:
            listed.append((waiting[0].role, (plain(waiting.pop(0).text),)))
        message = conversation.messages[index]
        parts: list[Part] = []
        for at, part in enumerate(message.parts):
            if (index, at) in edit.dropped_parts:
                continue
            if (index, at) in edit.results:
                part = structs.replace(part, text=edit.results[index, at], parts=())
            parts.append(part)
        if message.parts and not parts:
            continue
        if index in edit.texts:
            parts = [plain(edit.texts[index])]
            if message.role is Role.TOOL:
                parts = [structs.replace(message.parts[0], text=edit.texts[index], parts=())]
        (front if message.source_field else listed).append((message.role.value, tuple(parts)))
    return front, listed + [(rest.role, (plain(rest.text),)) for rest in waiting]


@pytest.mark.parametrize("format_id", ["openai-chat", "anthropic-messages"])
@given(data=st.data())
@settings(max_examples=100, deadline=None)
def test_export_reads_as_the_edit_says(format_id: str, data: st.DataObject) -> None:
    text = data.draw(files(format_id))
    conversation = reread(text, format_id)
    edit = data.draw(edits(conversation))
    front, listed = outcome(conversation, edit)
    if listed:
        again = reread(write(conversation, edit), format_id)
        assert spoken(again.messages) == front + listed
    else:
        with pytest.raises(InputError, match="Nothing is left"):
            write(conversation, edit)


@pytest.mark.parametrize("format_id", ["openai-chat", "anthropic-messages"])
@given(data=st.data())
@settings(max_examples=40, deadline=None)
def test_kept_messages_are_written_exactly_as_read(format_id: str, data: st.DataObject) -> None:
    text = data.draw(files(format_id))
    conversation = reread(text, format_id)
    count = len(conversation.messages)
    assert write(conversation, Edit(kept=range(count))) == text
    kept = sorted(data.draw(st.sets(st.integers(0, count - 1), min_size=1)))
    if all(conversation.messages[index].source_field for index in kept):
        return
    written = write(conversation, Edit(kept=kept))
    at = 0
    for index in kept:
        spot = conversation.source.spots[index]
        node = conversation.source.node(spot)
        piece = text[node.start : node.end]
        if spot.field is None:
            at = written.index(piece, at) + len(piece)
        else:
            assert piece in written


ODD = """{ "model" : "gpt-4o" ,"x": 1.0E+2,
  "messages":[
    {"role":"user","content":"a\\u00e9\\/b","x_unknown":{"b":1,"a":-0.0}},
    {"content":null,"role":"assistant","tool_calls":[{"id":"c1","type":"function",
      "function":{"name":"f","arguments":"{\\"n\\": 1e3}"}}]},
    {"role":"tool","tool_call_id":"c1","content":"long result","x":12345678901234567890.10}
  ], "tools" : [ {"type":"function","function":{"name":"f"}} ], "tool_choice":"auto"}
"""


def test_clearing_a_result_leaves_everything_else_verbatim() -> None:
    conversation = reread(ODD, "openai-chat")
    written = write(conversation, Edit(kept=range(4), results={(3, 0): "[cleared]"}))
    assert written == ODD.rstrip().replace('"long result"', '"[cleared]"')


def test_tools_that_are_not_kept_take_their_choice_with_them() -> None:
    conversation = reread(ODD, "openai-chat")
    body = json.loads(write(conversation, Edit(kept=[1, 2, 3])))
    assert list(body) == ["model", "x", "messages"]


def test_one_tool_of_several_goes() -> None:
    tools = [{"name": name, "input_schema": {}} for name in "abc"]
    text = json.dumps({"tools": tools, "messages": [{"role": "user", "content": "x"}]})
    conversation = reread(text, "anthropic-messages")
    written = write(conversation, Edit(kept=[0, 1], dropped_parts=frozenset({(0, 1)})))
    assert [tool["name"] for tool in json.loads(written)["tools"]] == ["a", "c"]


def test_assistant_whose_calls_all_go_keeps_valid_content() -> None:
    conversation = reread(ODD, "openai-chat")
    both = json.dumps(
        [
            {"role": "user", "content": "x"},
            {
                "role": "assistant",
                "content": None,
                "reasoning_content": "hm",
                "tool_calls": [{"id": "c", "type": "function", "function": {"name": "f"}}],
            },
        ]
    )
    conversation = reread(both, "openai-chat")
    written = json.loads(write(conversation, Edit([0, 1], dropped_parts=frozenset({(1, 1)}))))
    assert written[1] == {"role": "assistant", "content": "", "reasoning_content": "hm"}


def test_a_key_that_stands_twice_is_read_and_written_by_its_last_place() -> None:
    text = (
        '{"messages": [{"role": "user", "content": "old"}], "model": "m", '
        '"messages": [{"role": "user", "content": "no", "content": "new"}, '
        '{"role": "assistant", "content": "b"}]}'
    )
    conversation = reread(text, "openai-chat")
    assert conversation.messages[0].parts[0].text == "new"
    assert "name a key twice" in " ".join(conversation.origin.notes)
    assert write(conversation, Edit(kept=[0])) == (
        '{"model": "m", "messages": [{"role": "user", "content": "no", "content": "new"}]}'
    )
    changed = write(conversation, Edit(kept=[0], texts={0: "short"}))
    assert json.loads(changed)["messages"] == [{"role": "user", "content": "short"}]
    assert "no" not in changed.split("messages")[1]


def test_lone_surrogates_can_be_written() -> None:
    conversation = reread('[{"role": "user", "content": "a \\ud83d b"}]', "openai-chat")
    assert conversation.messages[0].parts[0].text == "a \ud83d b"
    for edit in (Edit([0]), Edit([0], texts={0: "\ud83d"}, inserts=[Insert(1, "user", "\udc00")])):
        write(conversation, edit).encode()


def test_nothing_left_is_refused() -> None:
    conversation = reread('[{"role": "user", "content": "a"}]', "openai-chat")
    with pytest.raises(InputError, match="Nothing is left"):
        write(conversation, Edit(kept=[]))


def test_conversation_made_in_memory_is_refused() -> None:
    with pytest.raises(InputError, match="not read from a file"):
        write(Conversation("openai-chat", "openai-chat", ()), Edit(kept=[]))


def test_body_of_a_log_is_written_without_what_names_a_person() -> None:
    body = {
        "model": "claude-x",
        "metadata": {"user_id": "u-77", "run": "r"},
        "messages": [{"role": "user", "content": "x"}],
    }
    answer = {"type": "message", "content": [{"type": "text", "text": "y"}], "id": "m"}
    headers = {"x-api-key": "sk-secret"}
    log = {"request": {"headers": headers, "body": body}, "response": {"body": answer}}
    conversation = reread(json.dumps(log), "anthropic-messages")
    written = write(conversation, Edit(kept=[0, 1]))
    assert json.loads(written) == {
        "model": "claude-x",
        "metadata": {"run": "r"},
        "messages": [
            {"role": "user", "content": "x"},
            {"role": "assistant", "content": [{"type": "text", "text": "y"}]},
        ],
    }
    assert "sk-secret" not in repr(conversation) + conversation.source.text


def test_rewrite_adds_changes_and_takes_out() -> None:
    text = '{ "a" : 1, "b" : [1,  2, 3], "c": {"d": 1} }'
    node = parse(text).records[0]
    changes = {("b", 1): None, ("c", "d"): "2", ("c", "e"): "3", ("a",): None, ("f",): "4"}
    assert rewrite(text, node, changes) == '{ "b" : [1, 3], "c": {"d": 2, "e": 3}, "f": 4 }'
    listed = node.field("b")
    assert listed is not None
    assert join(text, listed, [(None, "0"), (2, "3")]) == "[0, 3]"
