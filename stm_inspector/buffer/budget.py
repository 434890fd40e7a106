"""Budget arithmetic: what of the context window is left for the input."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Self

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

    @classmethod
    def of_window(cls, window: int) -> Self:
        """The budget of a context window with the default reserves.

        In a window below 32,768 tokens they are smaller than the defaults, so that something is
        left: a quarter of it for the reply, a sixteenth for safety, a quarter for tool results.

        >>> Budget.of_window(8_192)
        Budget(window=8192, reply=2048, safety=512, tool_headroom=2048, fixed=None)
        """
        return cls(
            window,
            reply=min(DEFAULT_REPLY, window // 4),
            safety=min(DEFAULT_SAFETY, window // 16),
            tool_headroom=min(DEFAULT_TOOL_HEADROOM, window // 4),
        )

    def in_window(self, window: int) -> Self:
        """The same reserves in another window; default ones become the defaults of that one."""
        usual = replace(self, fixed=None) == type(self).of_window(self.window)
        return type(self).of_window(window) if usual else replace(self, window=window, fixed=None)

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
