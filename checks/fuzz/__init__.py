r"""A fuzzer that stays: hard inputs at random, every answer against an oracle that shares no code with the package.

=============  ========================================================================================================
`oracle`       pairs of laws outcome by outcome, from integer polynomial powers; all datasets; many rounds
`sums`         two atoms and any n: binomial sums of 400 and more bits, Euler–Maclaurin sums from n = 10^7 to 10^15
`definitions`  the catalogue written down a second time, as matrices
`masses`       fractions from 1 down to 1e-300
`inputs`       what is drawn: decompositions, randomizers, numbers of users
`points`       where it is asked: α, ε and δ
`questions`    what is asked of it: delta, epsilon, profile, rounds, …
`judges`       when an end of an answer is on the wrong side
`runs`         cases, counts, the file that a run is resumed from
=============  ========================================================================================================

``make fuzz`` runs it; ``python -m checks.fuzz --help`` says how to choose the seed and the time. Only `questions` asks
the package, as text that is also printed when an answer is wrong: a failure is one line of Python.
"""
