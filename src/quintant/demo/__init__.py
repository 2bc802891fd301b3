"""The demo: an embedded cluster, every operator in it, and a sample of what each is for.

`quintant demo` shows it; this package has everything but the terminal.
"""
