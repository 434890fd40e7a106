"""The one place of state: what intents do to it, and what undo makes of that."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot
from window_case import settle

from stm_inspector.app.find import Filter
from stm_inspector.app.main_window import MainWindow
from stm_inspector.app.tasks import Job, Runner
from stm_inspector.buffer.plan import Verdict, Zone
from stm_inspector.conversation.model import Role


def verdicts(window: MainWindow) -> list[int]:
    plan = window.session.plan
    assert plan is not None
    return plan.decision.verdicts.tolist()


def test_a_new_file_is_read_counted_and_planned(opened: MainWindow) -> None:
    session = opened.session
    assert session.conversation is not None
    assert session.counts is not None
    assert session.plan is not None
    assert session.counts.complete
    assert session.plan.length == len(session.conversation.messages) == 9


def test_a_failed_open_leaves_everything_as_it_was(
    opened: MainWindow, qtbot: QtBot, tmp_path: Path
) -> None:
    broken = tmp_path / "broken.json"
    broken.write_text('{"messages": [', "utf-8")
    session = opened.session
    session.select(3)
    session.toggle_pin(3)
    settle(opened, qtbot)
    before = (session.conversation, session.choices, session.selection, verdicts(opened))
    failures: list[str] = []
    opened.show_failure = failures.append  # type: ignore[method-assign]
    opened.open(str(broken))
    settle(opened, qtbot)
    assert len(failures) == 1
    assert "broken.json" in failures[0]
    assert (session.conversation, session.choices, session.selection, verdicts(opened)) == before
    assert session.undo_stack.canUndo()


def test_a_pin_holds_the_whole_group_and_undo_lets_it_go(opened: MainWindow, qtbot: QtBot) -> None:
    session = opened.session
    session.set_budget(150)
    settle(opened, qtbot)
    assert verdicts(opened)[2:5] == [Verdict.EVICT] * 3
    session.toggle_pin(4)
    settle(opened, qtbot)
    assert verdicts(opened)[2:5] == [Verdict.KEEP] * 3
    assert session.plan is not None
    assert session.plan.pinned.tolist()[2:5] == [True] * 3
    session.undo_stack.undo()
    settle(opened, qtbot)
    assert verdicts(opened)[2:5] == [Verdict.EVICT] * 3
    session.undo_stack.redo()
    session.toggle_pin(2)  # any member of the group unpins it
    settle(opened, qtbot)
    assert not session.settings.pins


def test_a_drag_is_one_undo_entry(opened: MainWindow) -> None:
    session = opened.session
    before = session.settings.budget.input
    session.begin_drag()
    for tokens in range(5_000, 4_000, -50):
        session.set_budget(tokens)
    session.end_drag()
    session.begin_drag()
    session.set_budget(900)
    session.end_drag()
    assert session.undo_stack.count() == 2
    session.undo_stack.undo()
    session.undo_stack.undo()
    assert session.settings.budget.input == before


def test_a_drag_that_comes_back_leaves_no_entry(opened: MainWindow) -> None:
    session = opened.session
    before = session.settings.budget.input
    session.begin_drag()
    session.set_budget(5_000)
    session.set_budget(before)
    session.end_drag()
    assert session.undo_stack.count() == 0


def test_many_moves_within_a_frame_are_planned_once(opened: MainWindow, qtbot: QtBot) -> None:
    planned: list[int] = []
    session = opened.session
    session.planned.connect(lambda: planned.append(session.settings.budget.input))
    for tokens in range(1_000, 0, -100):
        session.set_budget(tokens)
    settle(opened, qtbot)
    assert planned == [100]


def test_marks_change_the_zone_and_back(opened: MainWindow, qtbot: QtBot) -> None:
    session = opened.session
    session.toggle_retrieved(5)
    settle(opened, qtbot)
    assert session.plan is not None
    assert session.plan.zones[5] == Zone.RETRIEVED
    session.undo_stack.undo()
    settle(opened, qtbot)
    assert session.plan.zones[5] != Zone.RETRIEVED


def test_each_policy_keeps_its_options(opened: MainWindow) -> None:
    session = opened.session
    session.set_policy("sliding-window")
    session.set_option("max_messages", 4)
    session.set_policy("full")
    assert "max_messages" not in session.options()
    session.set_policy("sliding-window")
    assert session.options()["max_messages"] == 4


def test_an_option_without_sense_is_refused_in_a_sentence(opened: MainWindow) -> None:
    session = opened.session
    session.set_policy("sliding-window")
    refused: list[str] = []
    session.refused.connect(refused.append)
    session.set_option("max_messages", -3)
    assert refused == ["Newest messages is at least 1, not -3."]
    assert session.options()["max_messages"] == 20


def test_the_watermark_of_the_bar_is_the_trigger_of_the_policy(
    opened: MainWindow, qtbot: QtBot
) -> None:
    session = opened.session
    session.set_policy("summary")
    session.set_budget(1_000)
    session.set_watermark(0.3)
    settle(opened, qtbot)
    assert session.options()["trigger"] == 0.3
    assert session.plan is not None
    assert session.plan.watermark == 300
    session.set_option("trigger", 0.5)
    settle(opened, qtbot)
    assert session.plan.watermark == 500


def test_search_looks_into_texts_and_tool_arguments(opened: MainWindow, qtbot: QtBot) -> None:
    session = opened.session
    session.set_query("RYE.MD")
    settle(opened, qtbot)
    assert session.matches.tolist() == [2]
    assert session.selection == 2
    session.set_query("rye")
    settle(opened, qtbot)
    assert session.matches.tolist() == [1, 2, 3, 4]
    session.step_match(-1)
    assert session.selection == 1
    session.step_match(-1)
    assert session.selection == 4
    session.step_match(1)
    assert session.selection == 1
    session.set_query("no such words")
    settle(opened, qtbot)
    assert session.matches.size == 0


@pytest.mark.parametrize(
    ("wanted", "shown"),
    [
        (Filter(role=Role.USER), [1, 6, 8]),
        (Filter(tool="check_pantry"), [2, 4]),
        (Filter(zone=Zone.SYSTEM), [0]),
        (Filter(verdict=Verdict.EVICT), [2, 3, 4]),
        (Filter(role=Role.TOOL, tool="read_recipe"), [3]),
    ],
)
def test_filters(opened: MainWindow, qtbot: QtBot, wanted: Filter, shown: list[int]) -> None:
    session = opened.session
    session.set_budget(150)
    settle(opened, qtbot)
    session.set_filter(wanted)
    assert session.visible is not None
    assert session.visible.tolist() == shown
    session.set_filter(Filter())
    assert session.visible is None


def test_a_model_brings_its_window(opened: MainWindow, qtbot: QtBot) -> None:
    session = opened.session
    session.set_model("gpt-4o-mini")
    settle(opened, qtbot)
    assert session.settings.budget.window == 128_000
    session.undo_stack.undo()
    settle(opened, qtbot)
    assert session.settings.budget.window == 200_000


def test_a_newer_job_wins_and_the_older_result_is_dropped(qtbot: QtBot) -> None:
    runner: Runner[str] = Runner()
    results: list[str] = []
    release = threading.Event()

    def slow(job: Job) -> str:
        release.wait(10)
        return "old"

    runner.start(slow, results.append, lambda error: results.append(str(error)))
    runner.start(lambda job: "new", results.append, lambda error: results.append(str(error)))
    qtbot.waitUntil(lambda: bool(results))
    release.set()
    runner.close()
    qtbot.wait(20)
    assert results == ["new"]


def test_a_job_that_fails_is_reported_on_the_gui_thread(qtbot: QtBot) -> None:
    runner: Runner[None] = Runner()
    seen: list[tuple[str, bool]] = []

    def broken(job: Job) -> None:
        raise ValueError("no")

    def failed(error: BaseException) -> None:
        seen.append((str(error), threading.current_thread() is threading.main_thread()))

    runner.start(broken, lambda _result: None, failed)
    qtbot.waitUntil(lambda: bool(seen))
    assert seen == [("no", True)]
    assert not runner.busy
    runner.close()
