"""Documents of results and plans, rendered as pages, tables, JSON, CSV and Markdown.

The package draws no noise and computes no estimates.
"""
