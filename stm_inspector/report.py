"""The plan as the JSON object that ``plan --json`` prints."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import Any

from stm_inspector.buffer.plan import Amount, Plan, Problem, Verdict, Zone
from stm_inspector.buffer.policies import Policy, all_policies, get_policy
from stm_inspector.buffer.replay import NEVER, Replay
from stm_inspector.buffer.settings import Settings, describe, to_json
from stm_inspector.conversation.model import Conversation
from stm_inspector.tokens.counts import TokenCounts

_VERDICTS = [verdict.word for verdict in Verdict]
_ZONES = [zone.word for zone in Zone]


def report(
    conversation: Conversation, plan: Plan, counts: TokenCounts, settings: Settings
) -> dict[str, Any]:
    """The plan as plain JSON values, in a fixed order of keys.

    ``watermark`` and ``target`` are as they were set: up to 1 a fraction of the budget, above it
    tokens. The text of a problem says as well what to do, and whether the recording has it too.
    """
    return {
        "format": conversation.format,
        "source": {
            "messages": len(conversation.messages),
            "skipped": [
                {"line": skipped.line, "reason": skipped.reason}
                for skipped in conversation.origin.skipped
            ],
        },
        "policy": _policy(plan),
        "counter": {"id": counts.counter, "exactness": plan.totals.exactness.word},
        "budget": _budget(plan, settings),
        "totals": _totals(plan),
        "messages": list(_messages(conversation, plan)),
        "inserted": [
            {
                "before": item.before,
                "role": item.role,
                "kind": item.kind,
                "tokens": item.tokens,
                "text": item.text,
            }
            for item in plan.decision.inserted
        ],
        "problems": [
            {
                "rule": problem.rule,
                "severity": problem.severity.value,
                "index": problem.index,
                "text": in_full(problem),
            }
            for problem in plan.problems
        ],
    }


def replay_report(
    conversation: Conversation,
    plan: Plan,
    replay: Replay,
    survives: Sequence[int],
    counts: TokenCounts,
    settings: Settings,
) -> dict[str, Any]:
    """The replay as plain JSON values, in a fixed order of keys: what ``replay --json`` prints.

    ``plan`` is that of the last call; ``survives`` the smallest budget of each message, or
    ``NEVER``.
    """
    lost = zip(replay.first_lost.tolist(), replay.lost_because.tolist(), survives, strict=True)
    return {
        "format": conversation.format,
        "policy": _policy(plan),
        "counter": {"id": counts.counter, "exactness": replay.exactness.word},
        "budget": _budget(plan, settings),
        "calls": [_nested(row) for row in replay_rows(replay)],
        "messages": [
            {
                "index": index,
                "first_lost_at": call if call != NEVER else None,
                "reason": replay.reasons[why] if why != NEVER else None,
                "survives_from": budget if budget != NEVER else None,
            }
            for index, (call, why, budget) in enumerate(lost)
        ],
        "totals": {"calls": len(replay), **asdict(replay.totals())},
    }


REPLAY_COLUMNS = (
    "call",
    "message",
    "before.messages",
    "before.tokens",
    "after.messages",
    "after.tokens",
    "fired",
    "kept",
    "evicted",
    "cleared",
    "truncated",
    "summarised",
    "summary_tokens",
    "over_budget",
    "over_target",
    "same_prefix.messages",
    "same_prefix.tokens",
    "why",
)
"""The columns of ``replay --csv``; a point stands where JSON has an object in an object."""


def replay_rows(replay: Replay) -> Iterator[tuple[Any, ...]]:
    """The replay call by call, in the order of ``REPLAY_COLUMNS``.

    ``message`` is the recorded response before which the call stands; for the last call, the
    number of messages.
    """
    columns = (
        replay.lengths,
        replay.lengths,
        replay.before,
        replay.messages,
        replay.after,
        replay.fired,
        replay.kept,
        replay.evicted,
        replay.cleared,
        replay.truncated,
        replay.summarised,
        replay.inserted,
        replay.over_budget,
        replay.over_target,
        replay.same_messages,
        replay.same_tokens,
    )
    listed = [column.tolist() for column in columns]
    return zip(range(len(replay)), *listed, replay.why, strict=True)


def _nested(row: tuple[Any, ...]) -> dict[str, Any]:
    entry: dict[str, Any] = {}
    for name, value in zip(REPLAY_COLUMNS, row, strict=True):
        outer, _, inner = name.partition(".")
        if inner:
            entry.setdefault(outer, {})[inner] = value
        else:
            entry[name] = value
    return entry


def in_full(problem: Problem) -> str:
    """What is wrong, whether the recording has it already, and what to do."""
    origin = "In the recording already: " if problem.recorded else ""
    return f"{origin}{problem.text} {problem.remedy}"


def describe_policies() -> list[dict[str, Any]]:
    """Every policy with its settings, as ``policies --json`` prints it."""
    return [
        {
            "id": policy.id,
            "title": policy.title,
            "basis": policy.basis.value,
            "emulates": policy.emulates,
            "settings": _settings(policy),
            "help": policy.help,
        }
        for policy in all_policies()
    ]


def _settings(policy: Policy) -> list[dict[str, Any]]:
    return [
        {
            "key": setting.key,
            "type": setting.type,
            "default": setting.default,
            "unit": setting.unit,
            "help": setting.help,
        }
        for setting in describe(policy.settings)
    ]


def _policy(plan: Plan) -> dict[str, Any]:
    policy = get_policy(plan.policy)
    return {
        "id": policy.id,
        "settings": to_json(plan.options),
        "basis": policy.basis.value,
        "emulates": policy.emulates,
    }


def _budget(plan: Plan, settings: Settings) -> dict[str, Any]:
    budget = plan.budget
    return {
        "window": budget.window,
        "reply": budget.reply,
        "safety": budget.safety,
        "tool_headroom": budget.tool_headroom,
        "input": budget.input,
        "watermark": getattr(plan.options, "trigger", settings.watermark),
        "target": settings.target,
    }


def _totals(plan: Plan) -> dict[str, Any]:
    totals = plan.totals
    return {
        "before": _amount(totals.before),
        "after": _amount(totals.after),
        "kept": totals.kept,
        "evicted": totals.evicted,
        "cleared": totals.cleared,
        "truncated": totals.truncated,
        "summarised": totals.summarised,
        "over_budget": totals.over_budget,
    }


def _amount(amount: Amount) -> dict[str, int]:
    return {"messages": amount.messages, "tokens": amount.tokens}


def _messages(conversation: Conversation, plan: Plan) -> Iterator[dict[str, Any]]:
    structure, decision = conversation.structure, plan.decision
    groups = [[index for index in group if index < plan.length] for group in structure.groups]
    columns = zip(
        conversation.messages[: plan.length],
        plan.zones.tolist(),
        structure.turns[: plan.length].tolist(),
        plan.tokens.tolist(),
        decision.verdicts.tolist(),
        decision.reason_of.tolist(),
        structure.group_of[: plan.length].tolist(),
        plan.pinned.tolist(),
        strict=True,
    )
    for index, (message, zone, turn, tokens, verdict, reason, group, pinned) in enumerate(columns):
        entry = {
            "index": index,
            "role": message.role.value,
            "zone": _ZONES[zone],
            "turn": turn if turn >= 0 else None,
            "tokens": tokens,
            "verdict": _VERDICTS[verdict],
            "reason": decision.reasons[reason],
            "group": groups[group] if group >= 0 and len(groups[group]) > 1 else None,
            "pinned": pinned,
        }
        if message.source_field is not None:
            entry["source_field"] = message.source_field
        yield entry
