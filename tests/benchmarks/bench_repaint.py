"""How long the window's drawing takes per slider tick, without the planning.

    python tests/benchmarks/bench_repaint.py

A tick hands a new plan to the block list, the minimap and the budget bar and repaints them, as a
drag does. Printed: the 50th and 95th percentile in milliseconds and their ratio to filling a
window of that size with one colour.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

import numpy as np
from PySide6.QtGui import QImage, QPainter
from PySide6.QtWidgets import QApplication, QHBoxLayout, QVBoxLayout, QWidget

from stm_inspector.app import theme
from stm_inspector.app.budget_bar import BudgetBar
from stm_inspector.app.buffer_view import BufferView
from stm_inspector.app.minimap import Minimap
from stm_inspector.buffer.budget import Budget
from stm_inspector.buffer.plan import Amount, Decision, Plan, Totals, Verdict, Zone
from stm_inspector.conversation.model import Conversation, Message, Part, PartKind, Role
from stm_inspector.tokens.counts import Exactness, TokenCounts

TICKS = 200


def conversation(length: int) -> Conversation:
    """A call and its result, over and over."""
    messages = [Message(Role.USER, (Part(PartKind.TEXT, "Please go through all the files"),))]
    for number in range(1, length):
        if number % 2:
            arguments = f'{{"path": "package/module_{number}.py"}}'
            part = Part(PartKind.TOOL_CALL, arguments, name="read_file", call_id=f"c{number}")
            messages.append(Message(Role.ASSISTANT, (part,)))
        else:
            text = f"line one of {number}\nline two\n" * 20
            part = Part(PartKind.TOOL_RESULT, text, call_id=f"c{number - 1}")
            messages.append(Message(Role.TOOL, (part,)))
    return Conversation("bench", "openai-chat", tuple(messages))


def counts_of(length: int) -> TokenCounts:
    """Random numbers, one part a message."""
    tokens = np.random.default_rng(7).integers(5, 3000, length)
    starts = np.arange(length + 1)
    exactness = np.full(length, Exactness.EXACT, dtype=np.uint8)
    return TokenCounts("bench", tokens, exactness, tokens, starts, 3, Exactness.EXACT, len)


def plan_of(counts: TokenCounts, kept: int) -> Plan:
    """Keep the first and the newest ``kept`` messages."""
    length = len(counts.messages)
    verdicts = np.full(length, Verdict.EVICT, dtype=np.uint8)
    verdicts[0] = verdicts[length - kept :] = Verdict.KEEP
    zones = np.full(length, Zone.MIDDLE, dtype=np.uint8)
    zones[0], zones[length - 20 :] = Zone.ANCHOR, Zone.TAIL
    after = np.where(verdicts == Verdict.KEEP, counts.messages, 0)
    flags = np.zeros(length, dtype=bool)
    before, sent = int(counts.messages.sum()), int(after.sum())
    return Plan(
        policy="bench",
        options=None,
        decision=Decision(verdicts, np.zeros(length, dtype=np.uint8), ("",)),
        zones=zones,
        tokens=counts.messages,
        tokens_after=after,
        exactness=counts.exactness,
        pinned=flags,
        protected=flags,
        budget=Budget(window=before, fixed=sent),
        watermark=sent // 2,
        target=None,
        totals=Totals(
            Amount(length, before),
            Amount(kept + 1, sent),
            kept + 1,
            length - kept - 1,
            0,
            0,
            0,
            0,
            Exactness.EXACT,
        ),
        problems=(),
        call=0,
        calls=1,
    )


def timed(action: Callable[[int], None]) -> np.ndarray:
    """Milliseconds of each of ``TICKS`` calls."""
    times = []
    for tick in range(TICKS):
        start = time.perf_counter()
        action(tick)
        times.append(1000 * (time.perf_counter() - start))
    return np.array(times)


def bench(app: QApplication, length: int) -> None:
    """Print one line for a conversation of that many messages."""
    window, view, bar = QWidget(), BufferView(), BudgetBar()
    minimap = Minimap(view)
    column, row = QVBoxLayout(window), QHBoxLayout()
    column.addWidget(bar)
    row.addWidget(view)
    row.addWidget(minimap)
    column.addLayout(row)
    window.resize(1440, 900)
    counts = counts_of(length)
    plans = [plan_of(counts, length // 4 + 7 * tick) for tick in range(TICKS)]
    view.set_conversation(conversation(length), counts)
    view.set_plan(plans[0], counts)
    window.show()
    view.centre(3 * length // 4)
    view.set_dragging(True)
    app.processEvents()

    def tick(number: int) -> None:
        plan = plans[number]
        view.set_plan(plan, counts)
        minimap.set_plan(plan, counts)
        bar.set_plan(plan, counts)
        app.processEvents()

    picture = QImage(1440, 900, QImage.Format.Format_RGB32)

    def fill(number: int) -> None:
        painter = QPainter(picture)
        painter.fillRect(picture.rect(), theme.current().zone(number % 6))
        painter.end()

    reference = float(np.percentile(timed(fill), 50))
    times = timed(tick)
    middle, high = np.percentile(times, [50, 95])
    print(
        f"{length:>8,} messages: p50 {middle:5.1f} ms, p95 {high:5.1f} ms, "
        f"p50 is {middle / reference:.0f} times filling the window"
    )
    window.close()


def main() -> None:
    """Run the benchmark."""
    app = QApplication([])
    theme.apply(app, theme.light())
    for length in (100, 10_000, 100_000):
        bench(app, length)


if __name__ == "__main__":
    main()
