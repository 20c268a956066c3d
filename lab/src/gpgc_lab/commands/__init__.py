"""The commands that the laboratory adds to ``gpgc``, found by entry points."""
