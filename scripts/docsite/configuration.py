"""Zensical's configuration for the website: everything of it is in the folder that it makes."""

import json
from collections.abc import Mapping, Sequence

from docsite.navigation import Section

_TEXT = """\
[project]
site_name = "Quintant"
site_description = "A Python controller runtime for Kubernetes"
docs_dir = "pages"
site_dir = "site"
use_directory_urls = false
extra_css = {style}
nav = {nav}

[project.theme]
font = false
language = "en"
features = [
    "navigation.tabs", "navigation.sections", "navigation.top",
    "toc.follow", "content.code.copy", "search.highlight",
]

# What the machine prefers, and follows when that changes, until somebody chooses.
[[project.theme.palette]]
media = "(prefers-color-scheme)"
toggle.icon = "lucide/sun-moon"
toggle.name = "Switch to light"

[[project.theme.palette]]
media = "(prefers-color-scheme: light)"
scheme = "default"
toggle.icon = "lucide/sun"
toggle.name = "Switch to dark"

[[project.theme.palette]]
media = "(prefers-color-scheme: dark)"
scheme = "slate"
toggle.icon = "lucide/moon"
toggle.name = "As the machine prefers"

[project.extra]
generator = false

# What GitHub shows of the same pages, and no more: by default, signs in prose become other signs.
[project.markdown_extensions.attr_list]

# For the columns of the front page.
[project.markdown_extensions.md_in_html]

[project.markdown_extensions.sane_lists]

[project.markdown_extensions.tables]

[project.markdown_extensions.toc]
permalink = true
toc_depth = 3

[project.markdown_extensions.pymdownx.highlight]

[project.markdown_extensions.pymdownx.superfences]

[project.plugins.search]

[project.plugins.offline]
"""


def configuration(
    front: Mapping[str, str], sections: Sequence[Section], style: Sequence[str] = ()
) -> str:
    """Return the file that Zensical reads: single pages by their titles, sections, stylesheets."""
    entries = (*front.items(), *((each.title, each.pages) for each in sections))
    tables = (f"{{{json.dumps(title)} = {json.dumps(pages)}}}" for title, pages in entries)
    return _TEXT.format(nav=f"[{', '.join(tables)}]", style=json.dumps(style))
