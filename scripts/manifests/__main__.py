"""`python -m manifests`: writes the generated files, or with --check says which are out of step.

With --check it says, too, what our definitions break for users of the last release.
"""

from __future__ import annotations

import sys

from manifests.charts import chart_files
from manifests.files import check, write
from manifests.gitops import gitops_files
from manifests.programs import program_files
from manifests.released import check_released
from manifests.sbom import sbom_files

if __name__ == "__main__":
    files = {**program_files(), **chart_files(), **gitops_files(), **sbom_files()}
    sys.exit(check(files) or check_released() if "--check" in sys.argv else write(files))
