r"""The closed forms of all papers, by name, for comparison; rounded up, and refused where the theorem says nothing.

>>> import shuffle_sym as ss
>>> "{:.3e}".format(ss.bounds.balle2019_hoeffding.delta(1, 10_000, 0.1))
'1.414e-10'
"""

from shuffle_sym.papers import everything, many_rounds
from shuffle_sym.papers.amplification import Amplification
from shuffle_sym.papers.registry import shown
from shuffle_sym.papers.renyi import RenyiBound

#: Every closed form, by name.
ALL = everything.BOUNDS

__all__ = ["ALL", "Amplification", "RenyiBound", "many_rounds", *ALL]

__getattr__, __dir__ = shown(__name__, ALL)
