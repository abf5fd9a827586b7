"""A mix, which receives encrypted bundles, removes a layer, adds fakes, sorts and sends them on.

A *bundle* is everything that one person sends in a round. It contains an *envelope* for each
message: the message encrypted once for each hop. A *fake* is a dummy message. A mix reads a job,
which lists what it has to do and does not contain the question. This file imports nothing, because
worker processes load it.
"""
