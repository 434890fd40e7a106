"""The policies. A new one is a new file and a line in ``_POLICIES``."""

from __future__ import annotations

from stm_inspector.buffer.policies.base import Basis, CommonSettings, Policy, Situation
from stm_inspector.buffer.policies.entity import Entity
from stm_inspector.buffer.policies.full import Full
from stm_inspector.buffer.policies.presets import PRESETS
from stm_inspector.buffer.policies.priority import Priority
from stm_inspector.buffer.policies.queues import TokenFifo, TurnWindow
from stm_inspector.buffer.policies.results import ClearResults, SoftHard
from stm_inspector.buffer.policies.rolling import Hybrid, RollingSummary
from stm_inspector.buffer.policies.scored import IMPORTANCE, Salience
from stm_inspector.buffer.policies.summary import SummaryAtWatermark
from stm_inspector.buffer.policies.token_budget import TokenBudget
from stm_inspector.buffer.policies.topics import Segments
from stm_inspector.buffer.policies.windows import HeadTail, SlidingWindow
from stm_inspector.buffer.settings import SettingError

__all__ = ["Basis", "CommonSettings", "Policy", "Situation", "all_policies", "get_policy"]

_POLICIES: tuple[Policy, ...] = (
    TokenBudget(),
    TokenFifo(),
    SummaryAtWatermark(),
    RollingSummary(),
    Hybrid(),
    Entity(),
    Segments(),
    HeadTail(),
    SlidingWindow(),
    TurnWindow(),
    Salience(),
    IMPORTANCE,
    Priority(),
    ClearResults(),
    SoftHard(),
    *PRESETS,
    Full(),
)
_BY_ID = {policy.id: policy for policy in _POLICIES}


def all_policies() -> tuple[Policy, ...]:
    """Every policy, in the order of the picker."""
    return _POLICIES


def get_policy(policy_id: str) -> Policy:
    """The policy of that id.

    Raises:
        SettingError: there is none; the text lists those there are.
    """
    if policy_id not in _BY_ID:
        raise SettingError(f"there is no policy {policy_id!r}; there are: {', '.join(_BY_ID)}")
    return _BY_ID[policy_id]
