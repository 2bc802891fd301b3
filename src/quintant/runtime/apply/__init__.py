"""Children: what an owner should have, against what it has.

The Builder, Diff and Control pattern, once for every operator: a builder makes desired objects,
`diff` decides (pure), `control` acts. `revision` is how a changed desire is told from an unchanged
one, `drift` what somebody else changed, and `order` how children are counted.
"""

from __future__ import annotations

from quintant.runtime.apply.control import IMMUTABLE, NAME_TAKEN, Policy, check_current, control
from quintant.runtime.apply.diff import ChildChanges, ChildConflict, ChildUpdate, controlled, diff
from quintant.runtime.apply.drift import data_checksum, drifted, strays
from quintant.runtime.apply.order import ordinal
from quintant.runtime.apply.revision import MARK, RevisionMark, digest, fnv1, marked, revision

__all__ = [
    "IMMUTABLE",
    "MARK",
    "NAME_TAKEN",
    "ChildChanges",
    "ChildConflict",
    "ChildUpdate",
    "Policy",
    "RevisionMark",
    "check_current",
    "control",
    "controlled",
    "data_checksum",
    "diff",
    "digest",
    "drifted",
    "fnv1",
    "marked",
    "ordinal",
    "revision",
    "strays",
]
