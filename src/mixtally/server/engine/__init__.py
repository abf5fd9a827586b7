"""Processing of batches: opening, sorting and counting, in this process, in others or on a cluster.

The result has the same bytes in every case. This file imports nothing, because worker processes
load it.

Terms: an *envelope* is a message encrypted once for each later role. *Opening* removes one layer. A
*copy* is an envelope that was received before. A *part* of a plan is a stream of messages, to which
every device contributes the same piece of its record. A *shard* is a file of unencrypted messages.
A *sync* waits until written data are on the disk.
"""
