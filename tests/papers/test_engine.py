"""The engine of derivations: what it refuses, what it takes for shown, and how it shows it."""

from __future__ import annotations

import dataclasses

import pytest
import sympy as sp

import shuffle_sym as ss
from shuffle_sym.algebra import latex
from shuffle_sym.papers.engine import (
    Derivation,
    Divergence,
    Mean,
    Positive,
    Random,
    at_least,
    at_most,
    cases,
    chain,
    claim,
    equals,
    given,
    growing,
    law,
    on_grid,
    parts,
    quantity,
    suppose,
    telescoping,
    theorems,
)
from shuffle_sym.papers.engine.chains import Chain, Line
from shuffle_sym.papers.engine.points import differ_at_a_point

pytestmark = pytest.mark.exact
x, z = sp.symbols("x z", positive=True)
u = sp.Symbol("u", real=True)
a, b, i, j = sp.symbols("a b i j", integer=True, nonnegative=True)
n, m = sp.symbols("n m", integer=True, positive=True)
f, g = quantity("f", nonnegative=True), quantity("g", nonnegative=True)
refused = pytest.raises(ss.VerificationError)


def made(*blocks):
    return Derivation("title", "source", blocks)


# ------------------------------------------------------------------------------------------------- lines


def test_a_wrong_line_cannot_be_written():
    assert claim((x + 1) ** 2, "=", x**2 + 2 * x + 1, "expand").status == "proved"
    for relation, right in (("=", x**2 + 2 * x + 2), ("<=", x**2), (">=", (x + 2) ** 2)):
        with refused:
            claim((x + 1) ** 2, relation, right, "wrong")
    with refused:
        claim(x + 1, "=", x + 1, "says nothing")


def test_a_line_that_sympy_cannot_prove_needs_a_grid_and_says_so():
    before, after = sp.Mod(n**3 - n, 6), sp.Integer(0)
    line = claim(before, "=", after, "divisible by six", on_grid({n: range(1, 20)}))
    assert (line.status, r"$n \in" in line.evidence) == ("checked", True)
    d = made(chain(before, equals(after, "divisible by six", on_grid({n: range(1, 20)}))))
    assert not d.proved
    assert d.established == "1 line(s) checked on a grid"
    with pytest.raises(ss.VerificationError, match="cannot prove"):
        claim(before, "=", after, "divisible by six")
    with pytest.raises(ss.VerificationError, match="fails at"):
        claim(sp.Mod(n**3, 6), "=", after, "not divisible by six", on_grid({n: range(1, 20)}))


def test_sums_over_binomial_coefficients_are_taken_for_all_values_of_the_symbols():
    k = sp.Symbol("k", integer=True, nonnegative=True)
    w, v = sp.symbols("w v")
    terms = sp.binomial(k, i) * v**i * w ** (k - i)
    assert claim(sp.Sum(terms, (i, 0, k)), "=", (v + w) ** k, "binomial theorem").status == "proved"
    nested = sp.Sum(terms * sp.binomial(i, j), (j, 0, i), (i, 0, k))
    assert claim(nested, "=", (2 * v + w) ** k, "twice").status == "proved"
    for wrong in (
        sp.Sum(terms, (i, 0, k - 1)),  # one term is missing
        sp.Sum(terms, (i, 1, k)),
        sp.Sum(terms * i, (i, 0, k)),  # not geometric
        sp.Sum(terms * v ** (i**2), (i, 0, k)),
    ):
        with refused:
            claim(wrong, "=", (v + w) ** k, "not the binomial theorem")


def test_sums_of_binomial_coefficients_cancel_term_by_term():
    ratio = (sp.binomial(n, m) + sp.binomial(n, m + 1)) / (sp.binomial(n, m) - sp.binomial(n, m + 1))
    assert claim(ratio, "=", (n + 1) / (2 * m + 1 - n), "divide by one of them").status == "proved"
    with refused:
        claim(ratio, "=", (n + 1) / (2 * m + 2 - n), "wrong")


