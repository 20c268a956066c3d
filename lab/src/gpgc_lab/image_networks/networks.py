"""The networks that can be trained, by name."""

from gpgc.errors import InputError
from gpgc_lab.image_networks.compact_network import CompactNetwork
from gpgc_lab.image_networks.conv_large import ConvLarge

FeatureNetwork = ConvLarge | CompactNetwork
"""Has ``features`` and ``classifier`` (logits = classifier(features(images))) and ``adapt``."""

NETWORKS: dict[str, type[FeatureNetwork]] = {"conv-large": ConvLarge, "compact": CompactNetwork}


def build_network(name: str, channels: int, classes: int) -> FeatureNetwork:
    """Return a network by name, with weights drawn from torch's generator."""
    if name not in NETWORKS:
        raise InputError(f"network must be one of {', '.join(NETWORKS)}, got {name!r}")
    return NETWORKS[name](channels, classes)
