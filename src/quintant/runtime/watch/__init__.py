"""From the bytes of a watch to its events: streams, states, reflectors."""
