"""Seeded mutants of the embedded server: mistakes that its tests must notice.

Each is a small change of its source, kept as data (mutants.toml) with the tests that have to turn
red. `make mutants` makes each in a copy of the tree, one after the other, and runs those tests.
"""
