"""The default on graphs of all kinds, beside what needs no training."""
