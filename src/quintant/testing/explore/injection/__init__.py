"""Points, what is done at them, and the processes that it is done to."""