@pytest.mark.parametrize("change", [sp.log, lambda r: sp.log(r) / sp.log(7)])
def test_numbers_that_differ_late_are_not_called_equal(change):
    # SymPy simplifies the difference of these two to 0.
    near, nearer = (1 + sp.Rational(k, 10**40) for k in (1, 3))
    with pytest.raises(ss.VerificationError, match="cannot prove"):
        claim(change(near), "=", change(nearer), "not equal")
    with pytest.raises(ss.VerificationError, match="fails at"):
        claim(change(near * x), "=", change(nearer * x), "not equal", on_grid({x: [1]}))


def test_indices_of_sums_are_not_mixed_up():
    # A renaming that catches another index would make these equal.
    h = quantity("h", nonnegative=True)
    outer = sp.Sum(f(i) * sp.Sum(h(i, j), (j, 1, n)), (i, 1, m))
    assert claim(outer, "=", sp.Sum(f(j) * h(j, i), (i, 1, n), (j, 1, m)), "other names").status == "proved"
    for wrong in (
        sp.Sum(f(i) * sp.Sum(h(j, i), (j, 1, n)), (i, 1, m)),
        sp.Sum(f(i) * sp.Sum(h(j, j), (j, 1, n)), (i, 1, m)),
        sp.Sum(f(i) * h(i, j), (j, 1, m), (i, 1, n)),
    ):
        with refused:
            claim(outer, "=", wrong, "other indices")
    index = sp.Symbol("index_0", integer=True, nonnegative=True)
    with refused:
        claim(sp.Sum(h(index, i), (i, 1, n)), "=", sp.Sum(h(i, i), (i, 1, n)), "a name that the prover uses itself")


def test_a_telescoping_sum_needs_the_right_certificate():
    total = sp.Sum(f(i + 1) - f(i), (i, 1, n))
    assert claim(total, "=", f(n + 1) - f(1), "telescopes", telescoping(f(i))).status == "proved"
    for certificate in (f(i + 1), 2 * f(i), f(n)):
        with refused:
            claim(total, "=", f(n + 1) - f(1), "telescopes", telescoping(certificate))


def test_calculus_goes_both_ways_from_a_start_unless_the_symbol_is_not_below_it():
    v = sp.Symbol("v", nonnegative=True)
    assert claim(1 + v, "<=", sp.exp(v), "convex", growing(v)).status == "proved"
    assert claim(1 + u, "<=", sp.exp(u), "on both sides of 0", growing(u)).status == "proved"
    with refused:
        claim(u, "<=", sp.exp(u) - sp.exp(-u), "from 0 on only", growing(u))
    with refused:
        claim(1 + v, "<=", sp.exp(v) - 1, "false at 0", growing(v))
    with refused:
        claim(1 + 2 * v, "<=", sp.exp(v), "false", growing(v))


def test_positive_parts_and_means_are_what_they_are():
    X, Y = Random("X"), Random("Y")
    assert claim(Mean(3 * X + Y + 1), "=", 3 * Mean(X) + Mean(Y) + 1, "linear").status == "proved"
    assert claim(Positive(x * u), "=", x * Positive(u), "homogeneous").status == "proved"
    assert claim(Positive(u), "=", u + Positive(-u), "two sides").status == "proved"
    assert claim(Mean(Positive(X + Y)), "<=", Mean(Positive(X) + Positive(Y)), "subadditive").status == "proved"
    for left, relation, right in (
        (Mean(X * Y), "=", Mean(X) * Mean(Y)),
        (Positive(u * (u - 1)), "=", u * Positive(u - 1)),
        (Mean(Positive(X)), "<=", Positive(Mean(X))),
        (Positive(X) + Positive(Y), "<=", Positive(X + Y)),
        (Mean(X**2), "<=", Mean(X) ** 2),
    ):
        with refused:
            claim(left, relation, right, "wrong")


