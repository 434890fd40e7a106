"""What a message costs, and how exact that is."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from token_cases import chat, said, text

from stm_inspector.conversation.model import (
    Conversation,
    Media,
    Message,
    Part,
    PartKind,
    Role,
)
from stm_inspector.tokens.cache import Cache
from stm_inspector.tokens.counters import CounterError, counter_ids, make_counter, resolve_auto
from stm_inspector.tokens.counting import count, quick
from stm_inspector.tokens.counts import UNKNOWN, Exactness, TokenCounts
from stm_inspector.tokens.encodings import encoding

# OpenAI cookbook, "How to count tokens with tiktoken", section 6: usage.prompt_tokens of the API
# for these messages is 129 with gpt-4-0613 and gpt-3.5-turbo, 124 with gpt-4o and gpt-4o-mini.
COOKBOOK = chat(
    said(
        "You are a helpful, pattern-following assistant that translates corporate jargon into "
        "plain English.",
        role=Role.SYSTEM,
    ),
    said("New synergies will help drive top-line growth.", role=Role.SYSTEM, name="example_user"),
    said(
        "Things working well together will increase revenue.",
        role=Role.SYSTEM,
        name="example_assistant",
    ),
    said(
        "Let's circle back when we have more bandwidth to touch base on opportunities for "
        "increased leverage.",
        role=Role.SYSTEM,
        name="example_user",
    ),
    said(
        "Let's talk later when we're less busy about how to do better.",
        role=Role.SYSTEM,
        name="example_assistant",
    ),
    said("This late pivot means we don't have time to boil the ocean for the client deliverable."),
)

# The same notebook, section 7: 105 with gpt-4, 101 with gpt-4o.
WEATHER = {
    "type": "function",
    "function": {
        "name": "get_current_weather",
        "description": "Get the current weather in a given location",
        "parameters": {
            "type": "object",
            "properties": {
                "location": {
                    "type": "string",
                    "description": "The city and state, e.g. San Francisco, CA",
                },
                "unit": {
                    "type": "string",
                    "description": "The unit of temperature to return",
                    "enum": ["celsius", "fahrenheit"],
                },
            },
            "required": ["location"],
        },
    },
}


def total(counts: TokenCounts) -> int:
    return int(counts.messages.sum()) + counts.overhead


@pytest.mark.parametrize(
    ("counter", "tokens"), [("tiktoken:cl100k_base", 129), ("tiktoken:o200k_base", 124)]
)
def test_messages_of_text_cost_what_the_api_reported(
    cache: Cache, counter: str, tokens: int
) -> None:
    counts = count(COOKBOOK, counter, cache=cache)
    assert total(counts) == tokens
    assert counts.worst is Exactness.EXACT


@pytest.mark.parametrize(("model", "tokens"), [("gpt-4", 105), ("gpt-4o", 101)])
def test_tool_definitions_cost_what_the_api_reported(cache: Cache, model: str, tokens: int) -> None:
    tools = Message(
        Role.SYSTEM,
        (Part(PartKind.TOOL_DEFINITION, json.dumps(WEATHER), "get_current_weather"),),
        source_field="tools",
    )
    conversation = chat(
        tools,
        said(
            "You are a helpful assistant that can answer to questions about the weather.",
            role=Role.SYSTEM,
        ),
        said("What's the weather like in San Francisco?"),
        model=model,
    )
    counts = count(conversation, cache=cache)
    assert total(counts) == tokens
    assert [Exactness(value) for value in counts.exactness] == [
        Exactness.ESTIMATE,
        Exactness.EXACT,
        Exactness.EXACT,
    ]


def test_special_tokens_in_a_text_are_text(cache: Cache) -> None:
    plain = count(chat(said("<|endoftext|><|im_start|>")), cache=cache)
    assert plain.parts[0] == len(
        encoding("o200k_base").encode_ordinary("<|endoftext|><|im_start|>")
    )
    assert plain.parts[0] > 2


def test_base64_inside_a_text_counts_as_text(cache: Cache) -> None:
    base64 = "data:image/png;base64," + "iVBORw0KGgoAAAANSUhEUgAAAAE" * 400
    counts = count(chat(said(base64)), cache=cache)
    assert counts.parts[0] == len(encoding("o200k_base").encode_ordinary(base64))


@pytest.mark.parametrize(
    ("api", "model", "counter", "means", "exactness"),
    [
        ("openai-chat", None, "auto", "tiktoken:o200k_base", Exactness.EXACT),
        ("openai-chat", "gpt-4o-2024-08-06", "auto", "tiktoken:o200k_base", Exactness.EXACT),
        ("openai-chat", "gpt-4-32k-0613", "auto", "tiktoken:cl100k_base", Exactness.EXACT),
        ("openai-chat", "gpt-4-0613", "tiktoken:o200k_base", None, Exactness.ESTIMATE),
        ("openai-chat", "gpt-4-0613", "tiktoken:cl100k_base", None, Exactness.EXACT),
        ("openai-chat", "llama-3.3-70b", "auto", "tiktoken:o200k_base", Exactness.ESTIMATE),
        ("openai-chat", "grok-4.5", "auto", "tiktoken:o200k_base", Exactness.ESTIMATE),
        ("openai-chat", "anthropic/claude-sonnet-4.5", "auto", "claude", Exactness.ESTIMATE),
        ("anthropic-messages", None, "auto", "claude", Exactness.ESTIMATE),
        ("anthropic-messages", None, "tiktoken:o200k_base", None, Exactness.ESTIMATE),
        ("anthropic-messages", "gpt-4o", "auto", "tiktoken:o200k_base", Exactness.ESTIMATE),
        ("some-other-api", None, "tiktoken:o200k_base", None, Exactness.ESTIMATE),
        ("openai-chat", None, "unit", None, Exactness.EXACT),
        ("openai-chat", None, "chars4", None, Exactness.ESTIMATE),
    ],
)
def test_the_counter_and_how_exact_it_is(
    cache: Cache, api: str, model: str | None, counter: str, means: str | None, exactness: Exactness
) -> None:
    counts = count(chat(said("Hello there"), api=api, model=model), counter, cache=cache)
    assert counts.counter == (means or counter)
    assert Exactness(counts.exactness[0]) is exactness
    assert counts.worst is exactness


def test_a_chosen_model_comes_before_the_recorded_one(cache: Cache) -> None:
    conversation = chat(said("Hello"), model="gpt-4o")
    assert resolve_auto(conversation, "gpt-4") == "tiktoken:cl100k_base"
    assert count(conversation, model="claude-opus-4-7", cache=cache).counter == "claude"


@pytest.mark.parametrize("counter", ["anthropic", "nonsense"])
def test_a_counter_that_is_not_there_is_refused_in_one_sentence(counter: str) -> None:
    with pytest.raises(CounterError, match=r"^[^\n]*(not available yet|no token counter)[^\n]*$"):
        make_counter(counter, chat(said("x")))


def test_unit_counts_messages(cache: Cache) -> None:
    conversation = chat(said("a" * 1000, "b"), Message(Role.ASSISTANT))
    counts = count(conversation, "unit", cache=cache)
    assert counts.messages.tolist() == [1, 1]
    assert total(counts) == 2
    assert counts.of_message("anything") == 1


def test_chars4_is_a_quarter_of_the_text_of_the_message(cache: Cache) -> None:
    nested = Part(PartKind.TOOL_RESULT, "abc", parts=(text("defgh"),))
    conversation = chat(said("abc", "defg"), Message(Role.TOOL, (nested,)), said("", "abc"))
    counts = count(conversation, "chars4", cache=cache)
    assert counts.messages.tolist() == [7 // 4, 8 // 4, 0]
    assert counts.parts.tolist() == [0, 1, 2, 0, 0]
    assert counts.of_message("x" * 11) == 2


def test_quick_counts_are_rough_and_say_so() -> None:
    conversation = chat(said("x" * 400), said("y" * 40))
    counts = quick(conversation)
    assert counts.messages.tolist() == [100, 10]
    assert not counts.complete
    assert counts.worst is Exactness.ESTIMATE
    assert quick(conversation, "unit").complete


def test_no_messages(cache: Cache) -> None:
    empty = chat()
    for counter in counter_ids():
        counts = count(empty, counter, cache=cache)
        assert counts.messages.tolist() == []
        assert counts.part_starts.tolist() == [0]


def test_a_part_whose_content_is_not_in_the_file_is_unknown_not_0(cache: Cache) -> None:
    hidden = Part(PartKind.THINKING, hidden="encrypted by the provider")
    image = Part(PartKind.IMAGE, media=Media(url="https://example.org/a.png"))
    counts = count(chat(Message(Role.ASSISTANT, (hidden, text("hi"), image))), cache=cache)
    assert counts.parts.tolist() == [UNKNOWN, 1, UNKNOWN]
    assert counts.unknown == 2
    assert counts.messages.tolist() == [1 + 4]
    assert counts.worst is Exactness.ESTIMATE


def test_an_image_counts_by_its_size_wherever_it_is_nested(cache: Cache) -> None:
    image = Part(PartKind.IMAGE, media=Media("image/png", 1024, 1024))
    result = Part(PartKind.TOOL_RESULT, parts=(text("hello"), image))
    counts = count(chat(said("hello"), Message(Role.TOOL, (result,))), cache=cache)
    assert counts.parts.tolist() == [1, 1 + 765]
    assert [Exactness(value) for value in counts.exactness] == [0, Exactness.ESTIMATE]


def test_the_claude_estimate_scales_with_the_generation(cache: Cache) -> None:
    words = " ".join(["memory buffer"] * 1000)
    base = int(count(chat(said(words)), cache=cache).parts[0])
    for model, factor in (("claude-sonnet-4-5", 1.15), ("claude-opus-4-7", 1.54)):
        conversation = chat(said(words), api="anthropic-messages", model=model)
        counts = count(conversation, cache=cache)
        assert counts.parts[0] == round(base * factor)
        assert any(str(factor) in note for note in counts.notes)


_PARTS = st.builds(
    Part,
    kind=st.sampled_from(PartKind),
    text=st.text(max_size=30),
    name=st.none() | st.text(max_size=5),
    hidden=st.sampled_from([None, None, None, "encrypted"]),
    media=st.none() | st.builds(Media, width=st.integers(1, 3000), height=st.integers(1, 3000)),
)
_MESSAGES = st.lists(
    st.builds(
        Message,
        role=st.sampled_from(Role),
        parts=st.lists(_PARTS, max_size=4).map(tuple),
        name=st.none() | st.text(max_size=5),
    ),
    max_size=8,
).map(tuple)


@settings(max_examples=60, deadline=None)
@given(
    messages=_MESSAGES,
    counter=st.sampled_from(counter_ids()),
    api=st.sampled_from(["openai-chat", "anthropic-messages"]),
)
def test_a_message_is_its_parts_and_an_overhead(
    messages: tuple[Message, ...], counter: str, api: str
) -> None:
    conversation = Conversation(api, api, messages)
    counts = count(conversation, counter, cache=_NoCache())
    for index, message in enumerate(messages):
        parts = counts.parts_of(index)
        assert len(parts) == len(message.parts)
        overhead = counts.messages[index] - parts[parts != UNKNOWN].sum()
        bare = Message(message.role, name=message.name)
        assert overhead == count(_alone(bare, api), counter, cache=_NoCache()).messages[0]
        if counts.exactness[index] == Exactness.EXACT and counter != "unit":
            assert all(part.kind is PartKind.TEXT for part in message.parts)


def _alone(message: Message, api: str) -> Conversation:
    return Conversation(api, api, (message,))


class _NoCache(Cache):
    """Keeps nothing, so that the many examples do not wait for the disk."""

    def get_many(self, keys: Any) -> dict[bytes, bytes]:
        return {}

    def put_many(self, items: Any) -> None:
        return None


def test_a_synthetic_message_costs_what_it_will_cost_as_a_message(cache: Cache) -> None:
    body = "The user asked for a refund; it was granted. " * 7
    for counter in counter_ids():
        for api in ("openai-chat", "anthropic-messages"):
            counts = count(chat(said(body), api=api), counter, cache=cache)
            assert counts.of_message(body) == counts.messages[0], (counter, api)


def test_every_array_has_the_shape_and_type_it_promises(cache: Cache) -> None:
    conversation = chat(said("a", "b"), Message(Role.USER), said("c"))
    for counter in counter_ids():
        counts = count(conversation, counter, cache=cache)
        assert (counts.messages.dtype, counts.messages.shape) == (np.int64, (3,))
        assert (counts.exactness.dtype, counts.exactness.shape) == (np.uint8, (3,))
        assert (counts.parts.dtype, counts.parts.shape) == (np.int64, (3,))
        assert counts.part_starts.tolist() == [0, 2, 2, 3]
        assert counts.part_starts.dtype == np.int64


def test_a_name_is_counted_on_any_message_of_openais_and_on_none_of_anthropics(
    cache: Cache,
) -> None:
    named = said("hi", name="example_user")
    for api, more in (("openai-chat", 1 + 2), ("anthropic-messages", 0)):
        bare = count(chat(said("hi"), api=api), cache=cache).messages[0]
        assert count(chat(named, api=api), cache=cache).messages[0] == bare + more


def test_a_tool_call_counts_its_name_and_arguments(cache: Cache) -> None:
    arguments = '{"city": "Pittsburgh"}'
    call = Part(PartKind.TOOL_CALL, arguments, "get_current_weather", "call_1")
    encode = encoding("o200k_base").encode_ordinary
    told = len(encode(arguments)) + len(encode("get_current_weather"))
    counts = count(chat(Message(Role.ASSISTANT, (call,))), cache=cache)
    assert counts.parts[0] > told
    assert counts.worst is Exactness.ESTIMATE


def test_the_id_of_a_call_costs_nothing(cache: Cache) -> None:
    calls = [
        Message(Role.ASSISTANT, (Part(PartKind.TOOL_CALL, "{}", "go", call_id),))
        for call_id in (None, "", "call_" + "x" * 200)
    ]
    assert len(set(count(chat(*calls), cache=cache).messages.tolist())) == 1


@pytest.mark.parametrize("raw", ["not json", "[]", '{"name": 3}', "[" * 100_000])
def test_a_tool_definition_that_is_none_counts_as_its_text(cache: Cache, raw: str) -> None:
    tools = Message(Role.SYSTEM, (Part(PartKind.TOOL_DEFINITION, raw),), source_field="tools")
    counts = count(chat(tools), cache=cache)
    assert counts.parts[0] == len(encoding("o200k_base").encode_ordinary(raw))
