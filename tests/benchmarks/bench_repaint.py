"""How long a slider tick takes: a plan, and the repaint of what is visible.

    python tests/benchmarks/bench_repaint.py

A tick plans for another budget, hands the plan to the block list, the minimap and the budget bar,
and repaints them, as a drag does. Printed for each size, planning and drawing apart and together:
the 50th and 95th percentile in milliseconds, and the ratio of a tick to filling a window of that
size with one colour. The times are CPU times, so that a busy machine does not count. Aims, 95th
percentile: 16 ms at 10,000 messages and 33 ms at 100,000.
"""

from __future__ import annotations

import os
import time

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

import numpy as np
from PySide6.QtGui import QImage, QPainter
from PySide6.QtWidgets import QApplication, QHBoxLayout, QVBoxLayout, QWidget

from stm_inspector.app import theme
from stm_inspector.app.budget_bar import BudgetBar
from stm_inspector.app.buffer_view import BufferView
from stm_inspector.app.minimap import Minimap
from stm_inspector.buffer.budget import Budget
from stm_inspector.buffer.plan import Plan
from stm_inspector.buffer.planner import Planner
from stm_inspector.buffer.settings import Settings
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
    talk, counts = conversation(length), counts_of(length)
    total = int(counts.messages.sum())
    planner = Planner(talk, counts)
    view.set_conversation(talk, counts)
    window.show()

    def make_plan(share: float) -> Plan:
        budget = Budget(window=total, fixed=round(share * total))
        return planner.plan(Settings(policy="token-budget", budget=budget))

    view.set_plan(make_plan(0.3), counts)
    view.centre(7 * length // 10)
    view.set_dragging(True)
    app.processEvents()
    planning, drawing = [], []
    for tick in range(TICKS):
        start = time.process_time()
        plan = make_plan(0.2 + 0.2 * tick / TICKS)
        between = time.process_time()
        view.set_plan(plan, counts)
        minimap.set_plan(plan, counts)
        bar.set_plan(plan, counts)
        app.processEvents()
        planning.append(1000 * (between - start))
        drawing.append(1000 * (time.process_time() - between))
    together = np.add(planning, drawing)
    figures = ", ".join(
        f"{name} {np.percentile(times, 50):.1f} / {np.percentile(times, 95):.1f} ms"
        for name, times in (("plan", planning), ("draw", drawing), ("tick", together))
    )
    ratio = np.percentile(together, 50) / filling()
    print(f"{length:>8,} messages, p50 / p95: {figures}; a tick is {ratio:.0f} fillings")
    window.close()


def filling() -> float:
    """Milliseconds to fill a window's picture with one colour, the median of many."""
    picture = QImage(1440, 900, QImage.Format.Format_RGB32)
    times = []
    for number in range(TICKS):
        start = time.process_time()
        painter = QPainter(picture)
        painter.fillRect(picture.rect(), theme.current().zone(number % 6))
        painter.end()
        times.append(1000 * (time.process_time() - start))
    return float(np.median(times))


def main() -> None:
    """Run the benchmark."""
    app = QApplication([])
    theme.apply(app, theme.light())
    for length in (100, 10_000, 100_000):
        bench(app, length)


if __name__ == "__main__":
    main()