# ------------------------------------------------------------------------------------------------- facts


def test_a_fact_is_used_where_its_conditions_hold_and_nowhere_else():
    half = suppose(f(a), "=", g(a) / a, "f through g", under=sp.Gt(a, 0))
    assert claim(f(b + 1), "=", g(b + 1) / (b + 1), "at b + 1", half).status == "proved"
    assert claim(f(b), "=", g(b) / b, "at b > 0", half, under=sp.Gt(b, 0)).status == "proved"
    with pytest.raises(ss.VerificationError, match="needs b > 0"):
        claim(f(b), "=", g(b) / b, "at any b", half)


def test_an_inequality_cannot_show_an_equation():
    fact = suppose(f(a), "<=", g(a), "f is below g")
    assert claim(2 * f(a), "<=", 2 * g(a), "twice", fact).status == "proved"
    for left, relation, right in ((f(a), "=", g(a)), (-f(a), "<=", -g(a)), (f(a), "<=", g(a) - 1)):
        with refused:
            claim(left, relation, right, "wrong", fact)


def test_a_broken_link_is_refused():
    first, second = claim(x, "<=", x + 1, "one"), claim(x + 2, "<=", x + 3, "two")
    with pytest.raises(ss.VerificationError, match="broken link"):
        Chain(x, "<=", x + 3, "both", parts=(first, second))
    with pytest.raises(ss.VerificationError, match="both directions"):
        chain(x, at_most(x + 1, "up"), at_least(x, "down"))
    with pytest.raises(ss.VerificationError, match="the lines say"):
        Chain(x, "=", x + 1, "not an equation", parts=(first,))


def test_directions_compose():
    assert chain(x, at_most(x + 1, "up"), at_most(x + 2, "up")).relation == "<="
    assert chain(x, at_least(x - 1, "down")).relation == ">="
    assert chain((x + 1) ** 2, equals(x**2 + 2 * x + 1, "expand")).relation == "="


def test_a_derivation_uses_all_of_its_blocks_in_their_order():
    definition = given(f(a), a**2, "a square")
    line = chain(f(a), equals(a**2, "defined", definition))
    assert made(definition, line).proved
    with pytest.raises(ss.VerificationError, match="nothing uses"):
        made(definition, chain(a * (a + 1), equals(a**2 + a, "expand")))
    with pytest.raises(ss.VerificationError, match="not before it"):
        made(line, definition, parts(line))
    with pytest.raises(ss.VerificationError, match="defined after it was used"):
        made(chain(f(a) * (a + 1), equals(f(a) * a + f(a), "expand")), definition, line)
    with pytest.raises(ValueError, match="new function of different symbols"):
        given(f(a, a), a, "not a name")
    with pytest.raises(ss.VerificationError, match="through itself"):
        made(given(f(a), f(a) + 1, "circle"), line)


# ------------------------------------------------------------------------------------------------- cases


def test_cases_leave_nothing_out():
    branches = [
        chain(f(b), equals(f(b) + 0 * b + sp.UnevaluatedExpr(0), "held"), under=c) for c in (sp.Gt(b, 0), sp.Eq(b, 0))
    ]
    whole = cases(*branches)
    assert (whole.left, whole.relation) == (f(b), "=")
    with pytest.raises(ss.VerificationError, match="leave out"):
        cases(branches[0])
    within = (sp.Le(a + b, n),)
    four = [
        (sp.Gt(b, 0),),
        (sp.Eq(b, 0), sp.Gt(a, 0), sp.Lt(a, n)),
        (sp.Eq(b, 0), sp.Eq(a, 0)),
        (sp.Eq(b, 0), sp.Eq(a, n)),
    ]

    def branch(under):
        return suppose(g(a, b), "=", 1, "a case", under=under)

    assert cases(*map(branch, four), within=within).right == 1
    for missing in range(4):
        with pytest.raises(ss.VerificationError, match="leave out"):
            cases(*(branch(case) for number, case in enumerate(four) if number != missing), within=within)
    with pytest.raises(ss.VerificationError, match="one formula"):
        cases(branches[0], suppose(g(b), "=", 1, "another", under=sp.Eq(b, 0)))


def test_cases_over_the_reals_see_strict_ends():
    low, high = (suppose(f(u), "=", 1, "half", under=one) for one in (sp.Le(u, 0), sp.Gt(u, 0)))
    assert cases(low, high).right == 1
    with pytest.raises(ss.VerificationError, match="leave out"):
        cases(suppose(f(u), "=", 1, "half", under=sp.Lt(u, 0)), high)


# ------------------------------------------------------------------------------------------------- theorems


def test_a_theorem_shows_its_hypotheses_and_is_not_called_a_proof():
    alpha = sp.Symbol("alpha", positive=True)
    P, Q, V, W = sp.symbols("P Q V W")
    fact = theorems.data_processing(alpha, (P, Q), (V, W), "the messages of the view")
    d = made(chain(Divergence(alpha, P, Q), at_most(Divergence(alpha, V, W), "more is seen", fact)))
    assert (d.proved, d.established) == (False, "proved, by data processing")
    assert d.by[0].hypotheses[0].status == "stated"
    with pytest.raises(ss.VerificationError, match="the check fails"):
        theorems.data_processing(alpha, (P, Q), (V, W), "no map", checked=("n = 1", lambda: False))
    with refused:
        claim(Divergence(alpha, V, W), "<=", Divergence(alpha, P, Q), "the other way", fact)


def test_hypotheses_must_match():
    X, Y, k = Random("X"), Random("Y"), sp.Symbol("k", real=True)
    sums = (Random("S"), Random("T"))
    excess = suppose(Mean(Positive(X - k)), "<=", Mean(Positive(Y - k)), "stop-loss", (), [k])
    means = suppose(Mean(X), "=", Mean(Y), "means")
    assert theorems.convex_order_of_sums(X, Y, k, sums, "independent", excess, means).relation == "<="
    for swapped in ((means, means), (excess, excess)):
        with pytest.raises(ss.VerificationError, match="needs"):
            theorems.convex_order_of_sums(X, Y, k, sums, "independent", *swapped)
    with pytest.raises(ss.VerificationError, match="needs"):
        theorems.convex_order_of_sums(Y, X, k, sums, "independent", excess, means)
    with pytest.raises(ValueError, match="hypotheses"):
        theorems.general("a theorem of nobody", f(a), "<=", g(a), stated=[])


def test_jensen_needs_a_convex_function_and_weights_that_sum_to_one():
    X, w = Random("X"), sp.Symbol("w", nonnegative=True)
    small = suppose(w, "<=", 1, "a share")
    assert theorems.jensen(Positive, [(w, X), (1 - w, a)], small).right == w * Positive(X) + (1 - w) * Positive(a)
    for function, weights, facts in (
        (lambda v: -(v**2), (w, 1 - w), [small]),
        (lambda v: v**2, (w, 1 - w), []),  # 1 − w may be negative
        (lambda v: v**2, (w, w), []),
        (lambda v: v**2, (1, 1), []),
    ):
        with refused:
            theorems.jensen(function, [(sp.sympify(weight), X) for weight in weights], *facts)


def test_a_formula_that_is_not_linear_is_not_taken_for_one():
    assert theorems.affine(3 * a - b + 1, (a, b)).status == "proved"
    for formula in (a * b, a**2, Positive(a)):
        with refused:
            theorems.affine(formula, (a, b))


def test_a_wrong_formula_is_refused_at_once_where_a_large_value_makes_a_power_complex():
    p, n = sp.Symbol("p", positive=True), sp.Symbol("n", integer=True, nonnegative=True)
    right = (1 - p) ** (n + 1) * sp.binomial(n, 2)
    assert differ_at_a_point(right + 1, right)
    assert not differ_at_a_point((1 - p) * (1 - p) ** n * n * (n - 1) / 2, right)
    assert differ_at_a_point(right + 1, right, at_most=True)
    assert not differ_at_a_point(right, right + 1, at_most=True)


