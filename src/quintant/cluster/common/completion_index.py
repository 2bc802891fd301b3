"""JobCompletionIndexAnnotation: how a pod of an Indexed Job knows which of them it is."""

from __future__ import annotations

ANNOTATION = "batch.kubernetes.io/job-completion-index"
"""The label, too."""
VARIABLE = "JOB_COMPLETION_INDEX"
"""What containers are given."""
