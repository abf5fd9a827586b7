"""Frozen nouns that travel between rooms: question, guarantee, certificate, plan, results."""
