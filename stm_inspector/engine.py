"""From a file to a plan to a file, for programs: what the command line and the window do too."""

from __future__ import annotations

import os
import stat
import tempfile
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from stm_inspector.buffer import recorder
from stm_inspector.buffer.budget import DEFAULT_WINDOW, Budget
from stm_inspector.buffer.edits import edit_of
from stm_inspector.buffer.plan import Plan
from stm_inspector.buffer.planner import Planner
from stm_inspector.buffer.replay import Replay
from stm_inspector.buffer.settings import SettingError, Settings
from stm_inspector.conversation.errors import InputError
from stm_inspector.conversation.model import Conversation
from stm_inspector.formats import open_file, write
from stm_inspector.formats.compose import Composed, compose
from stm_inspector.report import report
from stm_inspector.tokens.counting import count
from stm_inspector.tokens.models import Model, find_model

__all__ = [
    "count",
    "export",
    "export_text",
    "load",
    "make_plan",
    "make_settings",
    "model_named",
    "replay",
    "report",
    "write_beside",
]

DEFAULTS = Settings()
Path_ = str | os.PathLike[str]


def load(path: Path_, format: str | None = None, number: int | None = None) -> Conversation:
    """Read a conversation from a file.

    Args:
        path: the file.
        format: id of the format to read it as; None finds out.
        number: which conversation of the file, counted from 0; None takes the default one.

    Raises:
        InputError: the file cannot be read, or holds no such conversation.
    """
    return open_file(path, format=format).load(number)


def make_settings(
    policy: str = DEFAULTS.policy,
    *,
    budget: int | None = None,
    window: int | None = None,
    reply: int | None = None,
    safety: int | None = None,
    tool_headroom: int | None = None,
    model: str | None = None,
    watermark: float | None = None,
    target: float | None = None,
    pins: Iterable[int] = (),
    marks: Mapping[int, bool] | None = None,
    tail_turns: int = DEFAULTS.tail_turns,
    call: int | None = None,
    settings: Mapping[str, Any] | None = None,
) -> Settings:
    """Settings from plain values; what is None is a default (see ``Budget`` and ``Settings``).

    Args:
        budget: the input budget in tokens, outright; then neither window nor reserves count.
        window, reply, safety, tool_headroom: the context window and its reserves, in tokens.
        model: name of a model, whose context window is taken unless ``window`` is given.
        settings: the policy's own settings, typed or as text.

    Raises:
        SettingError: an unknown model, a negative number, or a budget together with what it
            would be made of.
    """
    sizes = {
        "window": window,
        "reply": reply,
        "safety": safety,
        "tool_headroom": tool_headroom,
    }
    given = {name: size for name, size in sizes.items() if size is not None}
    if budget is not None and given:
        raise SettingError(
            f"a budget says outright what the input may cost, so {_words(given)} cannot be given "
            "with it"
        )
    for name, size in {"budget": budget, **given}.items():
        if size is not None and size < 0:
            raise SettingError(f"{name} is a number of tokens, not {size}")
    known = model_named(model) if model is not None else None
    if known is not None and known.window and window is None:
        given["window"] = known.window
    return Settings(
        policy=policy,
        options=dict(settings or {}),
        budget=replace(
            Budget.of_window(given.get("window", DEFAULT_WINDOW)), **given, fixed=budget
        ),
        watermark=watermark,
        target=target,
        pins=frozenset(pins),
        marks=dict(marks or {}),
        tail_turns=tail_turns,
        call=call,
    )


def _words(names: Iterable[str]) -> str:
    return " and ".join(name.replace("_", " ") for name in names)


def model_named(name: str) -> Model:
    """The model of that name, however exactly it is written.

    Raises:
        SettingError: there is none.
    """
    model = find_model(name)
    if model is None:
        raise SettingError(f"there is no model {name!r}; 'stm-inspector models' lists them")
    return model