def test_weights_of_a_mixture_sum_to_one():
    alpha, w = sp.Symbol("alpha", positive=True), quantity("w", nonnegative=True)
    P, Q = sp.symbols("P Q")
    one = suppose(sp.Sum(w(i), (i, 1, n)), "=", 1, "weights")
    two = suppose(sp.Sum(w(i), (i, 1, n)), "=", 2, "no weights")
    given_ones = (alpha, (P, Q), w(i), (i, 1, n), (f(i), g(i)), "the datasets")
    assert theorems.joint_convexity(*given_ones, one).relation == "<="
    with pytest.raises(ss.VerificationError, match="needs"):
        theorems.joint_convexity(*given_ones, two)


def test_an_induction_discharges_its_hypothesis():
    h = quantity("h")
    step = suppose(h(n + 1), "=", h(n) + 2 * n + 1, "recurrence")
    start = suppose(h(1), "=", 1, "start")
    statement = suppose(h(n), "=", n**2, "to be shown")
    following = chain(
        h(n + 1),
        equals(h(n) + 2 * n + 1, "recurrence", step.at({n: n})),
        equals((n + 1) ** 2, "the step", statement.at({n: n})),
    )
    fact = theorems.induction(statement, n, start, following)
    d = made(step, start, statement, following, chain(h(n), equals(n**2, "by induction", fact)))
    assert {block.words for block in d.supposed} == {"recurrence", "start"}
    with pytest.raises(ss.VerificationError, match="needs"):
        theorems.induction(statement, n, suppose(h(1), "=", 2, "start"), following)


def test_the_probabilities_of_a_law_sum_to_one():
    X = Random("X")
    coin = law(X, {1: x / (x + z), 0: z / (x + z)}, "a coin")
    assert claim(Mean(X**2), "=", x / (x + z), "its square", coin.mean(lambda v: v**2)).status == "proved"
    with pytest.raises(ss.VerificationError, match="sum to 1"):
        law(X, {1: x, 0: z}, "no coin")


# ------------------------------------------------------------------------------------------------- showing


def _two_cases():
    branch = suppose(f(b), "=", 1, "known for $b > 0$", under=sp.Gt(b, 0))
    other = suppose(f(b), "=", 1, "known for $b = 0$", under=sp.Eq(b, 0))
    chains = [chain(f(b) + n - a, equals(n - a + 1, "known", fact), under=fact.under) for fact in (branch, other)]
    return Derivation("two cases", "source", (branch, other, cases(*chains)), {n: "users", b: "a count"})


def test_text_reads_like_the_page():
    text = str(_two_cases())
    assert "case b = 0:" in text
    assert "case b > 0:" in text
    assert "n: users" in text
    assert text.endswith("So n + f(b) − a = n + 1 − a.\nEvery line is proved. Assumptions: (1), (2).")


def test_walking_shows_where_one_is():
    walk = _two_cases().walk(plain=True)
    assert "line 1 of 4" in repr(walk)
    assert "line 1 of 4" in repr(walk.back())
    last = walk.on().on().on().on().on()
    assert "line 4 of 4" in repr(last)
    assert "▸ case b = 0: line 4" in repr(last)
    assert last.why().startswith("proved")


def test_walking_works_with_buttons():
    box = _two_cases().walk()
    back, number, on, why, place = box.children[0].children
    on.click()
    assert (number.value, place.value) == (2, "line 2 of 4")
    page = box.children[1]
    (before,) = page.outputs
    why.value = True
    (after,) = page.outputs
    assert "(2)" in before["data"]["text/markdown"]
    assert "assuming known for $b = 0$" in after["data"]["text/markdown"]
    assert "case b = 0" in before["data"]["text/markdown"]
    back.click()
    back.click()
    assert number.value == 1
    assert page.outputs[0] != after


