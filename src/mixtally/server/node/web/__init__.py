"""HTTP around a node; needs the extra ``[serve]``."""
