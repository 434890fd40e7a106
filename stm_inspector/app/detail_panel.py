"""The right side: the selected message, why it stays or goes, and what it is locked to."""

from __future__ import annotations

from collections import Counter

from PySide6.QtCore import QEvent, Qt, QTimer, Signal
from PySide6.QtGui import QColor, QPainter, QPaintEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QTabWidget, QVBoxLayout, QWidget

from stm_inspector.app import theme
from stm_inspector.app.content_view import ContentView
from stm_inspector.app.overview import overview
from stm_inspector.app.parts_view import PartsView, token_text
from stm_inspector.app.problems_view import ProblemsView
from stm_inspector.app.rendering import KIND_TITLES, Stretch, call_of, raw_json, stretches
from stm_inspector.app.session import Session
from stm_inspector.app.status_bar import count_of
from stm_inspector.app.widgets import ElidedLabel, FlowLayout, clear, label, link
from stm_inspector.buffer.plan import Plan, Severity, Verdict, Zone
from stm_inspector.buffer.replay import NEVER, Replay
from stm_inspector.conversation.model import Conversation, Message, PartKind
from stm_inspector.conversation.visible import visible
from stm_inspector.tokens.counts import Exactness

WORDS = {
    Verdict.KEEP: "Kept",
    Verdict.EVICT: "Evicted",
    Verdict.CLEAR: "Cleared",
    Verdict.TRUNCATE: "Truncated",
    Verdict.SUMMARISE: "Summarised",
}
TOOL_KINDS = (PartKind.TOOL_CALL, PartKind.TOOL_RESULT)
PARTNERS = 8
"""Lock partners named one by one."""
LOST = (Verdict.EVICT, Verdict.SUMMARISE)
REST = 120
"""Milliseconds a drag rests before the surviving budget is worked out again."""


class ReasonBox(QFrame):
    """The verdict and its reason, with a bar of the verdict's colour at its left."""

    def __init__(self) -> None:
        super().__init__()
        self._verdict = Verdict.KEEP
        self.word = label()
        self.word.setFont(theme.fonts().bold)
        self.sentence = label(wrap=True)
        self.sentence.setAccessibleName("Reason for the verdict")
        self.history = label(level="soft", wrap=True)
        self.history.setAccessibleName("When the message first left")
        self.history.hide()
        tip = "Set the budget to the smallest that keeps this message"
        self.survives = link("", tip)
        self.survives.setAccessibleName(tip)
        head = QHBoxLayout()
        head.addWidget(self.word)
        head.addStretch()
        head.addWidget(self.survives)
        column = QVBoxLayout(self)
        column.setContentsMargins(14, 8, 10, 9)
        column.setSpacing(3)
        column.addLayout(head)
        column.addWidget(self.sentence)
        column.addWidget(self.history)

    def show_history(self, text: str) -> None:
        """Show when the message first left; nothing where it never did."""
        self.history.setText(visible(text))
        self.history.setVisible(bool(text))

    def show_verdict(self, verdict: Verdict, pinned: bool, sentence: str) -> None:
        """Show what happens to the message, and why."""
        self._verdict = verdict
        word = WORDS[verdict]
        self.word.setText(f"{word} · pinned" if pinned else word)
        self.sentence.setText(visible(sentence))
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        colours = theme.current()
        painter = QPainter(self)
        painter.fillRect(self.rect(), QColor(colours.raised))
        painter.fillRect(0, 0, 3, self.height(), colours.verdict(self._verdict))
        painter.end()


