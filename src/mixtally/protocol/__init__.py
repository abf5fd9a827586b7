"""The steps of the shuffle protocol, from one answer to an estimate, as pure functions.

``encode`` turns a value into a record, ``randomize`` adds the noise of a device, ``mixing``
shuffles and adds fakes (dummy messages), ``tally`` counts, and ``estimate`` removes the bias.
"""
