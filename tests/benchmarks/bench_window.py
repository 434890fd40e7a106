"""First painted window against an empty PySide6 window: prints the ratio (aim: at most 2).

    python tests/benchmarks/bench_window.py [RUNS]

Each run is a fresh interpreter, from its start to the first paint; the two take turns, and the
median of each side counts. Processor time is printed beside the time on the clock, because the
clock also measures what else the machine is doing.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

EMPTY = """
from PySide6.QtWidgets import QApplication, QMainWindow
app = QApplication([])
window = QMainWindow()
"""
OURS = """
from pathlib import Path
from stm_inspector.app.main import make_application
app = make_application()
from stm_inspector.app.main_window import MainWindow
from stm_inspector.app.preferences import Preferences
window = MainWindow(Preferences(Path({folder!r}) / "preferences.ini"))
window.once_painted(lambda: None)
"""
SHOW = """
import time
window.resize(1440, 900)
window.show()
app.processEvents()
window.repaint()
print(time.time(), time.process_time())
import os
os._exit(0)
"""


def measure(code: str) -> tuple[float, float]:
    """Seconds on the clock and of the processor until the first paint."""
    import time

    environment = {"QT_QPA_PLATFORM": "offscreen", **os.environ, "PYTHONPATH": str(ROOT)}
    started = time.time()
    done = subprocess.run(
        [sys.executable, "-c", code + SHOW],
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    painted, processor = map(float, done.stdout.split())
    return painted - started, processor


def main(runs: int) -> None:
    """Print the medians and their ratios."""
    with tempfile.TemporaryDirectory() as folder:
        codes = {"empty": EMPTY, "ours": OURS.format(folder=folder)}
        for code in codes.values():  # compile and warm the file cache
            measure(code)
        taken: dict[str, list[tuple[float, float]]] = {name: [] for name in codes}
        for _run in range(runs):
            for name, code in codes.items():
                taken[name].append(measure(code))
    for place, kind in enumerate(("clock", "processor")):
        empty, ours = (statistics.median(pair[place] for pair in taken[name]) for name in codes)
        print(f"{kind}: empty {empty:.3f} s, ours {ours:.3f} s, ratio {ours / empty:.2f}")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 7)
