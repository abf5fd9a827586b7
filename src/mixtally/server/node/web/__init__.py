"""HTTP interface of a node, which needs the extra ``[serve]``."""
