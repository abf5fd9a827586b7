"""Private counting through mixes: exact privacy, least error, honest intervals."""
