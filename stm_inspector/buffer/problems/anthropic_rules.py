"""The rules of the Anthropic Messages API, with what it answers when one is broken."""

from __future__ import annotations

from stm_inspector.buffer.plan import Severity
from stm_inspector.buffer.problems.rule import Rule

ERROR, WARNING = Severity.ERROR, Severity.WARNING

A1 = Rule(
    "A1",
    ERROR,
    "each tool_use is answered in the very next user message",
    'The tool call {ids} is not answered in the next message. The API answers: "`tool_use` ids '
    'were found without `tool_result` blocks immediately after".',
    "Keep the result with its call (locks on, or pin one of them), or drop the call too.",
    "Add the missing result right behind the call (the log may have ended before it came), or "
    "leave the call out of the request.",
    "OpenHarness#191, langchain#29637, pi#1764",
)
A2 = Rule(
    "A2",
    ERROR,
    "each tool_result refers to a tool_use in the previous message",
    'The tool result {ids} has no call in the message before it. The API answers: "unexpected '
    '`tool_use_id` found in `tool_result` blocks".',
    "Keep the call with its result (locks on, or pin one of them), or drop the result too.",
    "Put the result right behind its call, or leave it out of the request.",
    "claude-code#8484, claude-code#24670, CopilotKit#2450",
)
A3 = Rule(
    "A3",
    ERROR,
    "each tool_use has one result",
    'The tool call {ids} is answered more than once. The API answers: "each tool_use must have a '
    'single result".',
    "Keep one result of the call and drop the others.",
    "Keep one result of the call and drop the others.",
    "atomic#2051",
)
A4 = Rule(
    "A4",
    ERROR,
    "the results of parallel calls share one user message",
    "The result {ids} stands in another message than the results of the calls made beside it. The "
    'API answers: "`tool_use` ids were found without `tool_result` blocks immediately after".',
    "Move all results of one answer into one user message.",
    "Move all results of one answer into one user message.",
    "sudocode#546, superdav-ai-agent#1037",
)
A5 = Rule(
    "A5",
    ERROR,
    "results come before any text of their user message",
    "The tool result {ids} stands behind other content of its user message. The API reports its "
    'call as unanswered: "`tool_use` ids were found without `tool_result` blocks immediately '
    'after".',
    "Move what was put in between to a place behind the result.",
    "Move the results to the front of their message.",
    "the provider's guide to tool use",
)
A6 = Rule(
    "A6",
    ERROR,
    "the first message is the user's",
    "The first message is not the user's. The API answers: 'first message must use the \"user\" "
    "role' (reported up to 2024).",
    "Protect the anchor, or let the window begin at a user message.",
    "Begin the request with a user message.",
    "lobehub#1601, chatbot-ui#1656, Flowise#2516, py-shiny#1530",
)
A7 = Rule(
    "A7",
    ERROR,
    "no message is empty, but for the assistant's at the end",
    'The message has no content. The API answers: "all messages must have non-empty content '
    'except for the optional final assistant message".',
    "Drop the message, or put a text in it.",
    "Drop the message, or put a text in it.",
    "claude-code#3196, claude-code#6774, crewAI#4427, langchain#35081",
)
A8 = Rule(
    "A8",
    ERROR,
    "no text block is empty",
    'A text block is empty. The API answers: "text content blocks must be non-empty".',
    "Drop the empty block, or put a text in it.",
    "Drop the empty block, or put a text in it.",
    "claude-code#863",
)
A9 = Rule(
    "A9",
    ERROR,
    "no cache marker on an empty block",
    'A cache marker sits on an empty text block. The API answers: "cache_control cannot be set '
    'for empty text blocks".',
    "Move the cache marker to a block with text.",
    "Move the cache marker to a block with text.",
    "claude-code#55302, claude-code#53671, dario#1066",
)
A10 = Rule(
    "A10",
    ERROR,
    "at most four cache markers",
    'There are {count} cache markers. The API answers: "A maximum of 4 blocks with cache_control '
    'may be provided. Found {count}".',
    "Remove cache markers until four are left.",
    "Remove cache markers until four are left.",
    "continue#6937, Anthropic.SDK#50, sub2api#2018",
)
A11 = Rule(
    "A11",
    ERROR,
    "with thinking on, the answer that runs tools opens with its thinking",
    "Thinking is on, and the answer whose tools are running does not open with its thinking. The "
    'API answers: "Expected `thinking` or `redacted_thinking`, but found `tool_use`".',
    "Keep the current turn from its first answer on, or switch thinking off for this request.",
    "Send the thinking back with the answer, or switch thinking off for this request.",
    "opencode#3077, kilocode#5219, haystack-core-integrations#2146",
)
A12 = Rule(
    "A12",
    ERROR,
    "the latest answer's thinking is sent back unchanged",
    "The latest answer of the assistant loses or changes its thinking. The API answers: "
    '"`thinking` or `redacted_thinking` blocks in the latest assistant message cannot be '
    'modified".',
    "Leave the latest answer as it was: keep the current turn.",
    "Send the latest answer as the API returned it.",
    "claude-code#13012, claude-code#12311, claude-code#24087",
)
A13 = Rule(
    "A13",
    ERROR,
    "with thinking off, the last message holds none",
    'Thinking is off, and the last message is an answer with thinking. The API answers: "When '
    "thinking is disabled, an `assistant` message in the final position cannot contain "
    '`thinking`".',
    "Keep what follows that answer, or switch thinking on.",
    "Leave the thinking out of the last message, or switch thinking on.",
    "forgecode#1853",
)
A14 = Rule(
    "A14",
    WARNING,
    "nothing changes before thinking that is signed over the whole prefix",
    "The plan changes what stands before signed thinking ({count} from here on; the first change "
    "is at message {change}). Models that bind thinking to everything before it answer: "
    '"Invalid `signature` in `thinking` block. The block is bound to a different conversation".',
    "For those models, leave the thinking out of the messages that stay, or set "
    "thinking.block_binding.prefix_mismatch_behavior to drop_block. Others accept it.",
    "Leave the thinking out of the messages that stay.",
    "the provider's notes on preserved thinking",
)
A15 = Rule(
    "A15",
    ERROR,
    "call and result of a server tool stay together",
    "The other half of the server tool {ids} is missing. The API answers that the use was found "
    "without its result block, or that the result has an unexpected `tool_use_id`.",
    "Keep the whole answer that holds both, or drop it.",
    "Drop the result, or restore the call that it belongs to.",
    "anthropic-sdk-python#1151, claude-code#56515, claude-code#64026",
)
A16 = Rule(
    "A16",
    ERROR,
    "no compaction block is empty",
    "A compaction block is empty (summarising had failed). The API answers: "
    '"compaction.content: content can\'t be empty".',
    "Drop the empty compaction block.",
    "Drop the empty compaction block.",
    "ai#13335",
)
NO_MESSAGES = Rule(
    "EMPTY",
    ERROR,
    "a request has at least one message",
    "No message is left to send. The API rejects a request without messages.",
    "Raise the budget, protect a zone, or pin what has to stay.",
    "The recording has no message that could be sent.",
    "the API's reference: messages is a list of at least one",
)
RULES = (A1, A2, A3, A4, A5, A6, A7, A8, A9, A10, A11, A12, A13, A14, A15, A16, NO_MESSAGES)
