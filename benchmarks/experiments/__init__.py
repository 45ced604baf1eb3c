"""The paper's experiments on simulated campaigns and on real ones, for any clustering method that is passed in.

Nothing here knows a method: an experiment gets a `Solver` and gives rows of figures and what to draw of them.
"""
