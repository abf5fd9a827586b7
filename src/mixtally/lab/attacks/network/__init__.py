"""Attacks on the running system: honest mixes next to hostile roles, round after round."""
