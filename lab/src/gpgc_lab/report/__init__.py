"""One report of every table and figure of the paper, published beside measured."""
