"""The laboratory of gpgc: systems to compare with, image networks, studies, speed, one report."""
