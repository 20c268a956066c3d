"""Label a graph in person: a session with its journal, an honest estimate, and a page."""
