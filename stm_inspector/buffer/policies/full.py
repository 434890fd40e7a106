"""Keep everything: what a harness without a policy does."""

from __future__ import annotations

from dataclasses import dataclass

from stm_inspector.buffer.plan import Decision
from stm_inspector.buffer.policies.base import Basis, CommonSettings, Situation, keep_all


@dataclass(frozen=True, slots=True)
class Full:
    """The policy ``full``."""

    id: str = "full"
    title: str = "Keep everything"
    idea: str = "No trimming"
    help: str = (
        "Sends the whole log. Right while the conversation fits: nothing is forgotten and the "
        "prompt cache stays warm. Wrong beyond that: the provider rejects the request, and long "
        "before, cost and waiting time grow with every call."
    )
    basis: Basis = Basis.OURS
    emulates: str | None = None
    settings: type[CommonSettings] = CommonSettings
    uses_budget: bool = False
    uses_watermark: bool = False
    uses_target: bool = False

    def decide(self, situation: Situation, options: CommonSettings) -> Decision:
        """Keep every message."""
        return keep_all(situation, "This policy keeps everything")