class DetailPanel(QWidget):
    """Shows the session's selection and plan; edits go back as intents.

    Signals:
        jumped(int): the user wants to see another message.
    """

    jumped = Signal(int)

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._session = session
        self.setAccessibleName("Selected message")
        self._rest = QTimer(self, singleShot=True, interval=REST)
        self._rest.timeout.connect(self._show_survival)
        self._survival: int | None = None
        self._linked: tuple[int, bool, int] | None = None
        self._build()
        session.opened.connect(self._show_message)
        session.selected.connect(self._show_message)
        session.counted.connect(self._show_numbers)
        session.planned.connect(self._show_plan)
        session.replayed.connect(self._show_history)
        self._show_message()
        self._show_plan()

    def _build(self) -> None:
        self._title = ElidedLabel(least=230)
        self._title.setFont(theme.fonts().bold)
        self._turn = label(level="soft")
        head = QHBoxLayout()
        self._chip = ElidedLabel(elide=Qt.TextElideMode.ElideRight, padding=8)
        self._chip.setProperty("chip", True)
        self._chip.setFont(theme.fonts().mono_small)
        head.addWidget(self._title)
        head.addWidget(self._chip, 0, Qt.AlignmentFlag.AlignVCenter)
        head.addStretch(1)
        head.addWidget(self._turn)
        self.reason = ReasonBox()
        self.reason.survives.clicked.connect(self._use_survival)
        self._links = QWidget()
        self._flow = FlowLayout(self._links)
        self.content = ContentView("Content of the message")
        self.parts = PartsView()
        self.json = ContentView("The message as JSON")
        self.problems = ProblemsView()
        self.problems.jumped.connect(self.jumped)
        self.tabs = QTabWidget()
        self.tabs.setDocumentMode(True)
        self.tabs.setAccessibleName("Views of the message")
        for view, name in (
            (self.content, "Content"),
            (self.parts, "Parts"),
            (self.json, "JSON"),
            (self.problems, "Problems"),
        ):
            self.tabs.addTab(view, name)
        self.tabs.currentChanged.connect(self._show_tab)
        self._foot = label(level="soft", wrap=True)
        self._foot.setAccessibleName("Tokens of the message")
        column = QVBoxLayout(self)
        column.setContentsMargins(16, 12, 12, 10)
        column.setSpacing(8)
        column.addLayout(head)
        column.addWidget(self.reason)
        column.addWidget(self._links)
        column.addWidget(self.tabs, 1)
        column.addWidget(self._foot)

    def close_jobs(self) -> None:
        """End the threads."""
        self.content.close_jobs()
        self.json.close_jobs()

    @property
    def busy(self) -> bool:
        """Something shown here is still to come."""
        return self.content.busy or self.json.busy or self._rest.isActive()

    def show_problems(self) -> None:
        """Bring the problem list to the front."""
        self.tabs.setCurrentWidget(self.problems)
        self.problems.tree.setFocus()

    def changeEvent(self, event: QEvent) -> None:
        if event.type() == QEvent.Type.PaletteChange:
            self.reason.update()
        super().changeEvent(event)

    @property
    def _message(self) -> Message | None:
        conversation, index = self._session.conversation, self._session.selection
        return None if conversation is None or index is None else conversation.messages[index]

    def _show_message(self) -> None:
        message, index = self._message, self._session.selection
        conversation = self._session.conversation
        self._linked = None
        chosen = message is not None
        self.reason.setVisible(chosen)
        self._links.setVisible(chosen)
        self._foot.setVisible(chosen)
        if message is None or index is None or conversation is None:
            self._chip.hide()
            self._turn.setText("")
            self.json.show_stretches(())
            self.parts.clear()
            self._show_inserted()
            return
        self._title.set_full_text(f"#{index} · {title(message)}")
        tools = ", ".join(tool_names(conversation, index))
        self._chip.set_full_text(visible(tools, keep="")[:200])
        self._chip.setVisible(bool(tools))
        self._turn.setText(self._turn_text(index))
        self._show_tab()
        self._show_numbers()
        self._show_verdict()

    def _show_inserted(self) -> None:
        """Show the selected synthetic message, or that nothing is selected."""
        inserted = self._session.inserted
        if inserted is None:
            self._title.set_full_text("This conversation")
            self.content.show_stretches(overview(self._session))
            self._foot.hide()
            return
        count = len(inserted.stands_for)
        self._title.set_full_text(f"{inserted.kind} · stands for {count:,} messages")
        self.content.show_stretches((Stretch(visible(inserted.text), "prose"),))
        tokens = f"{inserted.tokens:,} tokens · {inserted.exactness.word}"
        self._foot.setText(f"{tokens} · put in as a {inserted.role} message, not in the recording")
        self._foot.show()

    def _turn_text(self, index: int) -> str:
        assert self._session.conversation is not None
        structure = self._session.conversation.structure
        turn = int(structure.turns[index])
        words = [f"turn {turn + 1:,} of {len(structure.turn_starts):,}"] if turn >= 0 else []
        planner = self._session.planner
        if planner is not None and len(planner.calls) > 1:
            call = int(planner.calls.searchsorted(index, side="right"))
            words.append(f"call {call + 1:,} of {len(planner.calls):,}")
        return " · ".join(words)

    def _show_tab(self, _place: int = 0) -> None:
        """Fill the tab in front; the others wait until somebody looks."""
        conversation, index = self._session.conversation, self._session.selection
        message = self._message
        if conversation is None or index is None or message is None:
            return
        front = self.tabs.currentWidget()
        if front is self.content:
            self.content.show_stretches(stretches(conversation, index))
        elif front is self.json:
            text = visible(raw_json(message.raw))
            self.json.show_stretches((Stretch(text, "code", "json"),))
        elif front is self.parts and self._session.counts is not None:
            self.parts.show_message(message, self._session.counts, index)

    def _show_numbers(self) -> None:
        message, index, counts = self._message, self._session.selection, self._session.counts
        if message is None or index is None or counts is None:
            self._show_inserted()
            return
        exactness = Exactness(int(counts.exactness[index]))
        characters = sum(len(part.text) for part in message.parts)
        tokens = int(counts.messages[index])
        sure = token_text(tokens, exactness).replace(exactness.word, f"tokens · {exactness.word}")
        refining = "" if counts.complete else " · still counting"
        self._foot.setText(f"{sure} ({counts.counter}){refining} · {characters:,} characters")
        self._foot.setToolTip("\n".join(counts.notes))
        if self.tabs.currentWidget() is self.parts:
            self.parts.show_message(message, counts, index)

    def _show_plan(self) -> None:
        plan = self._session.plan
        problems = plan.problems if plan is not None else ()
        self.problems.show_problems(problems)
        count = f" {count_of(plan, *Severity):,}" if plan is not None and problems else ""
        self.tabs.setTabText(self.tabs.indexOf(self.problems), f"Problems{count}")
        if self._session.synthetic is not None and not self._session.dragging:
            self._show_inserted()
        self._show_verdict()

    def _show_verdict(self) -> None:
        plan, index = self._session.plan, self._session.selection
        if plan is None or index is None:
            return
        if index >= plan.length:
            self.reason.show_verdict(Verdict.KEEP, False, "Not said yet at this call.")
            self._show_history()
            return
        verdict = Verdict(int(plan.decision.verdicts[index]))
        pinned = bool(plan.pinned[index])
        self.reason.show_verdict(verdict, pinned, self._session.reason(index))
        self._show_links(plan, index)
        self._show_history()
        self._survival = None
        self.reason.survives.setVisible(False)
        if verdict in LOST:
            self._rest.start()

    def _show_history(self) -> None:
        """Say at which call the message first left; of the verdict shown now nothing again."""
        replay, index = self._session.replay, self._session.selection
        if replay is None or index is None or index >= len(replay.first_lost):
            self.reason.show_history("")
            return
        self.reason.show_history(first_loss(replay, index))

    def _show_survival(self) -> None:
        """Bisecting over plans takes a moment: it waits until the drag rests."""
        plan, index = self._session.plan, self._session.selection
        if plan is None or index is None or index >= plan.length:
            return
        if int(plan.decision.verdicts[index]) not in LOST:
            return
        self._survival = self._session.survives_from(index)
        found = self._survival is not None
        self.reason.survives.setText(f"Survives from {self._survival:,}" if found else "")
        self.reason.survives.setAccessibleName(
            f"Set the budget to {self._survival:,} tokens, the smallest that keeps this message"
            if found
            else "No budget keeps this message"
        )
        self.reason.survives.setVisible(found)

    def _use_survival(self) -> None:
        if self._survival is not None:
            self._session.set_budget(self._survival)

    def _show_links(self, plan: Plan, index: int) -> None:
        state = (index, bool(plan.pinned[index]), int(plan.zones[index]))
        if self._linked == state:
            return
        self._linked = state
        clear(self._flow)
        partners = [other for other in self._session.partners(index) if other != index]
        if partners:
            self._flow.addWidget(label("Locked with", "soft"))
            for partner in partners[:PARTNERS]:
                button = link(f"#{partner}", f"Go to message {partner}")
                button.clicked.connect(lambda _on=False, partner=partner: self.jumped.emit(partner))
                self._flow.addWidget(button)
            if len(partners) > PARTNERS:
                self._flow.addWidget(label(f"and {len(partners) - PARTNERS} more", "soft"))
            self._flow.addWidget(label("·", "soft"))
        what = "group" if partners else "message"
        pin = link(f"Unpin {what}" if state[1] else f"Pin {what}", "Always keep it (Ctrl+K)")
        pin.clicked.connect(lambda: self._session.toggle_pin(index))
        retrieved = state[2] == Zone.RETRIEVED
        mark = link(
            "Not retrieved" if retrieved else "Mark as retrieved",
            "Whether this is context that was fetched for a turn (Ctrl+M)",
        )
        mark.clicked.connect(lambda: self._session.toggle_retrieved(index))
        self._flow.addWidget(pin)
        self._flow.addWidget(mark)
        self._links.updateGeometry()


