"""See what an LLM's short-term memory buffer keeps, evicts and summarises.

>>> from stm_inspector import load, make_plan, export          # doctest: +SKIP
>>> conversation = load("session.jsonl")                       # doctest: +SKIP
>>> plan = make_plan(conversation, policy="token-budget", budget=32_000)  # doctest: +SKIP
>>> export(conversation, plan, "trimmed.json")                 # doctest: +SKIP
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from stm_inspector.engine import export, load, make_plan

__all__ = ["export", "load", "make_plan"]


def __getattr__(name: str) -> Any:
    # On first use, so that the window's first frame does not wait for what it does not need.
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from stm_inspector import engine

    return getattr(engine, name)
