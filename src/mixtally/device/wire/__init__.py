"""Data that is transmitted: signed notes, sheets, envelopes, bundles and manifests.

Functions map bytes to bytes. Reading needs the standard library only. Signing and sealing need
``cryptography``, whose own randomness makes the ephemeral keys of envelopes.

Terms: a *note* is a signed text. The *sheet* of a round is a note with its times and public keys. A
*bundle* is everything that a device sends in a round, a sequence of encrypted *envelopes*. A
*manifest* is a note about the batch that leaves a *hop*, a mix at its position in the chain. A
*role* is a hop or the collector. A *part* is a stream of messages, to which every device
contributes the same piece of its record. A *slot* is the place of one envelope in a bundle.
*Padding* fills a slot in which no message is sent. A *fake* is a dummy message.
"""
