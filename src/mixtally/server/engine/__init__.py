"""Processing of batches: opening, sorting and counting, in this process, in others or on a cluster.

The result is the same bytes in every case. This file imports nothing, because worker processes
load it.
"""
