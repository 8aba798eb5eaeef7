"""python -m benchmarks.beside_peers --peers PYTHON [--quick] [--only capture pages ...] [--write]

Measures this project beside other libraries, its peers, and prints the tables of benchmarks/README.md. PYTHON is that
of an environment with benchmarks/requirements.txt, where the peers run in a process of their own, turn by turn with
this project's process. With --write, each group of measurements replaces its section of benchmarks/README.md as soon
as it is complete; a group that failed leaves its section as it was, is named at the end, and can be measured again
with --only. Nothing else should run meanwhile. With --quick, sizes are small and rounds few: this checks that
everything works, and its numbers mean nothing.
"""

import argparse
import sys
import tempfile
import time
import traceback
from collections.abc import Callable
from pathlib import Path

from . import capturing, growth, head_experiments, waiting_for_charts
from .encoder_folders import Encoders
from .readme_tables import merged

README = Path(__file__).parents[1] / "README.md"
Group = Callable[[str, Encoders, bool], str]
GROUPS: dict[str, Group] = {
    "capture": capturing.measured,
    "experiments": head_experiments.measured,
    "pages": waiting_for_charts.measured,
    "growth": growth.measured,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--peers", required=True, metavar="PYTHON")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--only", nargs="+", choices=GROUPS, default=list(GROUPS))
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    failed = []
    with tempfile.TemporaryDirectory() as folder:
        encoders = Encoders(Path(folder))
        for name in options.only:
            begun = time.monotonic()
            try:
                text = GROUPS[name](options.peers, encoders, options.quick)
            except Exception:  # the other groups are measured all the same
                traceback.print_exc()
                failed.append(name)
                continue
            print(f"\n{text}\n\n{name}: {time.monotonic() - begun:.0f} s\n", flush=True)
            if options.write:
                README.write_text(merged(README.read_text("utf-8"), name, text), "utf-8")
    if failed:
        sys.exit(f"failed: {', '.join(failed)}; the others are through. Again: --only {' '.join(failed)}")


if __name__ == "__main__":
    main()
