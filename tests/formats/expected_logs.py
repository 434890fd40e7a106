"""What the logs beside the project hold, counted from the files themselves.

Counted by a script of its own that shares no code with the package: plain ``json.loads``,
``sqlite3`` and the ``zstd`` program. A call of a model is its input, its answer, and one message
more each for tool definitions and system instructions beside them.
"""

LOGS: dict[str, tuple[str, int, int, int, int]] = {
    "hermes/large.json": ("hermes", 1, 6, 1, 1),
    "inspect-ai/gen-mockllm-0.3.285.eval": ("inspect-ai", 8, 54, 14, 10),
    "inspect-ai/gen-mockllm-0.3.285.json": ("inspect-ai", 8, 54, 14, 10),
    "inspect-ai/log_images_tc.json": ("inspect-ai", 1, 3, 0, 0),
    "inspect-ai/log_streaming.eval": ("inspect-ai", 8, 24, 0, 0),
    "inspect-ai/log_tool_call_error.json": ("inspect-ai", 1, 11, 0, 11),
    "inspect-ai/real-security-guide-2025-05.json": ("inspect-ai", 9, 24, 0, 0),
    "langfuse/langfuse-1.json": ("langfuse", 1, 5, 0, 0),
    "langfuse/langfuse-3.json": ("langfuse", 1, 4, 0, 0),
    "langgraph/checkpoints.sqlite": ("langgraph", 24, 168, 62, 68),
    "mini-swe-agent/github_issue.traj.json": ("mini-swe-agent", 1, 22, 0, 0),
    "mini-swe-agent/local.traj.json": ("mini-swe-agent", 1, 6, 0, 0),
    "otel-genai/openinference-rag-earnings.otlp.json": ("openinference", 1, 2, 0, 0),
    "otel-genai/pydantic-ai-spans.to_json.json": ("otel-genai", 2, 12, 4, 2),
    "swe-agent-traj/ctf_i_got_id_demo.traj": ("swe-agent", 1, 43, 0, 0),
    "swe-agent-traj/default_window100_0.x.traj": ("swe-agent", 1, 25, 0, 0),
    "swe-agent-traj/function_calling_replace.traj": ("swe-agent", 1, 24, 11, 11),
    "swe-agent-traj/function_calling_simple.traj": ("swe-agent", 1, 12, 5, 5),
}
"""File -> (format, conversations; of all of them: messages, tool calls, tool results)."""

WITHOUT_MESSAGES = ("vs-copilot-traces/sample-1.jsonl", "vs-copilot-traces/sample-4.jsonl")
"""Traces by a tracer that records no content."""
