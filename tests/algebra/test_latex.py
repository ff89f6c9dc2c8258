"""Words with formulas: what is refused, and what a terminal shows."""

from __future__ import annotations

import pytest

from shuffle_sym.algebra import latex


@pytest.mark.parametrize(
    ("words", "named"),
    [
        ("an odd $ here", "an odd number in 'an odd $ here'"),
        ("a power x^2", "'^' outside of them in 'a power x^2'"),
        ("an index x_1", "'x_' outside of them"),
        ("a letter α", "'α' outside of them"),
        (r"$\unknown{x}$", r"got '\\unknown'"),
        (r"a power in words $\text{a^b}$", r"got '\\text{a^b}'"),
        (r"half a fraction $\frac{1}$", r"got '\\frac{1}'"),
        (r"a root of nothing $\sqrt$", r"got '\\sqrt'"),
        ("a power of nothing $x^$", "got 'x^'"),
        ("two indices $a_b_c$", "got 'a_b_c'"),
        (r"half a bracket $\left(x$", r"got '\\left(x'"),
        (r"cases without an end $\begin{cases} a$", "MathJax"),
        ("a column $a & b$", "got 'a & b'"),
        ("a brace $x}$", "got 'x}'"),
        ("a comment $5%$", "got '5%'"),
        ("no formula $$", "got ''"),
    ],
)
def test_words_that_a_notebook_would_not_draw_are_refused_and_named(words, named):
    with pytest.raises(ValueError) as refused:  # noqa: PT011 (the words are compared below)
        latex.refuse_bare(words)
    assert named in str(refused.value)


@pytest.mark.parametrize(
    ("words", "shown"),
    [
        (r"$\frac1k\sum_i x_i$", "1/k Σ_i x_i"),
        (r"$\frac{a}{b}$, then", "a/b, then"),
        (r"$e^{\frac{x}{2}}$", "e^(x/2)"),
        (r"$\begin{cases} a & b \\ c & d \end{cases}$", "{ a b; c d"),
    ],
)
def test_a_terminal_shows_formulas_as_text(words, shown):
    assert latex.in_text(words) == shown
