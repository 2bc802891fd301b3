"""An operator on kopf, run by Quintant: the same module, of which not a line is changed."""

from __future__ import annotations

import os
import runpy

from quintant.kopf.module import provide
from quintant.runtime.observe import logs

if __name__ == "__main__":
    logs.configure(level="warning")
    provide()
    runpy.run_module(os.environ["BENCH_KOPF"], run_name="__main__")
