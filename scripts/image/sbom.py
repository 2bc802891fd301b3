"""A step of the image's build: a CycloneDX document of what is in the image.

    python sbom.py STATUS FOLDER... > sbom.cdx.json

STATUS is dpkg's table of what is installed in the base, empty where it has none; each FOLDER has
installed distributions (site-packages). The same content gives the same document: it has no time in
it, and its number is made from what it lists.
"""

from __future__ import annotations

import json
import re
import sys
import uuid
from collections.abc import Iterator, Sequence
from email.parser import HeaderParser
from importlib.metadata import Distribution, distributions
from pathlib import Path
from platform import python_version
from typing import Any
from urllib.parse import quote

SPEC_VERSION = "1.6"
PRODUCT = "quintant"
_LONGEST_LICENSE = 80
_UNKNOWN = {"", "UNKNOWN"}

Component = dict[str, Any]


def document(found: list[Component]) -> dict[str, Any]:
    """The whole document: the product, and what it is made of."""
    product = next(each for each in found if each["bom-ref"].startswith(f"pkg:pypi/{PRODUCT}@"))
    parts = sorted((each for each in found if each is not product), key=lambda it: it["bom-ref"])
    listed = [each["bom-ref"] for each in (product, *parts)]
    return bill_of_materials({**product, "type": "application"}, parts, listed)


def bill_of_materials(
    product: Component, parts: Sequence[Component], listed: Sequence[str]
) -> dict[str, Any]:
    """A document of a product and its parts; its number is made from what is listed."""
    number = uuid.uuid5(uuid.NAMESPACE_URL, "\n".join(listed))
    return {
        "$schema": f"http://cyclonedx.org/schema/bom-{SPEC_VERSION}.schema.json",
        "bomFormat": "CycloneDX",
        "specVersion": SPEC_VERSION,
        "serialNumber": f"urn:uuid:{number}",
        "version": 1,
        "metadata": {"component": product},
        "components": list(parts),
    }


def python_components(folders: Sequence[str]) -> Iterator[Component]:
    """Each installed distribution, and Python itself."""
    yield _component("application", "python", python_version(), f"pkg:generic/python@{_python()}")
    for each in distributions(path=list(folders)):
        name = re.sub(r"[-_.]+", "-", each.metadata["Name"]).lower()
        purl = f"pkg:pypi/{name}@{quote(each.version)}"
        yield _component("library", name, each.version, purl) | _licenses(each)


def debian_components(status: str) -> Iterator[Component]:
    """Each installed package of a table of dpkg."""
    for stanza in status.split("\n\n"):
        fields = HeaderParser().parsestr(stanza.strip("\n"))
        if fields["Package"] and (fields["Status"] or "").endswith(" installed"):
            name, version, of = fields["Package"], fields["Version"], fields["Architecture"]
            purl = f"pkg:deb/debian/{quote(name)}@{quote(version, safe='')}?arch={of}"
            yield _component("library", name, version, purl)


def _python() -> str:
    return quote(python_version())


def _component(kind: str, name: str, version: str, purl: str) -> Component:
    return {"type": kind, "bom-ref": purl, "name": name, "version": version, "purl": purl}


def _licenses(of: Distribution) -> Component:
    """What a distribution says about its license, in the way in which it says it."""
    if expression := _field(of, "License-Expression"):
        return {"licenses": [{"expression": expression}]}
    classified = [
        each.rpartition(" :: ")[2]
        for each in of.metadata.get_all("Classifier", [])
        if each.startswith("License :: ")
    ]
    free = _field(of, "License").strip().splitlines()[:1]
    names = classified or [each[:_LONGEST_LICENSE] for each in free if each not in _UNKNOWN]
    return {"licenses": [{"license": {"name": name}} for name in names]} if names else {}


def _field(of: Distribution, name: str) -> str:
    return str((of.metadata.get_all(name) or [""])[0])


def main(status: str, *folders: str) -> None:
    """Print the document."""
    found = [*python_components(folders), *debian_components(Path(status).read_text())]
    json.dump(document(found), sys.stdout, indent=1, ensure_ascii=False)
    print()


if __name__ == "__main__":
    main(*sys.argv[1:])
