r"""The cards of mechanisms, profiles and compositions: what they are, ε at δ = 10⁻⁶, and the curve δ(ε)."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from shuffle_sym.algebra import cards
from shuffle_sym.algebra.interval import Interval
from shuffle_sym.model.decomposition import Decomposition
from shuffle_sym.model.randomizer import Family, LocalRandomizer, Randomizer

if TYPE_CHECKING:
    from shuffle_sym.accounting.profile import PrivacyProfile
    from shuffle_sym.accounting.rounds import Composition

_DELTA, _RTOL = 1e-6, 1e-2
_POINTS, _CURVE_RTOL = 3, 0.1  # before the answer; the eye joins few points, and each takes milliseconds
_SAMPLED_POINTS = 20  # of a profile, which takes no time for them
_FEW_PAIRS = 12  # pairs of inputs that are analysed while a reader waits
_FEW_PARTS = 3  # of many rounds that are listed
_QUESTION = "ε at δ = 10⁻⁶"


def _answers(
    epsilon: Callable[[float], Interval], delta: Callable[[list[float]], list[Interval]], count: int = _POINTS
) -> tuple[str, str]:
    """ε at δ = 10⁻⁶ and a sketch of the curve up to there; in place of them why there are none."""
    try:
        answer = epsilon(_DELTA)
        right = float(answer.upper)
        if not 0 < right < math.inf:
            return str(answer), ""
        points = [right * i / count for i in range(count)]
        curve = delta(points)
        paths = [[*zip(points, (getattr(at, end) for at in curve), strict=True)] for end in ("upper", "lower")]
        return str(answer), cards.sketch([*paths[0], (right, _DELTA)], [*paths[1], (float(answer.lower), _DELTA)])
    except Exception as refusal:  # a card never fails: it says what is not known
        return str(refusal), ""


def _computed(question: Any) -> tuple[str, str]:
    """ε at δ = 10⁻⁶ and a sketch of the curve of a mechanism or a composition, both computed roughly."""
    return _answers(partial(question.epsilon, rtol=_RTOL), partial(question.delta, rtol=_CURVE_RTOL))


def _slow(source: Any) -> str:
    """Why the answer is not computed for a card, if it is not."""
    parts = source if isinstance(source, tuple) else (source,)
    if names := {str(symbol) for part in parts for symbol in getattr(part, "free_symbols", ())}:
        return f"needs numbers for {', '.join(sorted(names))}"
    if isinstance(source, (Decomposition, Family)) or _few_pairs(source):
        return ""
    return "ask .epsilon(delta): it takes longer than a card may"


def _few_pairs(source: Any) -> bool:
    if not isinstance(source, Randomizer):
        return False
    inputs = source.input_count
    return source.symmetric or bool(inputs.is_Integer and inputs * (inputs - 1) <= _FEW_PAIRS)


def of_mechanism(M: Any) -> str:
    """The card of a `Shuffle`: the source, ε0, γ, n, the answer and the curve.

    >>> import shuffle_sym as ss
    >>> of_mechanism(ss.Shuffle(ss.KRR(k=10, eps0=4), n=10_000)).count("<img")
    1
    """
    rows = [("users n", f"{M.n:,}")]
    if isinstance(M.source, LocalRandomizer):
        rows += [("ε₀", cards.value(lambda: M.source.eps0)), ("γ", cards.value(lambda: M.source.gamma))]
    words, drawing = (slow, "") if (slow := _slow(M.source)) else _computed(M)
    rows.append((_QUESTION, cards.text(words)))
    if drawing:
        mechanism = isinstance(M.source, LocalRandomizer)
        rows.append(("", "upper end: all datasets; lower end: two of them" if mechanism else "of this pair of laws"))
    named = isinstance(M.source, Decomposition) and M.source.title
    return cards.card(f"Shuffle({M.source.title}, n={M.n})" if named else repr(M), rows, drawing)


def of_profile(profile: PrivacyProfile) -> str:
    """The card of a profile: what it is of, the answer and the sampled curve.

    >>> import shuffle_sym as ss
    >>> "points" in of_profile(ss.Shuffle(ss.KRR(k=3, eps0=1), n=9).profile(rtol=0.1))
    True
    """
    words, drawing = _answers(profile.epsilon, profile.delta, _SAMPLED_POINTS)
    rows = [("points", str(len(profile))), *((key, cards.text(str(text))) for key, text in profile.about.items())]
    return cards.card("PrivacyProfile", [*rows, (_QUESTION, cards.text(words))], drawing)


def of_composition(composition: Composition) -> str:
    """The card of many rounds: its parts and, once some question was asked, the answer and the curve.

    >>> import shuffle_sym as ss
    >>> "4 rounds" in of_composition(ss.Shuffle(ss.KRR(k=3, eps0=1), n=100).compose(4))
    True
    """
    parts: Sequence[tuple[Any, int]] = composition.parts
    rows = [(f"{count:,} ×", cards.text(repr(M))) for M, count in parts[:_FEW_PARTS]]
    rows += [("…", f"{len(parts) - _FEW_PARTS} more")] if len(parts) > _FEW_PARTS else []
    # Profiles take a second; where there are some already, the rest is quick.
    words, drawing = _computed(composition) if composition.asked else ("ask .epsilon(1e-6); the card shows it then", "")
    title = f"{composition.rounds:,} round{'s' if composition.rounds > 1 else ''}"
    return cards.card(title, [*rows, (_QUESTION, cards.text(words))], drawing)
