"""Populations with known records, read from files and data frames before anything is sent.

Terms: a *record* is what one person answers; ``reading.RecordType`` lists its types. A *bin* is one
possible answer, and its *label* the text of this answer. An *epoch* is one of several times at
which people answer. A *gap* is a cell without a value. A *batch* is a block of successive rows of a
table. An *open domain* is a question that any text may answer.
"""
