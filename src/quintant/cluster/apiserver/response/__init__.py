"""From an object to an answer: negotiation, tables, lists."""
