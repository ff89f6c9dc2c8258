r"""What people use: the command line, plots, and the explorer."""
