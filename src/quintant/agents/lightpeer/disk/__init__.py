"""The peer's own chain on its disk: files, journal, and one hand that writes."""
