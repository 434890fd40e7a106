"""Build resources/models.json from a table of models as the PyPI package litellm ships it.

    python packaging/build_models.py SOURCE OUT [--date YYYY-MM-DD]

SOURCE is a JSON object: model name -> {"litellm_provider", "mode", "max_input_tokens", ...}, prices
in US$ per token. OUT holds what the app uses and no more: chat models, also those that only old
recordings name. Needs tiktoken, whose own table says which encoding a model of OpenAI's counts by.
"""

from __future__ import annotations

import argparse
import datetime
import json
import re
from pathlib import Path
from typing import Any

from tiktoken.model import encoding_name_for_model

SOURCE = "Selected from the model table of litellm 1.110.2 (MIT, © Berri AI)"

# Where several providers serve a model, the first here is the one that made it.
PROVIDERS = {
    "openai": ("OpenAI", "openai-chat"),
    "anthropic": ("Anthropic", "anthropic-messages"),
    "gemini": ("Google", "gemini"),
    "deepseek": ("DeepSeek", "openai-chat"),
    "xai": ("xAI", "openai-chat"),
    "moonshot": ("Moonshot", "openai-chat"),
    "zai": ("Z.ai", "openai-chat"),
    "mistral": ("Mistral", "openai-chat"),
    "dashscope": ("Alibaba", "openai-chat"),
}

ENCODINGS = ("o200k_base", "cl100k_base")
"""Those that the app bundles."""

NO_CHAT = re.compile(
    r"audio|realtime|tts|voxtral|search|research|robotics|lyria|live|guard|computer-use|code-fim"
    r"|learnlm|customtools|omni|-exp\b|-exp-|beta|vision-preview|embed|cyber|rosalind|-law\b"
    r"|daybreak|multi-agent|-gv2|experimental|leanstral|gemini-gemma|with-tools"
)
SNAPSHOT = re.compile(r"-(?:\d{4}-\d{2}-\d{2}|\d{8}|\d{4}|\d{2}-\d{4}|latest)$")

PRICES = {
    "input": "input_cost_per_token",
    "output": "output_cost_per_token",
    "cache_read": "cache_read_input_token_cost",
    "cache_write": "cache_creation_input_token_cost",
    "cache_write_1h": "cache_creation_input_token_cost_above_1hr",
}


def main() -> None:
    """Read the arguments and write the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("source", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--date", default=datetime.date.today().isoformat(), help="of the source")
    arguments = parser.parse_args()
    table = json.loads(arguments.source.read_text("utf-8"))
    models = select(table)
    document = {"source": SOURCE, "date": arguments.date, "models": models}
    arguments.out.write_text(json.dumps(document, indent=1, ensure_ascii=False) + "\n", "utf-8")
    print(f"{len(models)} of {len(table)} models")


def select(table: dict[str, dict[str, Any]]) -> list[dict[str, Any]]:
    """The rows of the app's table, by provider and name."""
    rows: dict[str, dict[str, Any]] = {}
    seen: set[str] = set()
    for full_name, facts in sorted(table.items(), key=lambda item: _place(item[1])):
        name = full_name.rpartition("/")[2]
        plain = name.replace(".", "-")
        if _is_offered(name, facts) and plain not in seen:
            seen.add(plain)
            rows[name] = _row(name, facts)
    for name in list(rows):
        if SNAPSHOT.sub("", name) in rows.keys() - {name}:
            del rows[name]
    order = [provider for provider, _ in PROVIDERS.values()]
    return sorted(rows.values(), key=lambda row: (order.index(row["provider"]), row["name"]))


def _place(facts: dict[str, Any]) -> int:
    known = list(PROVIDERS)
    provider = facts.get("litellm_provider")
    return known.index(provider) if provider in PROVIDERS else len(known)


def _is_offered(name: str, facts: dict[str, Any]) -> bool:
    return (
        facts.get("litellm_provider") in PROVIDERS
        and facts.get("mode") in ("chat", "responses")
        and NO_CHAT.search(name) is None
        and bool(facts.get("max_input_tokens"))
    )


def _row(name: str, facts: dict[str, Any]) -> dict[str, Any]:
    provider, api = PROVIDERS[facts["litellm_provider"]]
    row: dict[str, Any] = {
        "name": name,
        "provider": provider,
        "api": "openai-responses" if facts["mode"] == "responses" else api,
        "window": facts["max_input_tokens"],
        "max_output": facts["max_output_tokens"],
        "encoding": _encoding(name) if provider == "OpenAI" else None,
    }
    for key, source in PRICES.items():
        if facts.get(source) is not None:
            row[key] = round(facts[source] * 1_000_000, 6)
    if "deprecation_date" in facts:
        row["retires"] = facts["deprecation_date"]
    return row


def _encoding(name: str) -> str | None:
    """The encoding of a model of OpenAI's, or None where tiktoken's own table has no answer."""
    try:
        encoding = encoding_name_for_model(name)
    except KeyError:
        return None
    return encoding if encoding in ENCODINGS else None


if __name__ == "__main__":
    main()
