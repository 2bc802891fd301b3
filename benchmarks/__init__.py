"""Benchmarks: each prints what it measured beside its peers, and by which method.

`make bench`, or `python -m benchmarks [name …] [--quick]`.
"""
