"""False statements that somebody might try to derive: each of them is refused, wherever it enters."""

from __future__ import annotations

import pytest
import sympy as sp

import shuffle_sym as ss
from shuffle_sym.papers.engine import (
    Derivation,
    Divergence,
    Least,
    Mean,
    Positive,
    Random,
    at_most,
    cases,
    chain,
    cite,
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

pytestmark = pytest.mark.exact
x, c = sp.symbols("x c", positive=True)
u, v = sp.symbols("u v", real=True)
a, b, i, j = sp.symbols("a b i j", integer=True, nonnegative=True)
n, m = sp.symbols("n m", integer=True, positive=True)
w = sp.Symbol("w", integer=True)
f, g, h = quantity("f"), quantity("g", nonnegative=True), quantity("h", nonnegative=True)
t = ss.parameter("t", 1)
half = sp.Rational(1, 2)
refused = pytest.raises(ss.VerificationError)


def made(*blocks):
    return Derivation("title", "source", blocks)


# ------------------------------------------------------------------------------------------------- values for symbols


@pytest.mark.parametrize(
    ("symbol", "value"),
    [(x, -2), (x, 0), (a, -1), (a, a - 1), (a, half), (n, 0), (n, n - 1), (t, half), (x, -c), (x, u), (c, x - c),
     (u, sp.I), (u, sp.oo), (a, x), (x, sp.nan)],
)  # fmt: skip
def test_a_fact_is_not_used_for_values_that_its_symbol_cannot_have(symbol, value):
    fact = chain(f(symbol), equals(sp.sqrt(symbol**2) + 1, "defined", given(f(symbol), sp.sqrt(symbol**2) + 1)))
    with refused:
        claim(f(value), "=", fact.at({symbol: value}).right, "at another value", fact.at({symbol: value}))
    with refused:
        claim(f(value), "=", sp.sqrt(symbol**2).subs(symbol, value) + 1, "at any arguments", fact)


def test_a_positive_number_and_one_is_positive_and_a_negative_one_is_not():
    fact = chain(0, at_most(x + 1, "x is positive"))
    assert claim(0, "<=", c + 3, "at c + 2", fact.at({x: c + 2})).status == "proved"
    with pytest.raises(ss.VerificationError, match="x is replaced by -5"):
        fact.at({x: -5})
    with pytest.raises(ss.VerificationError, match="needs u > 0"):
        claim(0, "<=", u + 1, "at u", fact.at({x: u}))


def test_what_a_symbol_is_assumed_to_be_follows_from_conditions_indices_or_facts():
    square = chain(g(a), equals(a**2, "defined", given(g(a), a**2)))
    assert claim(g(a - 1), "=", (a - 1) ** 2, "a ≥ 1", square, under=sp.Ge(a, 1)).status == "proved"
    sum_ = sp.Sum(g(n - j), (j, 0, n))
    assert claim(sum_, "=", sp.Sum((n - j) ** 2, (j, 0, n)), "0 ≤ j ≤ n", square).status == "proved"
    with refused:
        claim(sp.Sum(g(n - j), (j, 0, n + 1)), "=", sp.Sum((n - j) ** 2, (j, 0, n + 1)), "j is n + 1, too", square)
    size = suppose(h(j), "<=", n, "not more than n")
    bound = chain(a, at_most(2 * a, "a is not negative"))
    k = quantity("k", integer=True)
    low = suppose(k(j), ">=", 1, "at least one")
    assert claim(k(j) - 1, "<=", 2 * k(j) - 2, "a fact", bound.at({a: k(j) - 1}), low).status == "proved"
    with refused:
        claim(k(j) - 1, "<=", 2 * k(j) - 2, "no fact", bound.at({a: k(j) - 1}))
    with refused:
        claim(h(j) - 1, "<=", 2 * h(j) - 2, "not whole", bound.at({a: h(j) - 1}), size)


def test_values_are_not_caught_by_indices():
    row = given(f(a), sp.Sum(g(a, i), (i, 0, 1)), "a row")
    assert claim(f(i), "=", g(i, 0) + g(i, 1), "row i", row).status == "proved"
    with refused:
        claim(f(i), "=", g(0, 0) + g(1, 1), "the diagonal", row)
    several = chain(sp.Sum(x * g(i), (i, 0, n)), equals(x * sp.Sum(g(i), (i, 0, n)), "constant"))
    with refused:
        claim(sp.Sum((i + 1) * g(i), (i, 0, n)), "=", (i + 1) * sp.Sum(g(i), (i, 0, n)), "i", several.at({x: i + 1}))
    with refused:  # n ≥ i for one i, not for the index
        claim(sp.Sum(i, (i, 0, 3)), "<=", sp.Sum(n, (i, 0, 3)), "n is above i", under=sp.Ge(n, i))
    some = suppose(g(i), "<=", 5, "from 3 on", under=sp.Ge(i, 3))
    for fact in (some, some.at({})):
        with refused:
            claim(sp.Sum(g(i), (i, 0, n)), "<=", 5 * n + 5, "from 0 on", fact, under=sp.Ge(i, 3))
    small = suppose(i**2, "<=", 4, "this i is small")
    with refused:
        claim(sp.Sum(i**2, (i, 0, n)), "<=", 4 * n + 4, "all are small", small)


# ------------------------------------------------------------------------------------------------- what facts speak of


def test_a_hypothesis_about_one_number_is_not_one_about_all():
    small = suppose(c, "<=", 1, "a small c")
    line = chain(c + 1, at_most(2, "c is small", small))
    for fact in (small, line):
        with pytest.raises(ss.VerificationError, match="this c only"):
            fact.at({c: 5})
    named = chain(f(c), equals(c + 1, "defined", given(f(c), c + 1)), at_most(2, "c is small", small))
    with refused:
        claim(f(5), "<=", 2, "at 5", named)
    ldp = suppose(g(i), "<=", c * h(j), "for this c, and all i and j")
    assert ldp.at({i: i + 1, j: 0}).right == c * h(0)
    with refused:
        ldp.at({c: half})
    assert suppose(Mean(Positive(Random("X") - u)), "<=", 1, "all u", (), [u]).at({u: 3}).left == Mean(
        Positive(Random("X") - 3)
    )


def test_a_name_that_is_defined_through_a_symbol_keeps_it():
    line = given(f(a), a + u, "u is a constant")
    here = chain(f(0), equals(u, "at 0", line))
    for fact in (line, here):
        with pytest.raises(ss.VerificationError, match="this u only"):
            fact.at({u: 2})
    hidden = suppose(f(a), "<=", 3, "which u must satisfy")
    bounded = chain(u, equals(f(0), "at 0", line), at_most(3, "supposed", hidden))
    with refused:
        bounded.at({u: 4})
    free = chain(f(a) - f(b), equals(a - b, "u cancels", line))
    with refused:
        free.at({u: 4})
    assert chain(u + a, equals(f(a), "by name", line), equals(a + u, "back", line)).at({a: 2}).right == u + 2


def test_a_named_function_is_replaced_everywhere_or_not_at_all():
    shifted = chain(sp.Sum(f(i + 1) - f(i), (i, 0, n)), equals(f(n + 1) - f(0), "ends", telescoping(f(i))))
    assert shifted.at({f(i): i}).left.doit() == n + 1
    with refused:
        suppose(f(i), "=", g(i), "one and the same").at({f(i): 1, g(i): 2})
    with refused:
        shifted.at({g(i) * 2: i})


def test_words_of_a_theorem_speak_of_its_own_variables():
    X, Y = Random("X"), Random("Y")
    apart = theorems.independence(Mean(X * Y), Mean(X) * Mean(Y), "two coins", ("nowhere", lambda: True))
    with refused:
        apart.at({Y: X})
    with refused:
        chain(Mean(X * Y), equals(Mean(X) * Mean(Y), "independent", apart)).at({Y: X})


# ------------------------------------------------------------------------------------------------- definitions


def test_a_name_has_one_meaning():
    with refused:
        made(given(f(a), 1), given(f(b), 2), chain(f(a), equals(1, "")))
    X = Random("X")
    for moment in (Mean(X), Mean(2 * X)):  # the law of X, or one mean of it, would say another thing
        with pytest.raises(ValueError, match="new symbol"):
            given(moment, 1, "a mean")
    P, Q = sp.symbols("P Q")
    at_two, at_c = given(Divergence(2, P, Q), 1, "at 2"), given(Divergence(c, P, Q), 5, "at any order")
    with pytest.raises(ss.VerificationError, match="two definitions"):
        made(at_two, at_c, chain(1, equals(Divergence(2, P, Q), "", at_two), equals(5, "", at_c.at({c: 2}))))
    first = given(f(a), a, "in the lemma")
    lemma = made(first, chain(f(a) + 1, equals(a + 1, "defined", first)))
    cited, other = cite(lambda: lemma), given(f(a), 2 * a, "another f")
    with pytest.raises(ss.VerificationError, match="two definitions"):
        made(other, cited, chain(2 * a + 1, equals(f(a) + 1, "mine", other), equals(a + 1, "the lemma's", cited)))
    same = given(f(b), b, "the same f")
    assert made(same, cited, chain(b + 1, equals(f(b) + 1, "mine", same), equals(b + 1, "", cited.at({a: b})))).proved


def test_a_definition_does_not_make_a_sign():
    with refused:
        given(g(u), -1 - u**2, "below zero, and declared not to be")
    unknown = given(g(u), u - 1, "declared not to be negative")
    line = chain(0, at_most(g(u), "declared"), equals(u - 1, "defined", unknown))
    d = made(unknown, line)
    assert [str(one) for one in d.granted] == ["g(u) >= 0"]
    assert "Assumptions: g(u) ≥ 0." in str(d)
    assert not given(g(u), u**2, "a square").granted
    with refused:
        given(n, half, "not whole")
    with pytest.raises(ss.VerificationError, match="must be a Random"):
        given(u, Random("X") + 1, "a constant that is random")


def test_laws_are_laws():
    X, Y = Random("X"), Random("Y")
    with pytest.raises(ss.VerificationError, match="negative"):
        law(X, {1: -1, 0: 2}, "sums to one")
    with refused:
        law(Random("Z", positive=True), {1: half, -1: half}, "not positive")
    coin = law(X, {1: half, 0: half}, "a coin")
    assert coin.mean(lambda value: value if value.is_Symbol else 7).right == half  # of one formula, whatever it is told
    with pytest.raises(ss.VerificationError, match="says nothing"):
        coin.mean(lambda value: value * Y)


def test_a_law_over_an_index_is_a_law():
    X, p = Random("X", real=True), quantity("p", nonnegative=True)
    one = suppose(sp.Sum(p(i), (i, 1, n)), "=", 1, "p is a law")
    drawn = law(X, {i: (p(i), (i, 1, n))}, "i with probability p(i)", total=one)
    assert drawn.mean(lambda v: v**2).right == sp.Sum(p(i) * i**2, (i, 1, n))
    mean = claim(Mean(X), "=", sp.Sum(p(i) * i, (i, 1, n)), "", drawn.mean(lambda v: v))
    assert made(one, drawn, mean).supposed == (one,)
    with pytest.raises(ss.VerificationError, match="index"):
        drawn.mean(lambda v: v * i)  # the i of the law is not an i outside of it
    for values, total in (
        ({i: (p(i), (i, 1, n))}, None),  # nothing says so
        ({i: (p(i), (i, 1, n))}, suppose(sp.Sum(p(i), (i, 1, n)), "<=", 1, "less than a law")),
        ({i: (p(i), (i, 1, n))}, suppose(sp.Sum(p(i), (i, 1, n)), "=", 1, "for some n", under=sp.Gt(n, 3))),
        ({i: (p(i), (i, 1, n)), 0: p(0)}, one),  # more than a law
        ({i: (-p(i), (i, 1, n))}, suppose(sp.Sum(-p(i), (i, 1, n)), "=", 1, "negative")),
        ({i: (p(i), (i, n, 1))}, suppose(sp.Sum(p(i), (i, n, 1)), "=", 1, "backwards, a difference")),
        ({i: (p(i), (i, 1, sp.oo))}, suppose(sp.Sum(p(i), (i, 1, sp.oo)), "=", 1, "its mean may be infinite")),
    ):
        with refused:
            law(X, values, "no law", total=total)
    with refused:  # what it is a law by is a hypothesis, and stands before it
        made(drawn, mean)


def test_a_definition_is_not_used_where_it_is_infinite():
    for value, there, words in (
        (sp.factorial(a - 1), 0, "a!"),
        (sp.gamma(a), 0, "Γ"),
        (1 / a, 0, "an inverse"),
    ):
        name = given(h(a), value, words)
        product = chain(a * h(a), equals(a * value, "by definition", name))
        assert product.at({a: 2}).left == 2 * h(2)
        with pytest.raises(ss.VerificationError, match="divides by 0"):
            product.at({a: there})  # 0 times something infinite is not 0
        total = sp.Sum(a * h(a), (a, 1, n))
        assert chain(total, equals(sp.Sum(a * value, (a, 1, n)), "term by term", name)).relation == "="
        with pytest.raises(ss.VerificationError, match="may be 0"):
            claim(sp.Sum(a * h(a), (a, 0, n)), "=", sp.Sum(a * value, (a, 0, n)), "from 0 on", name)
    with pytest.raises(ss.VerificationError, match="exact formula"):
        claim(sp.Sum(1, (a, 0, sp.oo)), "=", sp.oo, "infinite", telescoping(a))
    angle = chain(sp.cos(u) * f(u), equals(sp.sin(u), "by definition", given(f(u), sp.tan(u), "a slope")))
    with pytest.raises(ss.VerificationError, match="divides by 0"):
        angle.at({u: sp.pi / 2})
    X, Y, w = Random("X", nonnegative=True), Random("Y", positive=True), sp.Symbol("w", nonnegative=True)
    inverse = given(h(w), 1 / w, "an inverse")
    assert claim(Mean(Y * h(Y)), "=", 1, "never 0", inverse).status == "proved"
    with pytest.raises(ss.VerificationError, match="may be 0"):
        claim(Mean(X * h(X)), "=", 1, "X may be 0", inverse)


def test_theorems_about_probabilities_are_checked_and_a_check_that_fails_is_refused():
    X, Y = Random("X"), Random("Y")
    for theorem, left, right in (
        (theorems.independence, Mean(X * Y), Mean(X) * Mean(Y)),
        (theorems.total_probability, Mean(X), Mean(Y) / 2),
    ):
        with pytest.raises(TypeError, match="checked"):
            theorem(left, right, "words alone")
        with pytest.raises(ss.VerificationError, match="check fails"):
            theorem(left, right, "wrong", ("somewhere", lambda: False))
    with pytest.raises(ss.VerificationError, match="real"):
        theorems.triangle(sp.Symbol("w"), x)
    assert theorems.triangle(u, -x).relational() == "Abs(u - x) <= x + Abs(u)"


def test_names_of_the_engine_are_its_own():
    s0, above, rest = sp.Symbol("s_0", integer=True, nonnegative=True), *sp.symbols("above_u s", nonnegative=True)
    slack, T = quantity("slack_0", nonnegative=True, real=True), quantity("T_0", real=True)
    with refused:
        claim(n, "=", a + s0, "some slack", under=sp.Ge(n, a))
    with refused:
        claim(u + above, "<=", Positive(u), "above it")
    with refused:
        claim(f(a) + slack(a), "<=", h(a), "all of the slack", suppose(f(a), "<=", h(a), "less"))
    with refused:
        claim(rest * c, "<=", c**2 / 2, "a derivative at s", growing(c, 0))
    with refused:
        claim(sp.Sum(f(i), (i, 1, n)), "=", T(n + 1) - T(1), "a sum by its ends")


# ------------------------------------------------------------------------------------------------- sums


def test_an_index_is_what_it_is_assumed_to_be_on_its_whole_range():
    with refused:
        claim(0, "<=", sp.Sum(i * g(i), (i, -n, 0)), "i is not negative")
    with refused:
        claim(0, "<=", sp.Sum(g(j), (j, a, 0)), "a sum that goes down is a difference")
    with refused:
        claim(sp.Sum(g(i), (i, 0, i)), "=", sp.Sum(g(j), (j, 0, j)), "an index in its own range")
    wide = sp.Sum(sp.Abs(w), (w, 1, a))
    assert claim(0, "<=", sp.Sum(g(j), (j, 1, a)), "empty or not").status == "proved"
    with refused:
        claim(wide, "=", sp.Sum(w, (w, 1, a)) + 1, "wrong")


def test_infinite_sums_are_not_cut_and_moved():
    steps = sp.Sum(f(i + 1) - f(i), (i, 0, sp.oo))  # 1 for f(i) = i/(i + 1)
    for value in (-f(0), sp.Integer(0)):
        with refused:
            claim(steps, "=", value, "two sums that need not converge")
        with refused:
            claim(steps, "=", value, "what is left at infinity is forgotten", telescoping(f(i)))
    ones = sp.Sum(g(i), (i, 0, sp.oo)) - sp.Sum(g(i), (i, 1, sp.oo))
    with refused:
        claim(ones, "=", 0, "shifted")
    with refused:
        claim(sp.Sum((-1) ** i, (i, 0, sp.oo)), "=", half, "no sum")


# ------------------------------------------------------------------------------------------------- other entrances


def test_conditions_are_inequalities_or_equations():
    with pytest.raises(TypeError, match="condition"):
        claim(u, "<=", 0, "not zero is not negative", under=sp.Ne(u, 0))
    with pytest.raises(TypeError, match="condition"):
        claim(u, "<=", 0, "either", under=sp.Or(u < 0, u > 5))


def test_what_is_undefined_shows_nothing():
    inverse = given(f(u), 1 / u, "an inverse")
    one = chain(u * f(u), equals(1, "cancels", inverse))
    for show in (lambda: one.at({u: 0}), lambda: claim(f(0) * 0, "=", 1, "0/0", inverse)):
        with refused:
            show()
    product = given(h(u), u * f(u), "u/u")
    constant = chain(h(u), equals(u * f(u), "defined", product), equals(1, "cancels", inverse))
    with refused:
        chain(0, equals(h(0), "0 f(0)", product), equals(1, "u/u at 0", constant))
    with refused:
        claim(sp.Float("0.1") + sp.Float("0.2"), "=", sp.Float("0.3"), "not exact")


def test_growth_passes_no_pole_and_no_jump():
    with refused:
        claim(1 / (c - 2), "<=", 0, "a pole at 2", growing(c, 0))
    with refused:
        claim(sp.Piecewise((0, c < 5), (2, True)), "<=", 1, "a jump at 5", growing(c, 0))
    with refused:
        claim(sp.floor(c), "<=", 1, "jumps", growing(c, 0))


def test_an_induction_starts_and_goes_on_where_it_says():
    k = quantity("k")
    step, start = suppose(k(n + 1), "=", k(n) + 2 * n + 1, "step"), suppose(k(1), "=", 1, "start")
    statement = suppose(k(n), "=", n**2, "to be shown")

    def following(fact, **named):
        return chain(k(n + 1), equals(k(n) + 2 * n + 1, "", step.at({})), equals((n + 1) ** 2, "", fact), **named)

    good = following(statement.at({}))
    assert theorems.induction(statement, n, start, good).left == k(n)
    with refused:  # the start by the statement itself
        theorems.induction(statement, n, chain(k(1), equals(1, "", statement)), good)
    with refused:  # only from 5 on
        theorems.induction(statement, n, start, following(statement.at({}), under=sp.Ge(n, 5)))
    round_about = chain(k(n), equals(n**2, "the statement at n", statement.at({})))
    with refused:  # which is then used at n + 1
        theorems.induction(statement, n, start, chain(k(n + 1), equals((n + 1) ** 2, "", round_about)))
    with refused:
        theorems.induction(statement, n, start, chain(k(n + 1), equals((n + 1) ** 2, "", round_about.at({n: n + 1}))))
    zero = suppose(k(a), "=", a**2, "at 0, too")
    more = suppose(k(a + 1), "=", k(a) + 2 * a + 1, "step")
    after = chain(k(a + 1), equals(k(a) + 2 * a + 1, "", more.at({})), equals((a + 1) ** 2, "", zero.at({})))
    with refused:  # nothing is known of k(0)
        theorems.induction(zero, a, start, after)
    with refused:
        theorems.general("words", k(n), "=", n**2, ["it is so"], discharges=[suppose(c, "<=", 1, "something else")])


def test_theorems_hold_for_every_level_and_for_functions_that_are_not_random():
    X, Y, S, T = (Random(name) for name in "XYST")
    means = suppose(Mean(X), "=", Mean(Y), "means")
    for level, under in ((c, ()), (u, sp.Gt(u, 0))):
        order = suppose(Mean(Positive(X - level)), "<=", Mean(Positive(Y - level)), "order", under, [level])
        with pytest.raises(ss.VerificationError, match="every real level"):
            theorems.convex_order_of_sums(X, Y, level, (S, T), "copies", order, means)
    symbol, half = sp.Symbol("x", real=True), sp.Rational(1, 2)
    two = [(half, X), (half, Y)]
    with refused:
        theorems.jensen(lambda value: 2 * symbol * value - value**2, two)
    with refused:
        theorems.jensen(lambda value: Random("Z", positive=True) * value**2, two)
    bent = theorems.jensen(lambda value: value**2 if isinstance(value, sp.Dummy) else -(value**2), two)
    assert (bent.left, bent.right) == ((X / 2 + Y / 2) ** 2, X**2 / 2 + Y**2 / 2)
    real = sp.Symbol("k", real=True)
    order = suppose(Mean(Positive(X - real)), "<=", Mean(Positive(Y - real)), "order", (), [real])
    with refused:
        theorems.convex_order_of_sums(X, Y, real, (S, T), "copies", order, means, lambda value: -(value**2))
    fixed = suppose(0, "<=", X, "low"), suppose(X, "<=", 1, "high")
    moving = claim(X - 1, "<=", X, "less"), claim(X, "<=", X + 1, "more")
    for tail, (low, high) in ((1, fixed), (f(n), moving)):
        with refused:
            theorems.hoeffding(sp.sympify(tail), n, c, low, high, X, "copies")
    with refused:
        theorems.for_other_laws(suppose(c, "<=", 1, "a small c"), {c: 5}, "another c")


def test_hypotheses_are_not_lost():
    low, high = (suppose(f(u), "=", 1, "half", under=one) for one in (sp.Le(u, 0), sp.Gt(u, 0)))
    with pytest.raises(ss.VerificationError, match="not before it"):
        made(cases(low, high))
    assert made(low, high, cases(low, high)).supposed == (low, high)
    small = suppose(c, "<=", 1, "a small c")
    lemma = made(small, chain(c + 1, at_most(2, "c is small", small)))
    cited = cite(lambda: lemma)
    again = made(cited, chain(c**2 + c, equals(c * (c + 1), "a factor"), at_most(2 * c, "the lemma", cited)))
    assert again.supposed == (small,)
    assert "[assuming a small c]" in str(again)
    with refused:
        cited.at({c: 5})
    third = given(c, sp.Rational(1, 3), "a third")
    shown = chain(c, at_most(1, "a third is small", third))
    done = made(
        third, shown, cited, chain(c**2 + c, equals(c * (c + 1), "a factor"), at_most(2 * c, "the lemma", cited))
    )
    assert done.supposed == ()
    with pytest.raises(TypeError, match="block"):
        made(small.at({}))


def test_facts_do_not_hold_each_other_up():
    u_is_v, v_is_u = suppose(u, "=", v, "equal"), suppose(v, "=", u, "equal")
    first = claim(u, ">=", 1, "as v is", u_is_v, under=sp.Ge(v, 1))
    second = claim(v, ">=", 1, "as u is", v_is_u, under=sp.Ge(u, 1))
    for reasons in ((first, second), (second, first)):
        with pytest.raises(ss.VerificationError, match="which needs"):
            claim(u, ">=", 1, "each has its condition from the other", *reasons)
    large = suppose(v, ">=", 2, "v is large")
    assert claim(u, ">=", 1, "v is shown without u", first, large).status == "proved"
    third = claim(x, ">=", 1, "as u is", suppose(x, "=", u, "equal"), under=sp.Ge(u, 1))
    assert claim(x, ">=", 1, "one after the other", third, first, large).status == "proved"


def test_what_is_discharged_is_still_a_hypothesis_where_it_is_used():
    k = quantity("k")
    step, start = suppose(k(n + 1), "=", k(n) + 2 * n + 1, "step"), suppose(k(1), "=", 1, "start", under=sp.Ge(u, 1))
    statement = suppose(k(n), "=", n**2, "to be shown")
    good = chain(k(n + 1), equals(k(n) + 2 * n + 1, "", step.at({})), equals((n + 1) ** 2, "", statement.at({})))
    by = theorems.induction(statement, n, start, good)
    alone = chain(k(m), equals(m**2, "by induction", by.at({n: m})), under=sp.Ge(u, 1))
    assert made(step, start, statement, good, alone).supposed == (step, start)
    both = chain(k(n) + k(m), equals(n**2 + k(m), "not by induction", statement.at({})),
                 equals(n**2 + m**2, "by induction", by.at({n: m})), under=sp.Ge(u, 1))  # fmt: skip
    assert statement in made(step, start, statement, good, both).supposed


def test_what_a_lemma_takes_for_granted_is_granted_where_it_is_cited():
    unknown = given(g(u), u - 1, "declared not to be negative")
    lemma = made(unknown, chain(0, at_most(g(u), "declared"), equals(u - 1, "defined", unknown)))
    cited = cite(lambda: lemma)
    d = made(cited, parts(cited))
    assert [str(one) for one in d.granted] == ["g(u) >= 0"]


def test_a_hypothesis_for_all_is_not_met_for_one():
    everywhere = suppose(f(a), "<=", c, "for all c", for_all=[c])
    lemma = made(everywhere, chain(f(a) - c, at_most(0, "small", everywhere.at({}))))
    cited, here = cite(lambda: lemma), suppose(f(a), "<=", c, "for this c")
    d = made(here, cited, parts(cited, here))
    assert everywhere in d.supposed


def test_no_numbers_are_as_supposed():
    for left, right in ((x, -1), (t, half), (n, half), (c + x, -c)):
        wrong = suppose(left, "<=", right, "never")
        with pytest.raises(ss.VerificationError, match="no numbers"):
            made(wrong, chain(left, at_most(right, "supposed", wrong)))
    small, large = suppose(c, "<=", 1, "small"), given(c, 5, "large")
    with pytest.raises(ss.VerificationError, match="no numbers"):
        made(small, large, chain(5, equals(c, "", large), at_most(1, "", small)))


def test_nothing_divides_by_a_name_that_is_zero():
    name, inverse = given(v, (x + 1) ** 2 - x**2 - 2 * x - 1, "zero"), given(f(u), 1 / u, "an inverse")
    zero = chain(v, equals(name.right, "", name), equals(0, "expand"))
    with pytest.raises(ss.VerificationError, match="which is 0"):
        made(name, inverse, zero, chain(0, equals(f(v) * v, "", zero), equals(1, "", inverse)))


@pytest.mark.parametrize(
    ("left", "relation", "right", "under"),
    [
        (sp.Integer(0) ** (1 - u), "=", 0, (sp.Ge(u, 0), sp.Le(u, 1))),  # 1 at u = 1
        (sp.Piecewise((0, u < 1), (5, True)), "=", 0, (sp.Ge(u, 0), sp.Le(u, 1))),
        (sp.cos(4 * sp.pi * n / m), "=", 1, sp.Ge(2 * n, m)),  # the ratio of whole numbers is not whole
        (sp.floor(2 * n / m), "=", 2 * n / m, sp.Ge(2 * n, m)),
        (sp.binomial(a - 1, b), "=", sp.binomial(a - 1, a - 1 - b), ()),  # 1 and 0 at a = b = 0
        (sp.Sum(sp.Integer(1), (i, 0, sp.oo)) + u, "=", sp.Sum(sp.Integer(2), (i, 0, sp.oo)) + u, ()),
        (sp.Integral(1, (u, 0, sp.oo)), "=", 2 * sp.Integral(1, (u, 0, sp.oo)), ()),
        (sp.Pow(0, -1, evaluate=False), "=", sp.Add(sp.Pow(0, -1, evaluate=False), 1, evaluate=False), ()),
        (sp.log(u), "<=", sp.log(u + 1), ()),  # log 3 against log 2, and iπ, at −3
        (sp.I * u, "<=", sp.I * u + 1, ()),
    ],
)  # fmt: skip
def test_false_formulas(left, relation, right, under):
    with refused:
        claim(left, relation, right, "wrong somewhere", under=under)


def test_an_end_that_belongs_to_a_range_is_looked_at():
    z = sp.Symbol("z", nonnegative=True)
    inverse = chain(f(z), equals(1, "", suppose(f(z), "=", 1, "for positive z", under=sp.Gt(z, 0))), under=sp.Gt(z, 0))
    with refused:
        claim(f(z), "=", 1, "and at 0", inverse, under=sp.Le(z, 1))


def test_growth_starts_where_it_may():
    for inverse, start, under in ((1 / c, -1, ()), (1 / (c - 2), 0, sp.Ge(c, 3))):
        with refused:
            claim(inverse, "<=", 0, "across a pole", growing(c, start), under=under)


def test_values_are_real_and_fixed_and_for_all_arguments():
    square = chain(0, at_most(v**2, "a square"))
    assert [str(one) for one in square.at({v: sp.sqrt(u - 5)}).under] == ["u - 5 >= 0"]
    assert [str(one) for one in square.at({v: sp.log(u)}).under] == ["u > 0"]
    X = Random("X")
    with pytest.raises(ss.VerificationError, match="must not be random"):
        chain(Mean(u * X), equals(u * Mean(X), "linear")).at({u: X})
    low = claim(0, "<=", h(0), "declared")
    with refused:  # n − 1 is not negative for n ≥ 1, and is at 0
        low.at({h(n): n - 1})
    with refused:
        claim(0, "<=", sp.Sum(h(i), (i, 0, 2)), "declared").at({h(i): i - 3})


def test_an_index_outside_of_its_sum_is_not_in_its_range():
    one = chain(f(0), equals(1, "", suppose(f(0), "=", 1, "")), under=sp.Ge(i, 5))
    with refused:  # there is no such i
        claim(f(0) + sp.Sum(g(i), (i, 3, 2)), "=", 1, "an empty sum", one)
    some = suppose(f(a), "=", 1, "from 1 on", under=sp.Ge(a, 1))
    with refused:
        claim(f(a) + sp.Sum(g(i), (i, 1, a)), "=", 1 + sp.Sum(g(i), (i, 1, a)), "a may be 0", some)
    row, large = given(f(a), sp.Sum(h(i), (i, 0, a)), "a row"), suppose(h(b), "=", 7, "from 3 on", under=sp.Ge(b, 3))
    other = sp.Sum(x * i, (i, 3, 5))
    with refused:  # i is 0 … j in the row
        claim(sp.Sum(f(j), (j, 3, 5)) + other, "=", sp.Sum(7 * (j + 1), (j, 3, 5)) + other, "two indices i", row, large)
    squares = given(f(a), sp.Sum(i**2, (i, 0, a)), "squares")
    with refused:
        claim(f(n), "<=", 4 * n + 4, "all are small", squares, suppose(i**2, "<=", 4, "this i is small"))
    even = sp.Symbol("e", even=True, nonnegative=True)
    sign = chain(f(even), equals(1, "even", given(f(a), (-1) ** a)))
    with refused:
        claim(sp.Sum(f(even), (even, 0, 1)), "=", 2, "1 is odd", sign)


def test_what_holds_at_a_point_says_nothing_about_a_slope():
    line, here = given(f(u), u - 1, "a line"), suppose(u, "=", 1, "this u")
    zero = chain(f(u), equals(u - 1, "", line), equals(0, "", here))
    with refused:
        claim(sp.Derivative(f(u), u), "=", 0, "flat", zero)


def test_cases_are_not_about_random_variables():
    X = Random("X")
    high = claim(Mean(Positive(X)), "=", Mean(X), "positive", under=sp.Ge(X, 0))
    with pytest.raises(ss.VerificationError, match="random"):
        cases(high, claim(Mean(Positive(X)), "=", 0, "negative", under=sp.Le(X, 0)))


def test_reasons_grids_and_blocks_are_what_they_seem():
    with refused:
        claim(1 / (n - 1) - 1 / (n - 1) ** 2, "=", 5 / (n - 1) - 1 / (n - 1) ** 2, "undefined", on_grid({n: [1]}))
    with pytest.raises(TypeError, match="reasons"):
        claim(c, "<=", c + 1, "why", "because")
    for values in ({}, {n: []}):
        with pytest.raises(ValueError, match="at least one value"):
            claim(n, "=", 1, "nowhere checked", on_grid(values))
    with pytest.raises(ValueError, match="at least one"):
        Least()
    blocks = [chain(c, at_most(c + 1, "more"))]
    d = Derivation("title", "source", blocks, {c: "a number"})
    blocks.append(chain(c, at_most(c + 2, "more")))
    assert len(d.blocks) == 1
    with pytest.raises(TypeError):
        d.where[c] = "another one"