def make_plan(
    conversation: Conversation,
    policy: str = DEFAULTS.policy,
    *,
    budget: int | None = None,
    counter: str = "auto",
    model: str | None = None,
    **options: Any,
) -> Plan:
    """Plan the buffer of ``conversation``.

    Args:
        policy: id of the policy.
        budget: the input budget in tokens; None makes it from the window and its reserves.
        counter: id of the token counter; "auto" takes the one of the model.
        model: name of the model to plan for; None takes the one in the recording.
        options: the further arguments of ``make_settings``: window, reply, safety,
            tool_headroom, watermark, target, pins, marks, tail_turns, call, settings.

    Raises:
        SettingError: an unknown policy, setting or model, or a value without sense.
        InputError: an unknown counter.
    """
    wanted = make_settings(policy, budget=budget, model=model, **options)
    return _planner(conversation, wanted, counter, model).plan(wanted)


def replay(
    conversation: Conversation,
    policy: str = DEFAULTS.policy,
    *,
    budget: int | None = None,
    counter: str = "auto",
    model: str | None = None,
    **options: Any,
) -> Replay:
    """Plan the buffer at every call of ``conversation``, in order.

    Takes the arguments of ``make_plan`` and raises what it raises; ``call`` is not looked at.
    """
    wanted = make_settings(policy, budget=budget, model=model, **options)
    return recorder.replay(_planner(conversation, wanted, counter, model), wanted)


def _planner(
    conversation: Conversation, settings: Settings, counter: str, model: str | None
) -> Planner:
    check_pins(conversation, settings)
    return Planner(conversation, count(conversation, counter, model=model))


def check_pins(conversation: Conversation, settings: Settings) -> None:
    """Refuse pins and marks of messages that do not exist.

    Raises:
        SettingError: there is no such message.
    """
    last = len(conversation.messages) - 1
    for index in sorted({*settings.pins, *settings.marks}):
        if not 0 <= index <= last:
            raise SettingError(f"there is no message {index} to pin; they are 0 to {last}")


def export_text(conversation: Conversation, plan: Plan, api: str | None = None) -> Composed:
    """The trimmed buffer as the text of a file, and what that file cannot hold.

    Without ``api`` it is a file of the conversation's own format, in which kept messages stand
    exactly as they were read; with one it is a request body of that API. The problem list of the
    plan is not asked: look at ``plan.problems`` first.

    Raises:
        InputError: nothing would be left, there is no such API, or the conversation was not read
            from a file.
    """
    edit, reply = edit_of(conversation, plan), plan.budget.reply
    if api is not None:
        return compose(conversation, edit, api, reply_tokens=reply)
    return Composed(write(conversation, edit, reply_tokens=reply), ())


def export(
    conversation: Conversation, plan: Plan, path: Path_, api: str | None = None
) -> tuple[str, ...]:
    """Write the trimmed buffer to ``path``; see ``export_text``. What was there is replaced.

    Returns:
        What the file cannot hold, one sentence each.

    Raises:
        InputError: ``path`` is the file the conversation was read from, or cannot be written.
    """
    source = conversation.origin.path
    if source is not None and os.path.exists(path) and os.path.samefile(source, path):
        raise InputError(
            f"{os.fspath(path)} is the recording itself, which is never overwritten: choose "
            "another name for the export."
        )
    composed = export_text(conversation, plan, api)
    write_beside(path, composed.text)
    return composed.losses


def write_beside(path: Path_, text: str) -> None:
    """Write ``text`` to a new file beside ``path`` and rename it: never half a file.

    A lone surrogate, which UTF-8 cannot hold, is written as the JSON escape it came from.

    Raises:
        InputError: it cannot be written.
    """
    target = Path(os.path.realpath(path))
    data = text.encode("utf-8", "backslashreplace")
    try:
        if target.exists() and not target.is_file() and not target.is_dir():
            target.write_bytes(data)  # a pipe or a device: there is nothing to rename
        else:
            _replace(target, data)
    except OSError as error:
        reason = error.strerror or str(error)
        raise InputError(f"{os.fspath(path)} cannot be written: {reason}.") from error


def _replace(target: Path, data: bytes) -> None:
    with tempfile.NamedTemporaryFile(
        dir=target.parent, prefix=f".{target.name[:60]}.", delete=False
    ) as beside:
        try:
            beside.write(data)
            beside.flush()
            os.fsync(beside.fileno())
            beside.close()
            os.chmod(beside.name, _mode(target))
            os.replace(beside.name, target)
        except BaseException:
            os.unlink(beside.name)
            raise


def _mode(target: Path) -> int:
    """Permissions of the file that is replaced, or those that a new file gets here."""
    if target.exists():
        return stat.S_IMODE(target.stat().st_mode)
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask
