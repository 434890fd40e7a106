"""What happens off the GUI thread when a file is opened or counted. No Qt here."""

from __future__ import annotations

import gc
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from stm_inspector.app.find import Index, build_index
from stm_inspector.buffer.planner import Planner
from stm_inspector.buffer.settings import Settings
from stm_inspector.checkpoint import Checkpoint, load_checkpoint
from stm_inspector.conversation.errors import InputError
from stm_inspector.conversation.model import Conversation
from stm_inspector.engine import check_pins
from stm_inspector.formats import Recording, open_file
from stm_inspector.tokens.counting import count, quick
from stm_inspector.tokens.counts import TokenCounts


@dataclass(frozen=True, eq=False, slots=True)
class Opened:
    """A conversation ready to be shown: read, indexed, and counted at least roughly.

    ``checkpoint`` is the one that it was opened by, or None.
    """

    recording: Recording
    conversation: Conversation
    index: Index
    counts: TokenCounts
    planner: Planner
    checkpoint: Checkpoint | None = None


@dataclass(frozen=True, eq=False, slots=True)
class Counted:
    """A conversation counted anew."""

    counts: TokenCounts
    planner: Planner


def open_recording(path: str, format: str | None) -> Recording:
    """Open ``path``; raises InputError for whatever is wrong with it."""
    try:
        return open_file(path, format=format)
    except MemoryError as error:
        raise InputError(
            f"{Path(path).name} does not fit into this computer's memory: split it into smaller "
            "files."
        ) from error


def open_checkpoint(path: str, check: Callable[[], None]) -> Opened:
    """What a checkpoint is of, ready to be shown.

    Raises:
        InputError: the checkpoint or its transcript is not what it should be.
        SettingError: its settings make no sense for the transcript.
    """
    stored = load_checkpoint(path)
    check()
    recording = open_recording(stored.file, stored.format)
    opened = prepare(recording, stored.number, stored.counter, stored.settings, check)
    last = len(opened.conversation.messages) - 1
    if stored.selection is not None and stored.selection > last:
        raise InputError(
            f"{Path(path).name} selects message {stored.selection}; the last is {last}."
        )
    return replace(opened, checkpoint=stored)


def prepare(
    recording: Recording,
    number: int | None,
    counter: str,
    settings: Settings,
    check: Callable[[], None],
) -> Opened:
    """Load one conversation of ``recording``, count it roughly, and plan it once.

    The plan itself is thrown away; what the planner keeps of it makes the next ones fast.
    ``check`` is called between the steps and raises to give up.

    Raises:
        InputError: there is no such conversation.
        SettingError: ``settings`` make no sense for it.
    """
    gc.unfreeze()
    conversation = recording.load(number)
    # Nothing of it is garbage: to find that out, the collector would stop the window for many
    # frames. The next file that is opened gives back what has become garbage until then.
    gc.freeze()
    check()
    index = build_index(conversation)
    check()
    counts = quick(conversation, counter)
    check()
    planner = Planner(conversation, counts)
    check_pins(conversation, settings)
    planner.plan(settings)
    return Opened(recording, conversation, index, counts, planner)


def recount(
    conversation: Conversation,
    counter: str,
    model: str | None,
    settings: Settings,
    progress: Callable[[float], None],
    cancelled: Callable[[], bool],
) -> Counted:
    """Count ``conversation`` properly and make a planner for the result, warm as above."""
    counts = count(conversation, counter, model=model, progress=progress, cancelled=cancelled)
    planner = Planner(conversation, counts)
    planner.plan(settings)
    return Counted(counts, planner)
