"""Presets: other policies with the numbers of a textbook, under a name of their own."""

from __future__ import annotations

from dataclasses import dataclass, replace

from stm_inspector.buffer.policies.priority import Priority, PrioritySettings
from stm_inspector.buffer.policies.scored import IMPORTANCE, ImportanceSettings
from stm_inspector.buffer.policies.summary import SummaryAtWatermark, SummarySettings
from stm_inspector.buffer.policies.windows import SlidingWindow, SlidingWindowSettings
from stm_inspector.buffer.scores import Scoring
from stm_inspector.buffer.settings import with_default

_IDEA = "Presets"


@dataclass(frozen=True, slots=True)
class SimpleChatSettings(SlidingWindowSettings):
    """Settings of ``simple-chat``."""

    max_messages: int = with_default(SlidingWindowSettings, "max_messages", 30)


@dataclass(frozen=True, slots=True)
class LongConversationSettings(SummarySettings):
    """Settings of ``long-conversation``."""

    max_tokens: int = with_default(SummarySettings, "max_tokens", 8_000)
    trigger: float = with_default(SummarySettings, "trigger", 0.8)
    keep_recent: int = with_default(SummarySettings, "keep_recent", 10)


@dataclass(frozen=True, slots=True)
class TechnicalSupportSettings(ImportanceSettings):
    """Settings of ``technical-support``."""

    max_tokens: int = with_default(ImportanceSettings, "max_tokens", 12_000)
    scoring: Scoring = with_default(ImportanceSettings, "scoring", Scoring.ERRORS_AND_CODE)


@dataclass(frozen=True, slots=True)
class DataAnalysisSettings(ImportanceSettings):
    """Settings of ``data-analysis``."""

    max_tokens: int = with_default(ImportanceSettings, "max_tokens", 16_000)
    scoring: Scoring = with_default(ImportanceSettings, "scoring", Scoring.RESULTS_AND_INSIGHTS)


@dataclass(frozen=True, slots=True)
class DefaultSettings(PrioritySettings):
    """Settings of ``default``."""

    max_tokens: int = with_default(PrioritySettings, "max_tokens", 8_000)


SIMPLE_CHAT = replace(
    SlidingWindow(),
    id="simple-chat",
    title="Simple chat",
    idea=_IDEA,
    help=(
        "A sliding window of 30 messages. Right for small talk and quick questions, where only "
        "the last exchanges matter. Wrong for work on a task: it forgets the task first, and it "
        "does not look at tokens."
    ),
    settings=SimpleChatSettings,
)
LONG_CONVERSATION = replace(
    SummaryAtWatermark(),
    id="long-conversation",
    title="Long conversation",
    idea=_IDEA,
    help=(
        "A summary at 80 % of 8,000 tokens that leaves the newest 10 messages as they are. Right "
        "for talk over many hours with a small model. Wrong where exact details matter, or where "
        "the window is large: it summarises long before it must."
    ),
    settings=LongConversationSettings,
)
TECHNICAL_SUPPORT = replace(
    IMPORTANCE,
    id="technical-support",
    title="Technical support",
    idea=_IDEA,
    help=(
        "Importance with decay within 12,000 tokens: 0.9 for errors and code, else 0.5. Right "
        "for hunting a fault: the messages that show it outlive the talk around them. Wrong "
        "where the plain words count, such as what the customer has tried already."
    ),
    settings=TechnicalSupportSettings,
)
DATA_ANALYSIS = replace(
    IMPORTANCE,
    id="data-analysis",
    title="Data analysis",
    idea=_IDEA,
    help=(
        "Importance with decay within 16,000 tokens: 0.8 for results and insights, else 0.5. "
        "Right for exploring data, where findings are built on. Wrong where tool results are "
        "large and raw: they count as results, and crowd out the questions."
    ),
    settings=DataAnalysisSettings,
)
DEFAULT = replace(
    Priority(),
    id="default",
    title="Default",
    idea=_IDEA,
    help=(
        "A priority queue within 8,000 tokens: system 10, user and assistant 5, tool results 3. "
        "Right as a plain start for chat with a few tools. Wrong for agents that live on tool "
        "results: those leave first."
    ),
    settings=DefaultSettings,
)
PRESETS = (SIMPLE_CHAT, LONG_CONVERSATION, TECHNICAL_SUPPORT, DATA_ANALYSIS, DEFAULT)
