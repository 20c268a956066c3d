"""From latent Gaussians to class probabilities."""
