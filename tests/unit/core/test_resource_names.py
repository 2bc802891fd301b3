"""A group or version that no server accepts is told where it stands: what failed, because, try."""

from __future__ import annotations

import pytest

from quintant import Custom, Model, Object, resource
from quintant.core.errors import ConfigError
from quintant.core.resource import resource_of


class Spec(Model):
    size: int = 1


def declare(**given: str) -> None:
    @resource(**{"group": "demo.dev", "version": "v1", **given})  # type: ignore[arg-type]
    class Shop(Custom[Spec, Spec]): ...


@pytest.mark.parametrize(
    ("given", "what", "hint"),
    [
        ({"group": "Demo.dev"}, "group 'Demo.dev'", 'group="demo.dev"'),
        ({"group": "demo_shop.dev"}, "group 'demo_shop.dev'", 'group="demo-shop.dev"'),
        ({"group": "demo.dev/v1"}, "group 'demo.dev/v1'", 'group="demo.dev", version="v1"'),
        ({"group": "shop"}, "group 'shop'", 'group="shop.example.com"'),
        ({"group": ""}, "group ''", 'group="shop.example.com"'),
        ({"version": "1"}, "version '1'", 'version="v1"'),
        ({"version": "V1"}, "version 'V1'", 'version="v1"'),
        ({"version": "1.0"}, "version '1.0'", 'version="v1"'),
        ({"version": "demo.dev/v1"}, "version 'demo.dev/v1'", 'version="v1"'),
        ({"version": ""}, "version ''", 'version="v1"'),
        ({"plural": "Shops"}, "plural 'Shops'", 'plural="shops"'),
        ({"kind": "my shop"}, "kind 'my shop'", 'kind="MyShop"'),
    ],
)
def test_invalid_group_version_or_name_is_told_in_three_lines(
    given: dict[str, str], what: str, hint: str
) -> None:
    with pytest.raises(ConfigError) as caught:
        declare(**given)
    told = str(caught.value).splitlines()
    assert len(told) == 3
    assert told[0] == f"Shop cannot have the {what}"
    assert told[1].startswith("because: ")
    assert told[2].startswith("try: ")
    assert hint in told[2]


def test_core_group_and_groups_without_a_dot_are_for_kinds_of_kubernetes() -> None:
    for group, version in (("", "v1"), ("apps", "apps/v1")):
        kind = resource(group=group, version="v1", kind="Thing")(type("Thing", (Object,), {}))
        assert resource_of(kind).api_version == version
