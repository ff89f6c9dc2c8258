"""False statements that somebody might try to derive: each of them is refused, wherever it enters."""

from __future__ import annotations

import pytest
import sympy as sp

import shuffle_sym as ss
from shuffle_sym.papers.engine import (
    Derivation,
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
    apart = theorems.independence(Mean(X * Y), Mean(X) * Mean(Y), "two coins")
    with refused:
        apart.at({Y: X})
    with refused:
        chain(Mean(X * Y), equals(Mean(X) * Mean(Y), "independent", apart)).at({Y: X})


# ------------------------------------------------------------------------------------------------- definitions


def test_a_name_has_one_meaning():
    with refused:
        made(given(f(a), 1), given(f(b), 2), chain(f(a), equals(1, "")))
    X = Random("X")
    one, two = given(Mean(X), 1, "a mean"), given(Mean(X), 2, "the same")
    with refused:
        made(one, two, chain(1, equals(Mean(X), "one", one), equals(2, "two", two)))
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
    assert "taken for granted: g(u) ≥ 0" in str(d)
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
    with pytest.raises(ss.VerificationError, match="says nothing"):
        coin.mean(lambda value: value * Y)


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
    symbol = sp.Symbol("x", real=True)
    with refused:
        theorems.jensen(X, lambda value: 2 * symbol * value - value**2)
    with refused:
        theorems.jensen(X, lambda value: Random("Z", positive=True) * value**2)


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
    assert "suppose: a small c" in str(again)
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


def test_reasons_grids_and_blocks_are_what_they_seem():
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
