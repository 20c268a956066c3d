"""What the image networks say where PyTorch is missing."""

import subprocess
import sys

import pytest


def test_import_leaves_torch_alone_and_its_absence_is_explained():
    script = (
        "import sys, gpgc_lab.image_networks\n"
        "assert 'torch' not in sys.modules\n"
        "sys.modules['torch'] = None\n"
        "try: gpgc_lab.image_networks.train_features\n"
        "except ImportError as error: print(error)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert 'pip install "./lab[images]"' in done.stdout


def test_unknown_names_are_attribute_errors():
    import gpgc_lab.image_networks

    with pytest.raises(AttributeError, match="nothing"):
        gpgc_lab.image_networks.nothing  # noqa: B018
