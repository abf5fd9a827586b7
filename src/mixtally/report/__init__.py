"""Documents of results and plans, rendered as pages, tables, JSON, CSV and Markdown.

The package draws no noise and computes no estimates.

Terms: a *document* is everything that is shown of one result, before it has a format. Its *facts*
are plain numbers and texts by name, as in JSON. Its *promise* is the guarantee in three lines. A
*figure* is a set of numbers derived from the same messages as the counts, such as means. A *part*
of a plan is a stream of messages, to which every device contributes the same piece of its record. A
*fake* is a dummy message. A *hop* is one mix of the chain. Messages can name *planes*, which are
sets of many possible values.
"""
