"""Data that is transmitted: signed notes, sheets, envelopes, bundles and manifests.

Functions map bytes to bytes. Reading needs the standard library only. Signing and sealing need
``cryptography``, whose own randomness makes the ephemeral keys of envelopes.

Terms: a *note* is a signed text. The *sheet* of a round is a note with its times and public keys. A
*bundle* is everything that a device sends in a round, a sequence of encrypted *envelopes*. A
*manifest* is a note about the batch that leaves a *hop*, a mix at its position in the chain. A
*part* is one stream of messages. A *fake* is a dummy message.
"""
