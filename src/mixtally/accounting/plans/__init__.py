"""Privacy of a whole plan: its parts, its caps and what its number assumes."""
