r"""What is analysed: randomizers, decompositions (a, b, c), and the random variable G."""
