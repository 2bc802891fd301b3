"""Structural schemas: checked, pruned by, defaulted from, and validated against."""
