"""Storage, keys, signed notes and HTTP that every serving role needs.

A mix and a collector each have a ``node.Node`` and a loop that uses it. The time is passed in as an
argument. Everything that a role must remember is synced to disk before any other role learns of it.
This file imports nothing, because an intake process must not load code that can read a key.

A *note* is a text with the signatures of roles: a contract, a round sheet, a withdrawal, a manifest
or a receipt. A *sheet* states when a round is open, and the public key of every hop and of the
collector. A *hop* is a mix at its position in the chain. A *manifest* is a hop's signed list of the
files of messages (*pieces*) that it sends. A *receipt* is the next role's signature that all pieces
have arrived. The *peers* of a role are the other roles of its contracts.
"""
