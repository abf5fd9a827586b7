"""Privacy of a whole plan: its parts, its caps and the assumptions of its certificate."""
