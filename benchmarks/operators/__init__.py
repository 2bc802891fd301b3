"""One operator, written three times: with Quintant, with kopf, and with nothing at all.

Each makes a ConfigMap for every Greeter and then says so in the Greeter's status.
"""
