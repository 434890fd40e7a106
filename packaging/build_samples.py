#!/usr/bin/env python3
"""Write the two long sample conversations, by playing a written scenario on a tiny repository.

    python3 packaging/build_samples.py

An imaginary coding agent moves an invoice library from floats to Decimal. What it says is written
in `sample_scenario.py`; what its tools answer is computed here, by really reading, searching and
editing the files of that scenario, so that results are as long and as repetitive as real ones.
The same scenario gives `coding-agent.json` (an OpenAI request body) and the first half of
`claude-code-session.jsonl` (a session log that was compacted half-way). Deterministic: running it
again writes the same bytes. Standard library only.
"""

import json
import uuid
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import sample_scenario as scenario

SAMPLES = Path(__file__).resolve().parent.parent / "resources" / "samples"
NAMESPACE = uuid.UUID("5d7c2f1e-6a3b-4b52-9f5e-0c1f6a2b7d10")
START = datetime(2026, 3, 9, 9, 30, tzinfo=UTC)

Json = dict[str, Any]


class Workspace:
    """The scenario's repository, and the tools that the agent has on it."""

    def __init__(self) -> None:
        self.files = dict(scenario.FILES)

    def run(self, tool: str, arguments: Json) -> str:
        """The answer of `tool`; a wrong path is an answer too, as in life."""
        answers: dict[str, Callable[..., str]] = {
            "list_files": self.list_files,
            "read_file": self.read_file,
            "grep": self.grep,
            "edit_file": self.edit_file,
            "write_file": self.write_file,
        }
        return answers[tool](**arguments)

    def list_files(self) -> str:
        return "\n".join(f"{len(text):6d}  {path}" for path, text in sorted(self.files.items()))

    def read_file(self, path: str) -> str:
        if path not in self.files:
            return f"error: no such file: {path}"
        lines = self.files[path].splitlines()
        return "\n".join(f"{number:4d}  {line}" for number, line in enumerate(lines, 1))

    def grep(self, pattern: str) -> str:
        hits = [
            f"{path}:{number}: {line.strip()}"
            for path, text in sorted(self.files.items())
            for number, line in enumerate(text.splitlines(), 1)
            if pattern in line
        ]
        return "\n".join(hits) or "no match"

    def edit_file(self, path: str, old: str, new: str) -> str:
        found = self.files[path].count(old)
        if found != 1:
            return f"error: the text to replace occurs {found} times in {path}, must be 1"
        before = self.files[path]
        self.files[path] = before.replace(old, new)
        line = before[: before.index(old)].count("\n") + 1
        removed = "\n".join(f"-{part}" for part in old.splitlines())
        added = "\n".join(f"+{part}" for part in new.splitlines())
        return f"edited {path} at line {line}\n{removed}\n{added}"

    def write_file(self, path: str, content: str) -> str:
        self.files[path] = content
        return f"wrote {path} ({len(content.splitlines())} lines)"


def openai_body() -> Json:
    """The whole scenario as the request body of the next call."""
    workspace, messages, calls = Workspace(), [{"role": "system", "content": scenario.SYSTEM}], 0
    for step in scenario.STEPS:
        if isinstance(step, str):
            messages.append({"role": "user", "content": step})
            continue
        said, *uses = step
        message: Json = {"role": "assistant", "content": said or None}
        results = []
        for tool, arguments, *told in uses:
            calls += 1
            identity = f"call_{calls:04d}"
            function = {"name": tool, "arguments": json.dumps(arguments)}
            message.setdefault("tool_calls", []).append(
                {"id": identity, "type": "function", "function": function}
            )
            answer = told[0] if told else workspace.run(tool, arguments)
            results.append({"role": "tool", "tool_call_id": identity, "content": answer})
        messages += [message, *results]
    functions = [{"type": "function", "function": tool} for tool in scenario.TOOLS]
    return {"model": "gpt-4.1", "tools": functions, "messages": messages}


