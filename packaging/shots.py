"""Draw the README's pictures: the real window on two bundled samples. Started by `dev.py shots`."""

import sys
from pathlib import Path

from stm_inspector.app.shot import shoot
from stm_inspector.engine import make_settings
from stm_inspector.paths import resource

FOLDER = Path(__file__).resolve().parent / "screenshots"
SIZE = (1360, 760)

# (picture, sample, policy, its settings, input budget in tokens, message in the detail pane);
# a picture is named after its theme
SHOTS: tuple[tuple[str, str, str, dict[str, int], int, int], ...] = (
    ("light", "tool-agent.json", "token-budget", {}, 3000, 6),
    ("dark", "coding-agent.json", "summary", {"keep_recent": 18}, 8000, 2),
)


def main() -> int:
    FOLDER.mkdir(exist_ok=True)
    for theme, sample, policy, settings, budget, select in SHOTS:
        target = FOLDER / f"{theme}.png"
        shoot(
            str(resource("samples", sample)),
            str(target),
            size=SIZE,
            theme=theme,
            settings=make_settings(policy, budget=budget, settings=settings),
            select=select,
        )
        print(f"{target}: {target.stat().st_size:,} bytes")
    return 0


if __name__ == "__main__":
    sys.exit(main())
