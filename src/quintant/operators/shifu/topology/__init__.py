"""The model of nodes, devices and what joins them, which informers keep true."""
