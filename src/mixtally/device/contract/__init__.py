"""The contract as everybody reads it: forms, ranges and what fits together, in plain data.

The standard library is enough: a device needs no more (``client``). ``model.contract`` has the
same as records that are made, priced and written.
"""
