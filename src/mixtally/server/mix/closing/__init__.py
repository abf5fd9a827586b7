"""Closing of a round: received messages become outgoing ones, in a repeatable way."""
