"""Run by Python itself at the start of every program in a pod; see quintant.agents.names.

Another sitecustomize, which this one hides, is run as well.
"""

import contextlib
import importlib
import os
import sys

_here = os.path.dirname(os.path.abspath(__file__))
with contextlib.suppress(ImportError):
    from quintant.agents.names.hook import install

    install()
sys.path[:] = [folder for folder in sys.path if os.path.abspath(folder) != _here]
_own = sys.modules.pop("sitecustomize", None)
try:
    importlib.import_module("sitecustomize")
except ImportError:
    if _own is not None:
        sys.modules["sitecustomize"] = _own