def first_loss(replay: Replay, index: int) -> str:
    """At which call the message first left, and why; "" if it never did."""
    call = int(replay.first_lost[index])
    if call == NEVER:
        return ""
    reason = replay.reasons[int(replay.lost_because[index])]
    return f"First left at call {call + 1:,} of {len(replay):,}: {reason[:1].lower()}{reason[1:]}."


def title(message: Message) -> str:
    """What kind of message it is: "assistant · 3 tool calls", "tool result"."""
    counts = Counter(part.kind for part in message.parts if part.kind is not PartKind.TEXT)
    if len(counts) > 1:
        del counts[PartKind.THINKING]  # what comes of the thinking says more
    words = [
        KIND_TITLES[kind] if number == 1 else f"{number} {KIND_TITLES[kind]}s"
        for kind, number in counts.items()
    ]
    carries_results = set(counts) == {PartKind.TOOL_RESULT}
    role = [] if carries_results else [message.source_role or message.role.value]
    return visible(" · ".join(role + words[:3]), keep="")


def tool_names(conversation: Conversation, index: int) -> list[str]:
    """The tools that message ``index`` calls or has results of, each once; at most three."""
    names: dict[str, None] = {}
    for place, part in enumerate(conversation.messages[index].parts):
        if part.kind is PartKind.TOOL_RESULT and not part.name:
            call = call_of(conversation, (index, place))
            name = call.name if call is not None else None
        else:
            name = part.name if part.kind in TOOL_KINDS else None
        if name:
            names[name] = None
    return [*list(names)[:3], *(["…"] if len(names) > 3 else [])]
