"""From a request to a response: pages, streams, tables, and who may see what."""
