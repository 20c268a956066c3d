"""Images as graphs: the paper's image tables and figures."""
