"""Pictures of fitted estimators, on matplotlib (extra ``plot``).

Every function draws on the axes that it is given, or on new ones, and returns them.
"""

from gpgc.plot.contributions import contributions
from gpgc.plot.learning_curve import learning_curve
from gpgc.plot.node_map import node_map
from gpgc.plot.reliability import reliability

__all__ = ["contributions", "learning_curve", "node_map", "reliability"]
