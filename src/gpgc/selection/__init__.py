"""What is chosen by labels: views, noise, settings. The only search over settings."""
