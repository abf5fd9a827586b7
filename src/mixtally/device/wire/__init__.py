"""What travels: signed notes, round sheets, envelopes, bundles, manifests. Bytes in, bytes out.

Reading needs the standard library alone; signing and sealing need ``cryptography``, whose own
randomness makes the ephemeral keys of envelopes.
"""
