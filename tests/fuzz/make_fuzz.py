"""`make fuzz SECONDS=…`: new mutated files for every reader and parser.

python tests/fuzz/make_fuzz.py SECONDS [SEED]
"""

from __future__ import annotations

import sys
import time
from pathlib import Path
from tempfile import mkdtemp

from mutations import TARGETS, fuzz


def main() -> int:
    """Run every target for its part of the time; the file that fails stays where the message says."""
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 60.0
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else int(time.time())
    part, code = seconds / len(TARGETS), 0
    for target in TARGETS:
        folder = Path(mkdtemp(prefix=f"travas-fuzz-{target}-"))
        try:
            found = fuzz(target, folder, seed, most=10**9, seconds=part)
            print(
                f"ok    {target}: {found.total():,} files, {found['read']:,} read, {found['refused']:,} refused",
                flush=True,
            )
        except AssertionError as error:
            print(f"FAIL  {target}: {error}", flush=True)
            code = 1
    return code


if __name__ == "__main__":
    sys.exit(main())
