"""Documents: what is shown of a result, as a page, a table, JSON or CSV. Draws no noise."""
