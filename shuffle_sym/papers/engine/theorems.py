r"""General theorems that derivations rest on. Each one, applied, says what it says *here*, with its hypotheses.

What a hypothesis says in formulas is shown by the program or handed over as a fact that must match; what it says in
words only (that a map does not depend on the data, that variables are independent) is listed as *stated*, or as
*checked* where an exact enumeration of small cases is handed over with it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import sympy as sp
from sympy.core.function import AppliedUndef

from shuffle_sym.algebra import latex
from shuffle_sym.algebra.errors import VerificationError
from shuffle_sym.algebra.symbols import parameter
from shuffle_sym.papers.engine import growth, prover
from shuffle_sym.papers.engine.assumptions import conditions, implied
from shuffle_sym.papers.engine.chains import claim
from shuffle_sym.papers.engine.facts import (
    Applied,
    Fact,
    Fixed,
    Hypothesis,
    Instance,
    foundations,
    meaning,
    name_of,
    names_in,
)
from shuffle_sym.papers.engine.quantities import Divergence, Mean, Positive, is_random
from shuffle_sym.papers.engine.values import needed, put_in

Checked = tuple[str, Callable[[], bool]]  # where, in words, and what must return True


def _in_words(words: str, checked: Checked | None) -> Hypothesis:
    """A hypothesis in words; with an exact check of small cases, which runs here."""
    if checked is None:
        return Hypothesis(words)
    where, holds = checked
    if not holds():
        raise VerificationError(f"{words}: the check fails ({where})")
    return Hypothesis(words, None, where)


def _matching(fact: Fact, left: sp.Expr, relation: str, right: sp.Expr, theorem: str) -> Fact:
    """A fact that says exactly this; raises if it says something else."""
    if (fact.left, fact.right) != (left, right) or fact.relation not in ("=", relation):
        raise VerificationError(f"{theorem} needs {left} {relation} {right}, got {fact.relational()}")
    return fact


def _all_under(under: Any, *facts: Fact) -> tuple[Any, ...]:
    """The conditions of a theorem, and those of the facts that it needs."""
    return tuple(dict.fromkeys([*conditions(under), *(one for fact in facts for one in fact.under)]))


def data_processing(
    alpha: Any, after: tuple[Any, Any], before: tuple[Any, Any], map_in_words: str, checked: Checked | None = None
) -> Applied:
    r""":math:`D_\alpha(f(P)\|f(Q)) \le D_\alpha(P\|Q)`: ``after`` are the two laws f(P), f(Q), ``before`` P and Q."""
    needed = _in_words(f"{map_in_words}: the map does not depend on which of the two datasets it is", checked)
    left, right = Divergence(alpha, *after), Divergence(alpha, *before)
    return Applied(left, "<=", right, "data processing", name="data processing", hypotheses=(needed,))


def joint_convexity(
    alpha: Any, mixture: tuple[Any, Any], weight: sp.Expr, index: tuple[Any, Any, Any], parts: tuple[Any, Any],
    words: str, sums_to_one: Fact, checked: Checked | None = None
) -> Applied:  # fmt: skip
    r""":math:`D_\alpha(\sum_i w_iP_i \| \sum_i w_iQ_i) \le \sum_i w_i D_\alpha(P_i\|Q_i)`: the same weights on both
    sides. ``weight`` and ``parts`` are formulas in the index; that the weights sum to 1 is a fact."""
    theorem = "joint convexity"
    right = sp.Sum(weight * Divergence(alpha, *parts), index)
    hypotheses = (
        _in_words(f"{words}: both laws are mixtures with the same weights", checked),
        Hypothesis("no weight is negative", claim(0, "<=", weight, "a weight", under=_up_to(index))),
        Hypothesis("they sum to 1", _matching(sums_to_one, sp.Sum(weight, index), "=", sp.Integer(1), theorem)),
    )
    under = _all_under((), sums_to_one)
    return Applied(Divergence(alpha, *mixture), "<=", right, theorem, under, name=theorem, hypotheses=hypotheses)


def _up_to(index: tuple[Any, Any, Any]) -> tuple[Any, ...]:
    """That an index is at most the last one, in a form that a proof can use."""
    i, _, last = index
    return (sp.Ge(last, i, evaluate=False),) if last.is_Symbol else ()


def jensen(
    function: Callable[[sp.Expr], sp.Expr], weighted: Sequence[tuple[sp.Expr, sp.Expr]], *facts: Fact,
    index: tuple[Any, Any, Any] | None = None, under: Any = (),
) -> Applied:  # fmt: skip
    r""":math:`f(\sum_i w_iv_i) \le \sum_i w_if(v_i)` for a convex f, [·]_+ or one whose second derivative is shown not
    to be negative. ``weighted`` are pairs (w, v), or one pair in an ``index``; that no weight is negative and that they
    sum to 1 is shown with the ``facts``."""

    def added(terms: Sequence[sp.Expr]) -> sp.Expr:
        return sp.Sum(terms[0], index) if index else sp.Add(*terms)

    curve, convex = _convex(function, all(value.is_positive for _, value in weighted), under)
    known = [claim(0, "<=", w, "no weight is negative", *(() if w.is_nonnegative else facts), under=under)
             for w, _ in weighted]  # fmt: skip
    if (total := added([weight for weight, _ in weighted])) != 1:
        known.append(claim(total, "=", 1, "the weights sum to 1", *facts, under=under))
    left, right = curve(added([w * v for w, v in weighted])), added([w * curve(v) for w, v in weighted])
    theorem, hypotheses = "Jensen's inequality", (convex, *(Hypothesis(fact.words, fact) for fact in known))
    return Applied(left, "<=", right, theorem, conditions(under), name=theorem, hypotheses=hypotheses)


def _convex(
    function: Callable[[sp.Expr], sp.Expr], positive: bool = False, under: Any = ()
) -> tuple[Callable[[sp.Expr], sp.Expr], Hypothesis]:
    """A function as one formula, and that it is convex: [·]_+, or smooth with a second derivative that is shown not to
    be negative."""
    x = sp.Dummy("x", positive=True) if positive else sp.Dummy("x", real=True)
    formula = function(x)
    if is_random(formula):
        raise VerificationError(f"the function must not be random itself, got {formula}")
    if formula == Positive(x):
        return Positive, Hypothesis("$[x]_+$ is the larger of two linear functions")
    if not growth.smooth(formula, x, x):
        raise VerificationError(f"a function must be smooth to be convex by its second derivative, got {formula}")
    second = claim(0, "<=", sp.diff(formula, x, 2), "second derivative", under=under)
    return lambda value: put_in(formula, {x: value}), Hypothesis("$f$ is convex", second)


def affine(formula: sp.Expr, variables: Sequence[sp.Expr]) -> Fact:
    """That a formula is linear, up to a constant, in some variables: between two points it is between its values."""
    share = parameter("theta", 0, 1)
    ends = [[sp.Symbol(f"{end}_{n}", real=True) for n in range(len(variables))] for end in ("first", "second")]
    points = [*ends, [share * one + (1 - share) * other for one, other in zip(*ends, strict=True)]]
    first, second, middle = (formula.xreplace(dict(zip(variables, point, strict=True))) for point in points)
    return claim(
        middle, "=", share * first + (1 - share) * second, f"${latex.formula(formula)}$ is linear between two points"
    )


def convex_order_of_sums(
    small: sp.Expr, large: sp.Expr, level: sp.Symbol, sums: tuple[sp.Expr, sp.Expr], words: str,
    excess: Fact, means: Fact, function: Callable[[sp.Expr], sp.Expr] = Positive,
) -> Applied:  # fmt: skip
    r"""If :math:`E[X-k]_+ \le E[Y-k]_+` for every real k and E[X] = E[Y], then
    :math:`E f(X_1+\dots+X_n) \le E f(Y_1+\dots+Y_n)` for independent copies and every convex f (here [·]_+).

    ``small`` and ``large`` are X and Y, ``sums`` the two sums; ``excess`` and ``means`` are the facts."""
    theorem = "convex order is closed under independent sums"
    about = set().union(*(one.free_symbols for fact in (excess, means) for one in fact.under), excess.held)
    if level in about or level.assumptions0 != sp.Dummy(real=True).assumptions0:
        raise VerificationError(f"{theorem} needs the order at every real level, not for some {level} only")
    curve, convex = _convex(function)
    over = (Mean(Positive(small - level)), Mean(Positive(large - level)))
    hypotheses = (
        Hypothesis("the stop-loss transforms are in this order at every level",
                   _matching(excess, over[0], "<=", over[1], theorem)),
        Hypothesis("equal means", _matching(means, Mean(small), "=", Mean(large), theorem)),
        Hypothesis(f"{words}: independent summands"),
        convex,
    )  # fmt: skip
    left, right = (Mean(curve(total)) for total in sums)
    return Applied(left, "<=", right, theorem, _all_under((), excess, means), name=theorem, hypotheses=hypotheses)


def for_other_laws(
    lemma: Fact, values: Mapping[Any, Any], words: str, meets: Sequence[tuple[Fact, Fact]] = (),
    every: Mapping[Any, Any] | None = None, shown: Sequence[tuple[str, Fact]] = (),
) -> Applied:  # fmt: skip
    """A lemma about named laws or random variables, for other ones. ``meets`` are hypotheses and definitions of the
    lemma with the facts that say them of the others; ``every`` names a value of a random variable for which a fact says
    it; ``shown`` are other facts about them. What else the lemma was shown with, and speaks of what is replaced, is
    taken on trust: it is listed for the others in formulas, and ``words`` say why it holds."""
    chosen = {name: sp.sympify(value) for name, value in values.items()}
    left, right = (put_in(side, chosen) for side in (lemma.left, lemma.right))
    under = (*conditions([put_in(one, chosen) for one in lemma.under]), *needed(chosen))
    met = [Hypothesis(one.words, _meeting(one, fact, {**chosen, **(every or {})})) for one, fact in meets]
    known = [one for one, _ in meets]
    trusted = [
        Hypothesis(f"{words}: {_for_others(fact, chosen)}")
        for fact in meaning(lemma)
        if not any(fact is one for one in known) and names_in(fact) & {name_of(one) for one in chosen}
    ]
    known_facts = [Hypothesis(one, fact) for one, fact in shown]
    stated = trusted or [Hypothesis(words)] * bool(words)
    hypotheses = (Hypothesis(lemma.words, lemma), *met, *known_facts, *stated)
    under = _all_under(under, *(fact for _, fact in (*meets, *shown)))
    return Applied(left, lemma.relation, right, lemma.words, under, name="a lemma for other laws",
                   hypotheses=hypotheses, discharges=tuple(known))  # fmt: skip


def _meeting(hypothesis: Fact, fact: Fact, chosen: Mapping[Any, sp.Expr]) -> Fact:
    """The fact, if it says the hypothesis with these values put in; raises otherwise."""
    left, right = (put_in(side, chosen) for side in (hypothesis.left, hypothesis.right))
    relation = hypothesis.relation
    if fact.left == right and fact.left != left:
        left, right, relation = right, left, {"<=": ">=", ">=": "<=", "=": "="}[relation]
    if fact.left != left or fact.relation not in ("=", relation) or prover.equal(fact.right, right) is None:
        raise VerificationError(f"the lemma needs {left} {relation} {right}, got {fact.relational()}")
    return fact


def _for_others(fact: Fact, chosen: Mapping[Any, sp.Expr]) -> str:
    """What a fact says with these values put in, as text; raises where that is a wrong statement about numbers."""
    left, right = (put_in(side, chosen) for side in (fact.left, fact.right))
    order = {"=": sp.Eq, "<=": sp.Le, ">=": sp.Ge}[fact.relation]
    if left.is_number and right.is_number and order(left, right) == False:  # noqa: E712
        raise VerificationError(f"the lemma needs {left} {fact.relation} {right}")
    return Fact(left, fact.relation, right).formula


def triangle(u: sp.Expr, v: sp.Expr) -> Applied:
    """The triangle inequality: |u + v| ≤ |u| + |v| for real u and v."""
    if not (u.is_real and v.is_real):
        raise VerificationError(f"the triangle inequality needs real numbers, got {u} and {v}")
    real = Hypothesis("distances on the line", None, "by what the symbols are")
    return Applied(sp.Abs(u + v), "<=", sp.Abs(u) + sp.Abs(v), name="the triangle inequality", hypotheses=(real,))


def independence(whole: sp.Expr, factors: sp.Expr, words: str, checked: Checked) -> Applied:
    """The mean of a product of independent factors is the product of their means: ``whole`` = ``factors``. It is
    checked for small cases, exactly."""
    needed = _in_words(f"{words}: independent", checked)
    return Applied(whole, "=", factors, "independence", name="independence", hypotheses=(needed,))


def total_probability(whole: sp.Expr, parts: sp.Expr, words: str, checked: Checked) -> Applied:
    """A mean or probability as the sum over the values of something else of its conditional ones, checked for small
    cases, exactly. The mean over a law that is written down is no theorem: it is the `mean` of that `law`."""
    needed = _in_words(words, checked)
    return Applied(whole, "=", parts, "total probability", name="total probability", hypotheses=(needed,))


def hoeffding(
    tail: sp.Expr, n: Any, gap: sp.Expr, low: Fact, high: Fact, variable: sp.Expr, words: str, under: Any = ()
) -> Applied:
    r"""Hoeffding's inequality: :math:`\Pr[X_1+\dots+X_n \ge n(E[X]+u)] \le \exp(-2nu^2/(b-a)^2)`, a ≤ X ≤ b, u ≥ 0.

    ``tail`` is the probability, ``gap`` is u; ``low`` and ``high`` are the facts a ≤ X and X ≤ b."""
    a, b = low.left, high.right
    if is_random(sp.Tuple(a, b, gap, sp.sympify(n))) or not isinstance(tail, AppliedUndef):
        raise VerificationError(f"a, b, n and u must be fixed, and the tail a named probability, got {a}, {b}, {tail}")
    hypotheses = (
        Hypothesis("$X$ is not below $a$", _matching(low, a, "<=", variable, "Hoeffding's inequality")),
        Hypothesis("$X$ is not above $b$", _matching(high, variable, "<=", b, "Hoeffding's inequality")),
        Hypothesis("$u$ is not negative", claim(0, "<=", gap, "how far from the mean", under=under)),
        Hypothesis(f"{words}: independent"),
    )
    right = sp.exp(-2 * n * gap**2 / (b - a) ** 2)
    name = "Hoeffding's inequality"
    return Applied(tail, "<=", right, name, _all_under(under, low, high), name=name, hypotheses=hypotheses)


def induction(
    statement: Fact, step: sp.Symbol, base: Fact, following: Fact, start: Any = 1, words: str = ""
) -> Applied:
    """From a statement at the ``start`` (``base``) and from each number to the next (``following``) to all numbers.

    ``statement`` is a `suppose` in the number ``step``; ``base`` must say it at the start. ``following`` must say it at
    step + 1, and is a chain that may use the statement itself, which then is no hypothesis of the derivation."""
    n = step
    for fact, value in ((base, sp.sympify(start)), (following, n + 1)):
        left, right = (put_in(side, {n: value}) for side in (statement.left, statement.right))
        _matching(fact, left, statement.relation, right, "induction")
    _refuse_other_uses(base, following, statement, n)
    always = tuple(one for one in _all_under((), base, following) if not one.has(n))
    later = (*statement.under, sp.Ge(n, start, evaluate=False))
    next_ = (*always, *conditions([put_in(one, {n: n + 1}) for one in later]))
    needs = [sp.Ge(n, start, evaluate=False)] if not n.is_integer or not implied(later[-1], statement.under) else []
    needs += [one for one in (*statement.under, *following.under) if not implied(one, next_)]
    needs += [one for one in base.under if one.has(n) or not implied(one, always)]
    if needs:
        raise VerificationError(
            f"induction from {n} = {start} on needs {needs[0]}, which does not go from {n} + 1 to {n}"
        )
    n_drawn = latex.formula(n)
    hypotheses = (
        Hypothesis(f"it holds for ${n_drawn} = {latex.formula(sp.sympify(start))}$", base),
        Hypothesis(f"from ${n_drawn}$ to ${n_drawn} + 1$", following),
    )
    return Applied(
        statement.left, statement.relation, statement.right, words or "induction", _all_under(always, statement),
        name="induction", hypotheses=hypotheses, discharges=(statement,),
    )  # fmt: skip


def _refuse_other_uses(base: Fact, following: Fact, statement: Fact, n: sp.Symbol) -> None:
    """Raise if the start of an induction uses the statement, or the step uses it at any other number than n."""
    if any(fact is statement for fact in foundations(base)):
        raise VerificationError("the start of an induction must not use the statement")
    open_, seen = [following], set()
    while open_:
        fact = open_.pop()
        for use in fact.uses if id(fact) not in seen else ():
            if any(one is statement for one in foundations(use)):
                moved = n in dict(use.values) and dict(use.values)[n] != n if isinstance(use, Instance) else False
                stays = isinstance(use, Instance) and (not isinstance(use, Fixed) or n in use.fixed)
                if moved or not (stays or n not in use.left.args):
                    raise VerificationError(f"the step may use the statement at {n} only: hand over .fixing({n})")
                open_.append(use.root)
        seen.add(id(fact))


def general(
    name: str, left: Any, relation: str, right: Any, stated: Sequence[str], shown: Sequence[tuple[str, Fact]] = (),
    checked: Checked | None = None, under: Any = (), local: Sequence[Any] = (), discharges: Sequence[Fact] = (),
) -> Applied:  # fmt: skip
    """Another named theorem (Chernoff, Bennett, Fubini, a limit theorem): what it says here, and what it needs.

    ``stated`` are hypotheses in words, ``shown`` pairs of words and the fact that shows them. What a hypothesis needs
    of its ``local`` symbols, over which it speaks, is no condition of the theorem. ``discharges`` are hypotheses of an
    induction, which are none of the derivation."""
    if not stated and not shown:
        raise ValueError(f"{name} must have its hypotheses listed")
    for one in discharges:
        said = [
            tuple(side.subs(n, n + ahead) for side in map(sp.sympify, (left, right)))
            for n in one.left.free_symbols
            for ahead in (0, 1)
        ]
        if (one.left, one.right) not in said or one.relation != relation:
            raise VerificationError(f"{name} cannot discharge {one.relational()}, which is no case of what it says")
    words = [_in_words(one, checked if i == 0 else None) for i, one in enumerate(stated)]
    known = [Hypothesis(one, fact) for one, fact in shown]
    needed = tuple(one for one in _all_under(under, *(fact for _, fact in shown)) if not one.has(*local))
    return Applied(
        left, relation, right, name, needed, name=name, hypotheses=(*known, *words), discharges=tuple(discharges)
    )
