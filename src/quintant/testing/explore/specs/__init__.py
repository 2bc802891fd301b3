"""Specs that nobody wrote: what users can say of an object, from the schema of its kind.

schema       a schema → the properties of a spec
values       a property → values: usual ones, boundaries, and what should be refused
transitions  a property and what the server takes of it → the ways there and back
plan         all properties → so many cases, the same for the same seed
scenario     what a user of exploration writes: an object, and what is around it
checks       what must hold of a case: differential, recoverable, consistent
runs, campaign  the runs of a scenario, and what came of them
"""
