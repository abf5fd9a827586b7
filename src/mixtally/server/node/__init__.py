"""Storage, keys, signed notes and HTTP that every serving role needs.

A mix and a collector each wrap a ``node.Node`` in a loop of their own. The time is passed in as an
argument. Everything that a role must remember is synced to disk before any other role learns of it.
This file imports nothing, because an intake process must not load code that can read a key.

A *note* is a text with the signatures of roles: a contract, a round sheet, a withdrawal, a manifest
or a receipt. A *sheet* states when a round is open and the key of every hop. A *hop* is one mix in
the order in which messages pass. A *manifest* is a hop's signed list of the files of messages
(*pieces*) that it sends. A *receipt* is the next role's signature that all pieces have arrived.
"""
