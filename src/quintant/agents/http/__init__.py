"""HTTP/1 as a relay between strangers has to read it: strictly, message by message. No I/O.

    head    the first lines of a request or response     body      where a message ends
    fields  header fields, which of them are passed on   framing   which body a head announces

Whatever two programs might read differently is refused: that difference is what request smuggling
is made of.
"""
