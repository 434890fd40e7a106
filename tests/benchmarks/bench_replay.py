"""How long a replay takes, beside planning each of its calls anew.

    python tests/benchmarks/bench_replay.py

10,000 messages and 1,000 calls; the reference makes a planner of the messages up to a call, as a
harness would that starts from its log each time, and is measured on a few calls. Prints
milliseconds and the ratio; asserts nothing.
"""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "tests" / "benchmarks")]

import msgspec  # noqa: E402
from bench_tick import agent_log, milliseconds  # noqa: E402

from stm_inspector.buffer.budget import Budget  # noqa: E402
from stm_inspector.buffer.planner import Planner  # noqa: E402
from stm_inspector.buffer.policies import all_policies  # noqa: E402
from stm_inspector.buffer.recorder import replay  # noqa: E402
from stm_inspector.buffer.settings import Settings  # noqa: E402
from stm_inspector.buffer.survival import survival  # noqa: E402
from stm_inspector.conversation.model import Conversation, Role  # noqa: E402
from stm_inspector.tokens.counting import count  # noqa: E402

MESSAGES, CALLS, SAMPLED, ROUNDS = 10_000, 1_000, 12, 3


def log() -> Conversation:
    """The agent's log of ``bench_tick``, of which every few answers count as a call."""
    whole = agent_log(MESSAGES)
    answers = [i for i, message in enumerate(whole.messages) if message.role is Role.ASSISTANT]
    asked = set(answers[:: max(1, len(answers) // CALLS)])
    messages = [
        message
        if index in asked or message.role is not Role.ASSISTANT
        else msgspec.structs.replace(message, injected=True)
        for index, message in enumerate(whole.messages)
    ]
    return replace(whole, messages=tuple(messages))


def main() -> None:
    conversation = log()
    counts = count(conversation)
    planner = Planner(conversation, counts)
    calls = planner.calls.tolist()
    budget = Budget(fixed=int(counts.messages.sum()) // 6)
    print(f"{len(conversation.messages):,} messages, {len(calls):,} calls")
    print(f"{'policy':<20} {'replay ms':>10} {'anew ms':>10} {'ratio':>8}")
    for policy in all_policies():
        settings = Settings(policy=policy.id, budget=budget)
        best = min(milliseconds(lambda s=settings: replay(planner, s)) for _ in range(ROUNDS))

        def anew(settings: Settings = settings) -> None:
            for length in calls[:: len(calls) // SAMPLED]:
                begun = replace(conversation, messages=conversation.messages[:length])
                Planner(begun, counts.first(length)).plan(settings)

        each = milliseconds(anew) / len(calls[:: len(calls) // SAMPLED]) * len(calls)
        print(f"{policy.id:<20} {best:>10.1f} {each:>10.0f} {each / best:>7.0f}×")
    whole = milliseconds(lambda: survival(planner, Settings(budget=budget)))
    print(f"the surviving budget of every message: {whole:.0f} ms")


if __name__ == "__main__":
    main()
