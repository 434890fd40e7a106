"""How long a slider tick takes, beside one call of langchain-core's ``trim_messages``.

    python tests/benchmarks/bench_tick.py

The peer gets the same 2,000 messages and a tiktoken counter, as its documentation shows it
(``langchain-core`` is needed for that part only). Prints milliseconds and the ratio; asserts
nothing.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from stm_inspector.buffer.budget import Budget  # noqa: E402
from stm_inspector.buffer.planner import Planner  # noqa: E402
from stm_inspector.buffer.policies import all_policies  # noqa: E402
from stm_inspector.buffer.settings import Settings  # noqa: E402
from stm_inspector.conversation.model import (  # noqa: E402
    Conversation,
    Message,
    Part,
    PartKind,
    Role,
)
from stm_inspector.tokens.counting import count  # noqa: E402
from stm_inspector.tokens.encodings import encoding  # noqa: E402

SIZES = (2_000, 10_000, 100_000)
TICKS = 60
WANTED = 1_000
WORDS = "the parser reads one chunk and keeps the rest for the next call".split()  # noqa: SIM905


def agent_log(size: int) -> Conversation:
    """An agent's work: turns of a person, each with eight steps of one to three parallel calls.

    Results are as long as those of real coding sessions: 150 words in the middle, 300 on average,
    a few of thousands.
    """
    dice = np.random.default_rng(size)
    lengths = np.minimum(dice.lognormal(5.0, 1.2, 400), 5_000).astype(int).tolist()
    results = [" ".join(dice.choice(WORDS, 1 + length)) for length in lengths]
    messages = [Message(Role.SYSTEM, (text(dice, 2_000),))]
    number = 0
    while len(messages) < size:
        messages.append(Message(Role.USER, (text(dice, 20),)))
        for _ in range(8):
            ids = [f"call_{number + k}" for k in range(int(dice.integers(1, 4)))]
            number += len(ids)
            calls = tuple(
                Part(PartKind.TOOL_CALL, '{"path": "importer.py"}', name="read_file", call_id=key)
                for key in ids
            )
            messages.append(Message(Role.ASSISTANT, (text(dice, 40), *calls)))
            for key in ids:
                found = results[int(dice.integers(len(results)))]
                messages.append(
                    Message(Role.TOOL, (Part(PartKind.TOOL_RESULT, found, call_id=key),))
                )
        messages.append(Message(Role.ASSISTANT, (text(dice, 150),)))
    return Conversation("openai-chat", "openai-chat", tuple(messages[:size]))


def text(dice: np.random.Generator, words: int) -> Part:
    return Part(PartKind.TEXT, " ".join(dice.choice(WORDS, words)))


def milliseconds(act: Callable[[], Any]) -> float:
    begin = perf_counter()
    act()
    return 1_000 * (perf_counter() - begin)


def ticks(planner: Planner, policy: str, total: int) -> list[float]:
    """A drag of the budget from a tenth of the log to all of it."""
    budgets = np.linspace(total // 10, total, TICKS).astype(int).tolist()
    settings = [Settings(policy=policy, budget=Budget(fixed=budget)) for budget in budgets]
    planner.plan(settings[0])
    return [milliseconds(lambda each=each: planner.plan(each)) for each in settings]


def peer(conversation: Conversation, budget: int) -> float | None:
    """One ``trim_messages`` over the same messages, in milliseconds; None if it is missing."""
    try:
        from langchain_core.messages import (
            AIMessage,
            BaseMessage,
            HumanMessage,
            SystemMessage,
            ToolMessage,
            trim_messages,
        )
    except ImportError:
        print("langchain-core is not installed: no comparison (pip install langchain-core)")
        return None

    o200k = encoding("o200k_base")

    def tokens(messages: list[BaseMessage]) -> int:
        return 3 + sum(3 + len(o200k.encode_ordinary(str(each.content))) for each in messages)

    def converted(message: Message) -> BaseMessage:
        words = " ".join(part.text for part in message.parts if part.kind is PartKind.TEXT)
        calls = [
            {"name": part.name, "args": {"path": "importer.py"}, "id": part.call_id}
            for part in message.parts
            if part.kind is PartKind.TOOL_CALL
        ]
        match message.role:
            case Role.SYSTEM:
                return SystemMessage(words)
            case Role.ASSISTANT:
                return AIMessage(words, tool_calls=calls)
            case Role.TOOL:
                result = message.parts[0]
                return ToolMessage(result.text, tool_call_id=result.call_id or "")
            case _:
                return HumanMessage(words)

    messages = [converted(message) for message in conversation.messages]
    options = {"max_tokens": budget, "token_counter": tokens, "include_system": True}
    trim_messages(messages[:20], **options)
    return min(milliseconds(lambda: trim_messages(messages, **options)) for _ in range(3))


def main() -> None:
    """Print the tick of every policy and size, then the comparison."""
    fastest: dict[str, float] = {}
    for size in SIZES:
        conversation = agent_log(size)
        counts = count(conversation, "tiktoken:o200k_base")
        total = int(counts.messages.sum())
        begin = perf_counter()
        planner = Planner(conversation, counts)
        first = milliseconds(lambda planner=planner: planner.plan(Settings()))
        ready = 1_000 * (perf_counter() - begin)
        print(f"{size:,} messages, {total:,} tokens; ready after {ready:.0f} ms, first {first:.1f}")
        for policy in all_policies():
            took = ticks(planner, policy.id, total)
            p50, p95 = np.percentile(took, [50, 95])
            print(f"  {policy.id:16} tick p50 {p50:6.2f} ms   p95 {p95:6.2f} ms")
            if size == SIZES[0]:
                fastest[policy.id] = p50
                budget, compared = total // 2, conversation
    theirs = peer(compared, budget)
    if theirs is not None:
        ours = fastest["token-budget"]
        print(f"trim_messages on {SIZES[0]:,} messages: {theirs:,.0f} ms; tick {ours:.2f} ms")
        print(f"ratio {theirs / ours:,.0f} (wanted: {WANTED:,})")


if __name__ == "__main__":
    main()
