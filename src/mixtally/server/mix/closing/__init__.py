"""Closing a round: what came becomes what leaves, part after part, the same bytes every time."""
