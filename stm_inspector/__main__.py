"""``python -m stm_inspector``: the same as the ``stm-inspector`` command."""

from __future__ import annotations

import sys

from stm_inspector.cli import main

if __name__ == "__main__":
    sys.exit(main())
