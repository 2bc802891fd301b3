"""HTTP/1 as programs in between strangers have to speak it: strictly, message by message.

    head        the first lines of a message          body        where a message ends
    framing     which body a head announces           deadline    when a connection is late
    connection  a client's bytes, with backpressure   server      one request after another
    request, response      what a handler gets, and gives
    hosts       which names are answered on loopback
    encode_request, response_parser      the same, as a client sends and gets it
    client_connection      a client's connection: one request after another

Whatever two programs might read differently is refused: that difference is what request smuggling
is made of. It is for all: relays, the embedded API server, webhooks, probes and the client
are made of it, and none of them loads more than that.
"""
