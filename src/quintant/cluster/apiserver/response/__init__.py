"""Responses: negotiation, encoders, tables, streamed lists, gzip, YAML."""
