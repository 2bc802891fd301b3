"""Run by Python itself at the start of every program in a pod; see quintant.agents.dns.

The program's Python need not have Quintant: what is loaded here is found beside this file. Another
sitecustomize, which this one hides, is run as well.
"""

import contextlib
import importlib
import os
import sys

_here = os.path.dirname(os.path.abspath(__file__))
_home = os.path.abspath(os.path.join(_here, *[os.pardir] * 4))
_before = list(sys.path)
sys.path.append(_home)
# A Python that is too old for this does without names.
with contextlib.suppress(ImportError, SyntaxError, TypeError):
    from quintant.agents.dns.getaddrinfo import install

    install()
sys.path[:] = [folder for folder in _before if os.path.abspath(folder) != _here]
_own = sys.modules.pop("sitecustomize", None)
try:
    importlib.import_module("sitecustomize")
except ImportError:
    if _own is not None:
        sys.modules["sitecustomize"] = _own
