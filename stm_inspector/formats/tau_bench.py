"""Results of tau-bench. See formats.md section 14e. https://github.com/sierra-research/tau-bench"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from stm_inspector.formats.chat_messages import chat_message, is_chat
from stm_inspector.formats.document import Document
from stm_inspector.formats.transcript import Reading, Talk, TranscriptFormat, objects


class TauBench(TranscriptFormat):
    """The trajectories of the tasks of a run."""

    id = "tau-bench"
    title = "tau-bench results"
    recognised_by = "Records with a task_id and a traj that is a list of messages."
    lacks = "The tool definitions, the model, times and token counts."
    section = "14"
    help = "Reads each task and trial as a conversation. Writes an OpenAI Chat request body."
    not_here = ("The tool definitions and the model are not in the results.",)

    def detect(self, document: Document) -> str | None:
        found = sum(_is_result(value) for value in objects(document))
        return f"task_id and traj ({found:,} times)" if found else None

    def talks(self, document: Document) -> Sequence[Talk]:
        return [
            Talk(partial(_read, value["traj"]), _title(value), messages=len(value["traj"]))
            for value in objects(document)
            if _is_result(value)
        ]


def _is_result(value: dict[str, Any]) -> bool:
    return "task_id" in value and is_chat(value.get("traj"))


def _title(value: dict[str, Any]) -> str:
    words = [f"task {str(value['task_id'])[:40]}"]
    words += [f"{key} {str(value[key])[:20]}" for key in ("trial", "reward") if key in value]
    return ", ".join(words)


def _read(messages: Sequence[Any]) -> Reading:
    return Reading([chat_message(raw) for raw in messages])