class SessionLog:
    """Writes records as Claude Code does: a piece of a response a line, chained by parents."""

    def __init__(self) -> None:
        self.records: list[Json] = []
        self.parent: str | None = None
        self.clock = START

    def append(self, kind: str, **fields: Any) -> None:
        self.clock += timedelta(seconds=7)
        identity = str(uuid.uuid5(NAMESPACE, f"record {len(self.records)}"))
        self.records.append(
            {
                "parentUuid": self.parent,
                "isSidechain": False,
                "userType": "external",
                "cwd": "/home/dev/ledger",
                "sessionId": str(uuid.uuid5(NAMESPACE, "session")),
                "version": "2.1.42",
                "gitBranch": "decimal-money",
                "type": kind,
                **fields,
                "uuid": identity,
                "timestamp": self.clock.isoformat().replace("+00:00", "Z"),
            }
        )
        self.parent = identity

    def prompt(self, content: Any, **fields: Any) -> None:
        self.append("user", message={"role": "user", "content": content}, **fields)

    def response(self, number: int, blocks: list[Json], prompt_tokens: int) -> None:
        """One line a block, all with the response's id; the usage grows to its last value."""
        for index, block in enumerate(blocks):
            last = index == len(blocks) - 1
            written = sum(len(json.dumps(b)) for b in blocks) // 4 if last else 8
            usage = {
                "input_tokens": 4,
                "cache_creation_input_tokens": 350,
                "cache_read_input_tokens": prompt_tokens,
                "output_tokens": written,
            }
            stop = "tool_use" if blocks[-1]["type"] == "tool_use" else "end_turn"
            message = {
                "id": f"msg_{number:04d}",
                "type": "message",
                "role": "assistant",
                "model": "claude-sonnet-4-5-20250929",
                "content": [block],
                "stop_reason": stop if last else None,
                "stop_sequence": None,
                "usage": usage,
            }
            self.append("assistant", message=message, requestId=f"req_{number:04d}")


NATIVE = {
    "list_files": "Glob",
    "read_file": "Read",
    "grep": "Grep",
    "edit_file": "Edit",
    "write_file": "Write",
    "run_tests": "Bash",
}


def native(tool: str, arguments: Json) -> Json:
    """The arguments as Claude Code's own tool of the same purpose takes them."""
    names = {"path": "file_path", "old": "old_string", "new": "new_string"}
    translated = {names.get(key, key): value for key, value in arguments.items()}
    if tool == "list_files":
        return {"pattern": "**/*.py"}
    if tool == "run_tests":
        return {"command": "python -m pytest -q " + arguments.get("path", ""), "timeout": 120000}
    return translated


def session_records() -> list[Json]:
    """The scenario up to its pause, a compaction, and the steps after it."""
    workspace, log, calls = Workspace(), SessionLog(), 0
    prompt_tokens = 16_000
    for number, step in enumerate(scenario.STEPS[: scenario.PAUSE] + scenario.AFTER_COMPACTION):
        if number == scenario.PAUSE:
            log.parent = None
            log.append(
                "system",
                subtype="compact_boundary",
                content="Conversation compacted",
                level="info",
                compactMetadata={"trigger": "manual", "preTokens": prompt_tokens},
            )
            log.prompt(scenario.COMPACTION, isCompactSummary=True)
            prompt_tokens = 17_000
        if isinstance(step, str):
            log.prompt(step)
            continue
        said, *uses = step
        blocks: list[Json] = [{"type": "text", "text": said}] if said else []
        results = []
        for tool, arguments, *told in uses:
            calls += 1
            identity = f"toolu_{calls:04d}"
            use = {"name": NATIVE[tool], "input": native(tool, arguments)}
            blocks.append({"type": "tool_use", "id": identity, **use})
            answer = told[0] if told else workspace.run(tool, arguments)
            result = {"tool_use_id": identity, "type": "tool_result", "content": answer}
            results.append((result, answer))
        log.response(number, blocks, prompt_tokens)
        for result, answer in results:
            log.prompt([result], toolUseResult={"stdout": answer})
            prompt_tokens += len(answer) // 3
    title = {"type": "summary", "summary": "Move the ledger to Decimal", "leafUuid": log.parent}
    return [title, *log.records]


def write(name: str, text: str) -> None:
    (SAMPLES / name).write_text(text, encoding="utf-8", newline="\n")
    print(f"{name}: {len(text.encode()):,} bytes")


def main() -> None:
    body = openai_body()
    write("coding-agent.json", json.dumps(body, ensure_ascii=False, indent=1) + "\n")
    lines = [json.dumps(record, ensure_ascii=False) + "\n" for record in session_records()]
    write("claude-code-session.jsonl", "".join(lines))


if __name__ == "__main__":
    main()
