"""The pages that the program writes about itself are current."""

from __future__ import annotations

import runpy
from pathlib import Path

from stm_inspector.buffer.policies import all_policies
from stm_inspector.buffer.settings import describe

ROOT = Path(__file__).resolve().parent.parent
PAGE = (ROOT / "resources" / "docs" / "policies.md").read_text(encoding="utf-8")


def test_the_page_of_policies_is_what_the_script_writes() -> None:
    script = runpy.run_path(str(ROOT / "packaging" / "build_docs.py"))
    assert script["policies_page"]() == PAGE, "run packaging/build_docs.py"


def test_the_page_has_every_policy_with_its_help_and_settings() -> None:
    for policy in all_policies():
        _, _, section = PAGE.partition(f"### `{policy.id}`: ")
        section, _, _ = section.partition("\n### ")
        assert policy.help in section
        for entry in describe(policy.settings):
            assert f"| `{entry.key}` |" in section
