"""What the exports and framework files beside the project hold, counted from the files themselves.

Counted by a script of its own that shares no code with the package: plain ``json.loads`` and
``sqlite3``; of a tree every leaf with its chain of parents; a set of tool definitions or a system
prompt outside the messages is one message more. A thought that AutoGen logs on its own belongs to
the call behind it; a record with calls, results and text in it is a message for each step.
"""

EXPORTS: dict[str, tuple[str, int, int, int, int]] = {
    "aider/agentsview.aider.chat.history.md": ("aider", 2, 8, 0, 0),
    "autogen/agent_state.json": ("autogen", 1, 22, 14, 14),
    "autogen/task_result_messages.json": ("autogen", 1, 22, 14, 14),
    "autogen/team_state.json": ("autogen", 2, 44, 28, 28),
    "chatbotui-export/chatbotui-export.json": ("chatbot-ui", 2, 8, 0, 0),
    "chatgpt-export/chatgpt-citations.json": ("chatgpt", 1, 2, 0, 1),
    "chatgpt-export/chatgpt-tree.json": ("chatgpt", 3, 18, 0, 0),
    "chatgpt-export/polylogue-native-conversation-v1.json": ("chatgpt", 2, 10, 1, 1),
    "librechat-export/librechat-export.json": ("librechat", 1, 6, 0, 0),
    "librechat-export/librechat-opts-nonr-branches.json": ("librechat", 3, 6, 0, 0),
    "llama-index/chat_memory_buffer.to_string.json": ("llama-index", 1, 8, 3, 3),
    "llama-index/chat_messages.json": ("llama-index", 1, 8, 3, 3),
    "llama-index/simple_chat_store.json": ("llama-index", 1, 8, 3, 3),
    "llm-logs-db/logs-0.27-old-schema.db": ("llm-logs-db", 1, 10, 4, 4),
    "llm-logs-db/logs.db": ("llm-logs-db", 2, 12, 6, 4),
    "ollama/handmade-api-chat.log.jsonl": ("ollama", 2, 7, 2, 1),
    "open-webui/librechat-fixture-openwebui-export.json": ("open-webui", 3, 8, 1, 1),
    "pydantic-ai/all_messages.json": ("pydantic-ai", 1, 8, 3, 3),
    "semantic-kernel/chat_history.json": ("semantic-kernel", 1, 6, 2, 2),
    "sharegpt/glaive_toolcall_en_demo.json": ("sharegpt", 300, 2105, 211, 211),
    "sharegpt/mllm_demo.json": ("sharegpt", 6, 24, 0, 0),
    "sharegpt/reason_tool_use_demo_50.jsonl": ("sharegpt", 50, 322, 68, 47),
    "sharegpt/v1_multimodal_demo.jsonl": ("sharegpt", 24, 96, 0, 0),
    "vercel-ai-sdk/chat-store.v6.json": ("vercel-ai-sdk", 1, 4, 2, 2),
    "vercel-ai-sdk/response-messages.v6.json": ("vercel-ai-sdk", 1, 3, 2, 2),
}
"""File -> (format, conversations; of all of them: messages, tool calls, tool results)."""
