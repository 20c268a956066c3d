"""Render the recipe as rattler-build would before it builds, and print what it needs."""

import os
import re
from pathlib import Path

from rattler_build import Stage0Recipe

root = Path(__file__).parents[2]
source = (root / "src" / "gpgc" / "__init__.py").read_text()
os.environ["GPGC_VERSION"] = re.search(r'__version__ = "(.+)"', source)[1]
os.environ["GPGC_SOURCE"] = str(root)
(variant,) = Stage0Recipe.from_file(Path(__file__).parent / "recipe.yaml").render()
recipe = variant.recipe
print(recipe.package.name, recipe.package.version, *recipe.requirements.run, sep="\n  ")
