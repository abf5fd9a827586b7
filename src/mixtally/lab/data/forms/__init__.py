"""Records made from columns, with one module for each type of record."""
