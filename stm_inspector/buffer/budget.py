"""Budget arithmetic: what of the context window is left for the input."""

from __future__ import annotations

from dataclasses import dataclass

DEFAULT_WINDOW = 200_000
DEFAULT_REPLY = 4_096
DEFAULT_SAFETY = 2_048
DEFAULT_TOOL_HEADROOM = 8_192


@dataclass(frozen=True, slots=True)
class Budget:
    """The context window and what is set aside in it, all in tokens.

    ``fixed`` sets the input budget outright, whatever the reserves leave.

    >>> Budget().input
    185664
    """

    window: int = DEFAULT_WINDOW
    reply: int = DEFAULT_REPLY
    safety: int = DEFAULT_SAFETY
    tool_headroom: int = DEFAULT_TOOL_HEADROOM
    fixed: int | None = None

    @property
    def reserved(self) -> int:
        """Tokens set aside for the reply, for safety and for tool results to come."""
        return self.reply + self.safety + self.tool_headroom

    @property
    def input(self) -> int:
        """The input budget, never below 0."""
        if self.fixed is not None:
            return self.fixed
        return max(0, self.window - self.reserved)


def tokens_at(mark: float, budget: int) -> int:
    """Turn a watermark into tokens: up to 1 it is a fraction of the budget, above it tokens.

    >>> tokens_at(0.6, 1000), tokens_at(1.0, 1000), tokens_at(250, 1000)
    (600, 1000, 250)
    """
    return int(mark * budget) if mark <= 1 else int(mark)
