"""What an API adds around the texts of a request: tokens a message, a name, a tool, a reply.

OpenAI Chat Completions: 3 tokens a message and 1 for its role, 1 a name beside the name's own
tokens, 3 that prime the reply. OpenAI cookbook, "How to count tokens with tiktoken", checked
there against ``usage.prompt_tokens`` of gpt-3.5-turbo, gpt-4, gpt-4o and gpt-4o-mini: exact for
messages of text. For tool definitions the same notebook gives the rule in ``Framing.tools``. What
a tool call costs in the history is published nowhere: beside its name and arguments 8 tokens, by
the difference between two recorded requests to gpt-4o-mini.

Anthropic Messages: nothing is published but the system prompt that tools add; see ``claude`` for
where the rest was measured.
"""

from __future__ import annotations

from dataclasses import dataclass

from stm_inspector.tokens.claude import OLDER, family_of, tool_prompt_tokens


@dataclass(frozen=True, slots=True)
class ToolRule:
    """Tokens around the texts of function definitions, in the words of the cookbook."""

    function: int
    properties: int = 3
    property: int = 3
    enum: int = -3
    enum_item: int = 3
    end: int = 12


@dataclass(frozen=True, slots=True)
class Framing:
    """Tokens that an API adds.

    Attributes:
        message: around each message. name: for a message's name, beside the name's own tokens.
        reply: once a request. call, result: around a tool call and a tool result.
        tools: how function definitions are written out; None where they count as their JSON.
        tools_prompt: what the presence of tools adds by itself.
        published: the numbers for messages of text come from the provider.
        source: where the numbers come from, one sentence for the user.
    """

    message: int
    name: int
    reply: int
    call: int
    result: int
    tools: ToolRule | None
    tools_prompt: int
    published: bool
    source: str


def framing_of(api: str, encoding: str, model: str | None) -> Framing:
    """The framing of ``api``; an API we know nothing of is taken to be like OpenAI's."""
    if api == "anthropic-messages" or family_of(model) is not None:
        return _anthropic(model)
    rule = ToolRule(10 if encoding == "cl100k_base" else 7)
    published = api == "openai-chat"
    source = (
        "4 tokens a message, 1 a name and 3 for the reply, after OpenAI's cookbook."
        if published
        else f"The overhead of {api} is not published: that of OpenAI's chat API is assumed."
    )
    return Framing(
        message=4,
        name=1,
        reply=3,
        call=8,
        result=0,
        tools=rule,
        tools_prompt=0,
        published=published,
        source=source,
    )


def _anthropic(model: str | None) -> Framing:
    family = family_of(model) or OLDER
    return Framing(
        message=4,
        name=0,
        reply=3,
        call=family.call,
        result=family.result,
        tools=None,
        tools_prompt=tool_prompt_tokens(model),
        published=False,
        source="Anthropic publishes no overhead: 4 tokens a message are assumed, those of tools "
        "were measured.",
    )
