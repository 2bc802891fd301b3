"""Many streams over one WebSocket: what tunnel and relay share of `portal-tunnel.v1`.

    stream      one stream: states, credit, what waits to be sent
    session     the connection: frames in, frames out, fair turns; knows neither sockets nor time
    outgoing    what leaves next: control first, then streams by turns
    connection  drives a session over a WebSocket, with keepalive
    socket      the WebSocket on its transport; websocket has its bytes, mask their masks
    window      how much all streams may hold
    duplex      a stream as something to read from and write to

The core is tested without a network; `quintant.wire.portal` has the bytes.
"""
