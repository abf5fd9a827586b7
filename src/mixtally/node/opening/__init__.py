"""A layer taken off every envelope of a batch, by as many processes as there are cores."""
