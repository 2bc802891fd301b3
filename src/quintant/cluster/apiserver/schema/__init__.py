"""Structural schemas of custom resources: checked, pruned by, defaulted from, validated
against.
"""
