"""The optimum: the weights, and the edges, that maximize the objective of the paper."""
