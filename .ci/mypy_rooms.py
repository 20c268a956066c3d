"""Check the types of the rooms (folders) that the files named on the command line are in."""

import subprocess
import sys
from pathlib import Path

rooms = {Path(name).parent for name in sys.argv[1:]}
outermost = sorted(str(room) for room in rooms if not rooms & set(room.parents))
sys.exit(subprocess.call([sys.executable, "-m", "mypy", *outermost]))