def test_a_walk_that_cannot_run_shows_its_first_line():
    shown = _two_cases().walk()._repr_mimebundle_()
    assert "application/vnd.jupyter.widget-view+json" in shown
    assert "f{\\left(b \\right)} = 1" in shown["text/markdown"]
    assert "(1) f(b) = 1" in shown["text/plain"]


def test_a_line_is_found_by_its_number():
    d = _two_cases()
    assert d.line(1).words == "known for $b > 0$"
    for number in (0, 5):
        with pytest.raises(ValueError, match="1 … 4"):
            d.line(number)
    with pytest.raises(dataclasses.FrozenInstanceError):
        d.title = "other"


def test_long_formulas_are_broken_and_sums_start_with_what_is_added():
    c = sp.symbols("c_0:40")
    pieces = latex.broken(sp.Add(*c), 60)
    assert len(pieces) > 2
    assert all(latex.width(piece) <= 62 for piece in pieces)
    assert latex.formula(n - a - b) == "n - a - b"
    quotient = latex.broken(sp.Add(*c[:20]) / sp.Add(*c[20:]), 60)
    assert any("big/" in piece for piece in quotient)


def test_words_for_a_paper_are_ascii():
    assert latex.in_paper("Hölder, 5 % & #") == r"H\"older, 5 \% \& \#"
    assert latex.in_paper(r"$e^{\varepsilon_0}$, $x_1$") == r"$e^{\varepsilon_0}$, $x_1$"


@pytest.mark.parametrize(
    ("words", "named"),
    [
        ("the law of $Q_1", "an odd number in 'the law of \\$Q_1'"),
        ("at least e^2", "'\\^'"),
        ("the law of Q_1", "'Q_'"),
        ("ε is small", "'ε'"),
        ("where x ≤ 1", "'≤'"),
        (r"where $x \smaller 1$", r"'\\\\smaller'"),
        ("where $ε$ is small", "'ε'"),
        ("where $x^{2$", "braces"),
    ],
)
def test_a_reason_with_a_formula_that_cannot_be_drawn_is_refused_and_named(words, named):
    for give in ({"words": words}, {"title": words}, {"where": {n: words}}):
        line = chain((x + 1) ** 2, equals(x**2 + 2 * x + 1, give.get("words", "expanded")))
        with pytest.raises(ValueError, match=named):
            Derivation(give.get("title", "title"), "source", (line,), give.get("where", {}))


def test_a_formula_in_text_keeps_what_belongs_together():
    for formula, said in (
        (r"\frac{a + b}{c d}", "(a + b)/(c d)"),
        (r"\frac{a b}{2}", "a b/2"),
        (r"e^{- x^{2}}", "e^(−x²)"),
        (r"\sqrt{x + 1} \le \sqrt{2}", "√(x + 1) ≤ √2"),
        (r"\left[u\right]_{+}", "[u]₊"),
        (r"\binom{n - 1}{k}", "binom(n − 1, k)"),
        (r"\begin{cases} 1 & \text{for}\: x > 0 \\0 & \text{otherwise} \end{cases}", "{ 1 for x > 0; 0 otherwise"),
    ):
        assert latex.in_text(f"${formula}$") == said


def test_a_line_is_data():
    line = claim(x, "<=", x + 1, "one more")
    assert isinstance(line, Line)
    with pytest.raises(dataclasses.FrozenInstanceError):
        line.right = x


