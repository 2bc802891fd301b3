"""Looking at a cluster without kubectl: `quintant get`, `describe` and `logs`. Nothing is written.

objects  what people name on a command line, found at the server
table    what the server itself prints of objects, as text
"""
