"""Shards, which are files of unencrypted messages: writing, reading and counting."""
