"""axe-core on a page: what of the rules of WCAG 2, A and AA, it breaks."""

from __future__ import annotations

import os

from foreign.npm_package import AXE
from testbeds.chromium import Viewer

RULES = "wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"
RUN_AXE = """async (rules) => {
  const found = await axe.run(document, {runOnly: {type: "tag", values: rules}});
  return found.violations.map((each) =>
    `${each.id}: ${each.nodes.map((node) => `${node.html} ${node.failureSummary}`).join("; ")}`);
}"""


async def violations(looking: Viewer) -> list[str]:
    """What axe finds; it is evaluated, since the page's policy lets no script of others in."""
    await looking.page.evaluate(AXE.provide(os.environ).read_text())
    found: list[str] = await looking.page.evaluate(RUN_AXE, RULES)
    return found
