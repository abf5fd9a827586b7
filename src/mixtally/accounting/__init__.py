"""Privacy accounting: delta of a mechanism, composed over messages, parts and collections.

A *fake* is a dummy message without an answer. Fakes, and the randomness in other people's messages,
hide the message of a person. ``plans.honest_part`` explains the terms of a plan.
"""
