"""Writes `quintant.api.kubernetes`: every kind that is served, as Python types with every field.

`python -m kinds` writes the modules and the page that lists them; with --check it says which ones
are out of step. They follow the tables that the embedded server is made of (`make tables`), so
that both know the same fields.
"""