def test_sums_are_cut_joined_shifted_and_exchanged_and_wrong_ones_are_refused():
    i, j, n = sp.symbols("i j n", integer=True, nonnegative=True)
    f, g = sp.Function("f", real=True), sp.Function("g", real=True)
    whole = sp.Sum(f(i), (i, 0, n))
    assert chain(whole, equals(f(0) + f(1) + sp.Sum(f(i), (i, 2, n)), "cut")).relation == "="
    assert chain(whole, equals(sp.Sum(f(i), (i, 0, j)) + sp.Sum(f(i), (i, j + 1, n)), "cut at j")).relation == "="
    k = sp.Symbol("k", integer=True)
    assert chain(whole, equals(sp.Sum(f(k + 1), (k, -1, n - 1)), "shifted")).relation == "="
    both = sp.Sum(sp.Sum(g(i, j), (j, 0, n)), (i, 0, n))
    assert chain(both, equals(sp.Sum(sp.Sum(g(i, j), (i, 0, n)), (j, 0, n)), "exchanged")).relation == "="
    last, apart = sp.Sum(f(i), (i, n, n)), sp.Sum(f(i), (i, 0, n - 1))
    assert chain(whole, equals(apart + last, "cut"), equals(apart + f(n), "one term")).relation == "="
    row = sp.Sum(f(i) * sp.Sum(g(i, j), (j, 0, n)), (i, j, j))
    assert chain(row, equals(f(j) * sp.Sum(g(j, i), (i, 0, n)), "row j")).relation == "="
    with pytest.raises(ss.VerificationError):
        chain(row, equals(f(j) * sp.Sum(g(j, j), (j, 0, n)), "the index j is another one"))
    for wrong in (f(n + 1), f(i), 2 * f(n)):
        with pytest.raises(ss.VerificationError):
            chain(last, equals(wrong, "another term"))
    for wrong in (f(0) + sp.Sum(f(i), (i, 2, n)), sp.Sum(f(i + 1), (i, 0, n - 1)), whole + f(n)):
        with pytest.raises(ss.VerificationError):
            chain(whole, equals(wrong, "wrong"))
    triangle = sp.Sum(sp.Sum(g(i, j), (j, 0, i)), (i, 0, n))
    with pytest.raises(ss.VerificationError):
        chain(triangle, equals(sp.Sum(sp.Sum(g(i, j), (i, 0, n)), (j, 0, i)), "ranges that depend on each other"))


def test_growth_is_shown_in_both_directions_or_refused():
    x, u = sp.symbols("x u", positive=True)
    assert chain(x**u, at_most(sp.exp(u * (x - 1)), "log x ≤ x − 1", growing(x, 1))).relation == "<="
    assert chain(1 + (1 + u) * (x - 1), at_most(x ** (1 + u), "Bernoulli", growing(x, 1))).relation == "<="
    for small, large in ((x, x**2), (sp.exp(x - 1), x), (sp.log(x), x - 2)):
        with pytest.raises(ss.VerificationError):  # true on one side of 1 only, the wrong way, false at 1
            chain(small, at_most(large, "wrong", growing(x, 1)))


def test_a_line_shows_itself_without_what_it_rests_on():
    definition = given(f(a), a**2, "a square")
    line = chain(f(a), equals(a**2, "defined", definition))
    assert repr(line) == "<f(a) = a²: defined>"
    assert line._repr_markdown_() == r"$\displaystyle f{\left(a \right)} = a^{2}$<br>defined"


def test_a_point_refutes_what_is_wrong_about_sums_and_nothing_that_is_right():
    i, j, n = sp.symbols("i j n", integer=True, positive=True)
    f = quantity("f", nonnegative=True)
    total, nested = sp.Sum(f(i), (i, 1, n)), sp.Sum(f(j + i), (j, 1, i), (i, 1, n))
    for right, same in ((sp.Sum(2 * f(i), (i, 1, n)), 2 * total), (nested, sp.Sum(f(i + j), (i, j, n), (j, 1, n)))):
        assert not differ_at_a_point(right, same)
        assert differ_at_a_point(right, same + 1)
        assert not differ_at_a_point(right, same + 1, at_most=True)
        assert differ_at_a_point(same + 1, right, at_most=True)
    assert not differ_at_a_point(Positive(total - 3) - Positive(3 - total), total - 3)
    assert not differ_at_a_point(Mean(Random("X")), sp.Integer(0))  # of which nothing is known at a point
