"""Writes ``resources/docs/policies.md`` from the registry of policies.

Run it from anywhere after a policy or a setting has changed: ``python packaging/build_docs.py``.
A test tells when that was forgotten.
"""

from __future__ import annotations

import os
from itertools import groupby
from pathlib import Path

from stm_inspector.buffer.policies import Policy, all_policies
from stm_inspector.buffer.settings import Setting, describe

PAGE = Path(__file__).resolve().parent.parent / "resources" / "docs" / "policies.md"

_HEAD = """# Policies

A policy decides what stays in the buffer at each call of the model. Made by
`packaging/build_docs.py` from the program itself; do not edit it by hand.

On the command line, `--policy ID --set KEY=VALUE`; the watermark and the target are set with
`--watermark` and `--target`, a fraction of the budget or tokens.
"""


def policies_page() -> str:
    """The page as Markdown: a section an idea, a table of settings a policy."""
    pieces = [_HEAD]
    ideas = list(dict.fromkeys(policy.idea for policy in all_policies()))
    policies = sorted(all_policies(), key=lambda policy: ideas.index(policy.idea))
    for idea, members in groupby(policies, key=lambda policy: policy.idea):
        pieces.append(f"## {idea}\n")
        pieces += [_section(policy) for policy in members]
    return "\n".join(pieces)


def _section(policy: Policy) -> str:
    marks = {
        "budget": policy.uses_budget,
        "watermark": policy.uses_watermark,
        "target": policy.uses_target,
    }
    looks = [mark for mark, used in marks.items() if used]
    whose = f"emulates {policy.emulates}, {policy.basis}" if policy.emulates else policy.basis
    rows = [_row(entry) for entry in describe(policy.settings)]
    return "\n".join([
        f"### `{policy.id}`: {policy.title}\n",
        f"{policy.help}\n",
        f"Basis: {whose}. Looks at: {', '.join(looks) or 'none of budget, watermark, target'}.\n",
        "| setting | default | unit | what it does |",
        "|---|---|---|---|",
        *rows,
        "",
    ])  # fmt: skip


def _row(entry: Setting) -> str:
    default = ", ".join(entry.default) if entry.type == "zones" else str(entry.default)
    if entry.type == "bool":
        default = default.lower()
    choices = f" One of: {', '.join(entry.choices)}." if entry.choices else ""
    help_text = f"{entry.help}{choices}".replace("|", "\\|")
    return f"| `{entry.key}` | {default or 'nothing'} | {entry.unit} | {help_text} |"


def main() -> None:
    """Write the page."""
    PAGE.parent.mkdir(parents=True, exist_ok=True)
    beside = PAGE.with_suffix(".tmp")
    beside.write_text(policies_page(), encoding="utf-8")
    os.replace(beside, PAGE)


if __name__ == "__main__":
    main()
