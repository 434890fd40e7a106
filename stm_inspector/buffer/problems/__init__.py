"""Problems: what an API would say of the trimmed buffer.

``Checker(conversation).check(decision, over_budget, anchor)`` lists them.

The rules of a further API are a module with ``RULES`` and ``find(view)`` and one line in ``APIS``.
"""

from __future__ import annotations

from stm_inspector.buffer.problems.check import APIS, MAX_LISTED, Checker, all_rules

__all__ = ["APIS", "MAX_LISTED", "Checker", "all_rules"]
