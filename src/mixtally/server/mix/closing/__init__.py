"""Closing of a round: received messages become outgoing ones; repeating it has the same result."""
