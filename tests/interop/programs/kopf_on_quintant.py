"""A plug-in of pytest for kopf's own tests: `import kopf` is Quintant's there.

Their set-up takes some names of kopf's inside, which its end-to-end tests make no use of; those are
kopf's. What a test or an example imports as `kopf`, its registry, its settings and its runner are
ours.
"""

from importlib import import_module
from importlib.util import find_spec
from typing import Any

from quintant.kopf.declare.registry import OperatorRegistry
from quintant.kopf.declare.settings import OperatorSettings
from quintant.kopf.module import provide

theirs = find_spec("kopf")
assert theirs is not None
provide().__path__ = list(theirs.submodule_search_locations or ())
configuration: Any = import_module("kopf._cogs.configs.configuration")
configuration.OperatorSettings = OperatorSettings
registries: Any = import_module("kopf._core.intents.registries")
registries.OperatorRegistry = registries.SmartOperatorRegistry = OperatorRegistry
