r"""The questions: δ(ε) and ε(δ) of shuffled messages, profiles, rounds, Rényi divergences, attacks, inverses."""
