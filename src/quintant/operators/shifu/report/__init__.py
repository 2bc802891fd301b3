"""edgeMap for people and programs: text, JSON, a stream; and why a device is where it is."""
