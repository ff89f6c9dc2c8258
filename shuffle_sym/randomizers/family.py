r"""All randomizers with a given privacy level at once."""

from typing import Any

import sympy as sp

from shuffle_sym.algebra import arguments
from shuffle_sym.model.decomposition import Decomposition, blanket, clones, clones_shared
from shuffle_sym.model.randomizer import Family, Randomizer
from shuffle_sym.randomizers.matching import KRR, BinaryRR


class AnyRandomizer(Family):
    r"""All ε0-LDP randomizers at once: the upper end of an answer holds for each of them.

    Args:
        eps0: the local privacy level.
        data_shuffled_first: if left out, all users share one randomizer, as they do where one program runs on every
            device, and their messages are shuffled. If true, the *data* are shuffled first, and the i-th randomizer,
            which may differ from the others, is applied to the i-th datum (the model of Feldman, McMillan and Talwar);
            the bound is the standard clone.

    If users keep randomizers of their own and only messages are shuffled, no bound is better than that of one user,
    ``Shuffle(AnyRandomizer(eps0), 1)``: messages that only one of the randomizers sends give away who sent them.

    >>> AnyRandomizer(eps0=sp.log(3)).gamma
    1/3
    """

    def __init__(self, eps0: Any, data_shuffled_first: bool = False) -> None:
        self._eps0 = arguments.local_epsilon(eps0)
        if not isinstance(data_shuffled_first, bool):
            raise TypeError(f"data_shuffled_first must be True or False, got {data_shuffled_first!r}")
        self.data_shuffled_first = data_shuffled_first

    @property
    def eps0(self) -> sp.Expr:
        return self._eps0

    @property
    def gamma(self) -> sp.Expr:
        r"""The mass 1/t that each of their blankets has at least: :math:`R(x')/t \le R(x)` for one fixed x'."""
        return sp.exp(-self._eps0)

    @property
    def free_symbols(self) -> set[sp.Symbol]:
        return set(self._eps0.free_symbols)

    def members(self) -> dict[str, Randomizer]:
        """2-RR and 3-RR: in the limit of many users the worst one is 3-RR if ε0 >= log 2, else 2-RR."""
        return {"2-RR": BinaryRR(eps0=self._eps0), "3-RR": KRR(k=3, eps0=self._eps0)}

    def worst_alone(self) -> Decomposition:
        """2-RR: no ε0-LDP randomizer has a larger divergence for one user."""
        return blanket(BinaryRR(eps0=self._eps0))

    def dominating(self) -> Decomposition:
        """The clones of a shared randomizer, or the standard clone if the data are shuffled first."""
        return clones(self._eps0) if self.data_shuffled_first else clones_shared(self._eps0)

    def extreme_laws(self) -> tuple[Decomposition, ...] | None:
        r"""The pairs of laws of which every randomizer's is a mixture, if all others have one input (ours).

        Under R(x), :math:`(U, V) = (R(x_0), R(x_1))/R(x)` lies in the hexagon :math:`1/t \le U, V, U/V \le t` and has
        mean (1, 1). Write each point as a mean of corners: a law on six points with two mean constraints is a mixture
        of laws on at most three of them, and five such triangles or diagonals contain (1, 1).

        >>> [D.c for D in AnyRandomizer(eps0=sp.log(2)).extreme_laws()][-1]  # 3-RR, all others the third input
        (1/4, 1/4, 1/2)
        """
        if self.data_shuffled_first:
            return None
        t = sp.exp(self._eps0)
        corners = {
            "neither": ([1 / t, t], [1 / t, t], [t, 1], t + 1),
            "others x0": ([1, 1], [1 / t, t], [t, 1], t + 1),
            "others x1": ([1 / t, t], [1, 1], [t, 1], t + 1),
            "apart": ([1, t, 1 / t], [1 / t, t, 1], [t, 1, t], 2 * t + 1),
            "others third": ([t, 1, 1 / t], [1, t, 1 / t], [1, 1, t], t + 2),
        }
        laws = []
        for title, (u, v, weights, total) in corners.items():
            c = [sp.sympify(w) / total for w in weights]
            a, b = ([x * mass for x, mass in zip(side, c, strict=True)] for side in (u, v))
            laws.append(Decomposition(a, b, c, title=title))
        return tuple(laws)
