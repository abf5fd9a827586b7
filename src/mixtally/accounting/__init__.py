"""What a protocol costs, seen by whom: exact divergences, bounded upwards, and their inverses."""
