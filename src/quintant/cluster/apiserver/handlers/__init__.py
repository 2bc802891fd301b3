"""Handlers: one module per verb and subresource, from a request that may to what is stored
or answered.
"""
