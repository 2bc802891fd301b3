"""Zensical's configuration for the website: everything of it is in the folder that it makes."""

import json
from collections.abc import Sequence

from docsite.navigation import Section

_TEXT = """\
[project]
site_name = "Quintant"
site_description = "A Python controller runtime for Kubernetes"
docs_dir = "pages"
site_dir = "site"
use_directory_urls = false
nav = {nav}

[project.theme]
font = false
language = "en"
features = ["navigation.sections", "navigation.top", "content.code.copy", "search.highlight"]

[[project.theme.palette]]
media = "(prefers-color-scheme: light)"
scheme = "default"
toggle.icon = "lucide/sun"
toggle.name = "Switch to dark"

[[project.theme.palette]]
media = "(prefers-color-scheme: dark)"
scheme = "slate"
toggle.icon = "lucide/moon"
toggle.name = "Switch to light"

[project.extra]
generator = false

# What GitHub shows of the same pages, and no more: by default, signs in prose become other signs.
[project.markdown_extensions.attr_list]

[project.markdown_extensions.sane_lists]

[project.markdown_extensions.tables]

[project.markdown_extensions.toc]
permalink = true

[project.markdown_extensions.pymdownx.highlight]

[project.markdown_extensions.pymdownx.superfences]

[project.plugins.search]

[project.plugins.offline]
"""


def configuration(front: str, sections: Sequence[Section]) -> str:
    """Return the file that Zensical reads, with the front page and the sections in their order."""
    tables = (f"{{{json.dumps(each.title)} = {json.dumps(each.pages)}}}" for each in sections)
    return _TEXT.format(nav=f"[{', '.join((json.dumps(front), *tables))}]")
