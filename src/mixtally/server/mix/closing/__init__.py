"""Closing of a round at a mix, which turns received envelopes into outgoing ones.

A repeated closing has the same result.
"""
