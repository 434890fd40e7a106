"""Write any conversation as the request body of any API that is known here."""

from stm_inspector.formats.compose.registry import Composed, compose, targets
from stm_inspector.formats.compose.target import Target

__all__ = ["Composed", "Target", "compose", "targets"]
