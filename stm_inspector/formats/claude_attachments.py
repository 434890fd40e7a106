"""What Claude Code's ``attachment`` records put before the model, kind by kind.

The record holds the data, not the sentence that the harness wraps around it. A kind that is not
listed here, or whose record holds no text, is left out, and the reader says so.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from stm_inspector.formats.parts import as_text, string

Attachment = dict[str, Any]

NOT_SENT = frozenset(
    (
        "command_permissions",
        "hook_cancelled",
        "hook_non_blocking_error",
        "hook_system_message",
        "structured_output",
    )
)
"""Kinds that only the window or the harness itself uses."""


def text_of(attachment: Attachment) -> str:
    """The text that an attachment puts before the model; "" where the record holds none."""
    reader = _READERS.get(str(attachment.get("type")))
    return reader(attachment) if reader is not None else ""


def _member(*path: str) -> Callable[[Attachment], str]:
    def read(attachment: Attachment) -> str:
        value: Any = attachment
        for key in path:
            value = value.get(key) if isinstance(value, dict) else None
        return _words(value)

    return read


def _words(value: Any) -> str:
    """A text, or the texts of a list of texts, blocks or objects."""
    if isinstance(value, str):
        return value
    if isinstance(value, list):
        return "\n".join(word for item in value if (word := _words(item)))
    if isinstance(value, dict):
        return string(value.get("text")) or string(value.get("content")) or as_text(value)
    return ""


def _with_name(name: str, text: str) -> Callable[[Attachment], str]:
    def read(attachment: Attachment) -> str:
        body = _words(attachment.get(text))
        return f"{_words(attachment.get(name))}\n{body}" if body else ""

    return read


def _hook_output(attachment: Attachment) -> str:
    """Only at these two events is the output of a hook that went well put before the model:
    https://docs.claude.com/en/docs/claude-code/hooks ("Simple: exit code").
    """
    told = attachment.get("hookEvent") in ("SessionStart", "UserPromptSubmit")
    return _words(attachment.get("content")) if told else ""


def _file(attachment: Attachment) -> str:
    content = attachment.get("content")
    file = content.get("file") if isinstance(content, dict) else None
    text = string(file.get("content")) if isinstance(file, dict) else None
    return f"{_words(attachment.get('filename'))}\n{text}" if text else ""


_READERS: dict[str, Callable[[Attachment], str]] = {
    "agent_listing_delta": _member("addedLines"),
    "batching_reminder_sent": _member("text"),
    "critical_system_reminder": _member("content"),
    "date_change": _member("newDate"),
    "deferred_tools_delta": _member("addedLines"),
    "edited_text_file": _with_name("filename", "snippet"),
    "file": _file,
    "hook_additional_context": _member("content"),
    "hook_blocking_error": _member("blockingError", "blockingError"),
    "hook_success": _hook_output,
    "invoked_skills": _member("skills"),
    "mcp_instructions_delta": _member("addedBlocks"),
    "nested_memory": _member("content", "content"),
    "queued_command": _member("prompt"),
    "read_truncation_notice": _member("banner"),
    "selected_lines_in_ide": _with_name("filename", "content"),
    "silent_turn_reminder": _member("text"),
    "skill_listing": _member("content"),
    "task_reminder": _member("content"),
    "todo_reminder": _member("content"),
    "total_tokens_reminder": _member("text"),
}
