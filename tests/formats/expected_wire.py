"""What the recordings of these APIs hold, counted from the files themselves.

Counted by a script of its own that shares no code with the package: plain ``json.loads``, the
first of the longest requests of a log with its response; instructions or a system prompt, and
the list of tools, are a message each where they are not empty. A Responses item that is call and
result in one record counts as one of each. Of LangChain, neither RemoveMessage nor what it takes
out is a message.
"""

SAMPLES: dict[str, tuple[str, int, int, int]] = {
    "openai-responses/code-interpreter.request.json": ("openai-responses", 6, 1, 1),
    "openai-responses/compact-messages.log.jsonl": ("openai-responses", 5, 0, 0),
    "openai-responses/image-generation-jpeg.log.jsonl": ("openai-responses", 5, 1, 1),
    "openai-responses/mcp-server-tool.log.jsonl": ("openai-responses", 11, 1, 1),
    "openai-responses/nilenso-input-items-list.json": ("openai-responses", 7, 1, 1),
    "openai-responses/phase.log.jsonl": ("openai-responses", 8, 1, 1),
    "openai-responses/reasoning-content.request.json": ("openai-responses", 5, 1, 1),
    "openai-responses/thinking-tools.response.json": ("openai-responses", 2, 1, 0),
    "openai-responses/tool-search.log.jsonl": ("openai-responses", 14, 4, 4),
    "openai-responses/web-search.log.jsonl": ("openai-responses", 12, 2, 2),
    "gemini-contents/gemini-cli-NotFollowingUserIntent.json": ("gemini", 127, 56, 56),
    "gemini-contents/gemini-cli-error-report.json": ("gemini", 27, 12, 12),
    "gemini-contents/gemini-cli-scenario-c-compiler.json": ("gemini", 100, 7, 7),
    "gemini-contents/model_cached_content.request.json": ("gemini", 1, 0, 0),
    "gemini-contents/model_file_search_grounding_gemini_3-True.request.json": ("gemini", 4, 1, 1),
    "gemini-contents/model_image_url_input.request.json": ("gemini", 2, 0, 0),
    "gemini-contents/model_receive_web_search_history_from_another_provider.request.json": (
        "gemini",
        3,
        0,
        0,
    ),
    "gemini-contents/model_structured_output.request.json": ("gemini", 5, 1, 1),
    "gemini-contents/model_thinking_part.request.json": ("gemini", 5, 0, 0),
    "gemini-contents/retry.log.jsonl": ("gemini", 8, 2, 2),
    "gemini-contents/test_thinking_with_tool_calls_from_other_model.request.json": (
        "gemini",
        4,
        1,
        1,
    ),
    "gemini-contents/web-search.log.jsonl": ("gemini", 6, 0, 0),
    "bedrock-converse/anthropic_tool_with_thinking.request.json": ("bedrock-converse", 4, 1, 1),
    "bedrock-converse/cache.log.jsonl": ("bedrock-converse", 4, 0, 0),
    "bedrock-converse/cache_write_and_read.request.json": ("bedrock-converse", 3, 0, 0),
    "bedrock-converse/mistral_two_tool_returns_images_accepted.request.json": (
        "bedrock-converse",
        6,
        2,
        2,
    ),
    "bedrock-converse/model_structured_output.request.json": ("bedrock-converse", 7, 1, 1),
    "bedrock-converse/model_thinking_part_redacted.request.json": ("bedrock-converse", 3, 0, 0),
    "langchain/dumps.json": ("langchain", 9, 5, 3),
    "langchain/messages_to_dict.json": ("langchain", 9, 5, 3),
    "langchain/model_dump.json": ("langchain", 9, 5, 3),
    "proxy-captures/context-lens-antigravity-request.json": ("gemini", 6, 0, 0),
    "langsmith/runs.json": ("langsmith", 5, 1, 1),
    "langsmith/runs.jsonl": ("langsmith", 5, 1, 1),
}
"""File -> (format, messages, tool calls, tool results)."""
