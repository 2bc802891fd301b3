"""Portal's relay protocol v1: what `wss://…/relay` means to Portal's own relays and tunnels.

    WebSocket, as a stream of bytes          (multiplex.socket)
      yamux        frames of streams         session     streams over them, fair and bounded
        packets    length and protobuf       messages    what they say
          lease    a signed claim to a name, renewed while it is wanted
          handshake, records                 visitor and tunnel, past the relay

A relay passes a visitor's bytes on and cannot read them: visitor and tunnel agree on keys by
themselves. Everything but `secure_stream`'s timer is without time or network; both are given.
"""
