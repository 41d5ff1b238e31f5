r"""Inner loops of t-SNE: affinities, charges on a grid, forces on points, and one step of gradient descent.

Coordinates are rows of single-precision matrices with two or three columns. Grids have three axes; in the plane the
first has one node. A point touches the four nodes around it on every axis, with the weights of a cubic B-spline. Every
kernel works on the rows from `first` to `last`, and writes to these rows only.
"""

from __future__ import annotations

import numpy as np

from graspel.kernels.compile import kernel

NODES = 4  # nodes that a cubic B-spline touches on each axis
BISECTIONS = 40  # steps at most in the search for the width of a Gaussian
ENTROPY_TOL = 1e-3  # of its entropy, which is the logarithm of the perplexity
LEAST_GAIN = np.float32(0.01)  # smallest factor of a coordinate's step (Jacobs 1988)
LONGEST_STEP = np.float32(5)  # length that a step of one point is cut to


@kernel
def spline(position, low, inverse, weights, slopes):  # type: ignore[no-untyped-def]
    """Write the weights of the four nodes around a position, and their derivatives; return the first of the nodes."""
    one, half, third = np.float32(1), np.float32(0.5), np.float32(1) / np.float32(6)
    u = (position - low) * inverse
    node = int(u)
    t = u - np.float32(node)
    s = one - t
    weights[0], weights[3] = s * s * s * third, t * t * t * third
    weights[1] = (np.float32(3) * t * t * t - np.float32(6) * t * t + np.float32(4)) * third
    weights[2] = one - weights[0] - weights[1] - weights[3]
    slopes[0], slopes[3] = -half * s * s * inverse, half * t * t * inverse
    slopes[1] = (np.float32(1.5) * t - np.float32(2)) * t * inverse
    slopes[2] = -slopes[0] - slopes[1] - slopes[3]
    return node - 1


@kernel
def place_spline(Y, i, low, inverse, weights, slopes, nodes):  # type: ignore[no-untyped-def]
    """The splines of point i on all axes; return how many nodes it touches on the first axis of the grid."""
    d = Y.shape[1]
    for axis in range(d):
        nodes[3 - d + axis] = spline(Y[i, axis], low[axis], inverse, weights[3 - d + axis], slopes[3 - d + axis])
    if d == 3:
        return NODES
    weights[0, 0], slopes[0, 0], nodes[0] = np.float32(1), np.float32(0), 0
    return 1


@kernel
def spread_charges(Y, low, inverse, first, last, grid):  # type: ignore[no-untyped-def]
    """Add a charge of one for each point to the nodes of the grid around it."""
    weights, slopes = np.empty((3, NODES), dtype=np.float32), np.empty((3, NODES), dtype=np.float32)
    nodes = np.zeros(3, dtype=np.int64)
    for i in range(first, last):
        depth = place_spline(Y, i, low, inverse, weights, slopes, nodes)
        for a in range(depth):
            for b in range(NODES):
                w = weights[0, a] * weights[1, b]
                row = grid[nodes[0] + a, nodes[1] + b]
                for c in range(NODES):
                    row[nodes[2] + c] += w * weights[2, c]


@kernel
def gather_slopes(Y, low, inverse, first, last, potential, repulsion):  # type: ignore[no-untyped-def]
    """Write the gradient of the potential at each point to `repulsion`; return the sum of the potentials."""
    weights, slopes = np.empty((3, NODES), dtype=np.float32), np.empty((3, NODES), dtype=np.float32)
    nodes, found = np.zeros(3, dtype=np.int64), np.empty(3, dtype=np.float32)
    d, total = Y.shape[1], 0.0
    for i in range(first, last):
        depth = place_spline(Y, i, low, inverse, weights, slopes, nodes)
        value = 0.0
        found[:] = 0
        for a in range(depth):
            for b in range(NODES):
                row = potential[nodes[0] + a, nodes[1] + b]
                level, slope = np.float32(0), np.float32(0)
                for c in range(NODES):
                    level += weights[2, c] * row[nodes[2] + c]
                    slope += slopes[2, c] * row[nodes[2] + c]
                w = weights[0, a] * weights[1, b]
                value += w * level
                found[0] += slopes[0, a] * weights[1, b] * level
                found[1] += weights[0, a] * slopes[1, b] * level
                found[2] += w * slope
        for axis in range(d):
            repulsion[i, axis] = found[3 - d + axis]
        total += value
    return total


@kernel
def attract(start, members, affinities, Y, first, last, attraction):  # type: ignore[no-untyped-def]
    """The sum over the neighbors j of each point i of p_ij (y_i - y_j) / (1 + |y_i - y_j|^2)."""
    one, zero = np.float32(1), np.float32(0)
    flat = Y.shape[1] == 2
    for i in range(first, last):
        x, y, z = Y[i, 0], Y[i, 1], zero if flat else Y[i, 2]
        fx, fy, fz = zero, zero, zero
        if flat:
            for s in range(start[i], start[i + 1]):
                j = members[s]
                dx, dy = x - Y[j, 0], y - Y[j, 1]
                pull = affinities[s] / (one + dx * dx + dy * dy)
                fx += pull * dx
                fy += pull * dy
        else:
            for s in range(start[i], start[i + 1]):
                j = members[s]
                dx, dy, dz = x - Y[j, 0], y - Y[j, 1], z - Y[j, 2]
                pull = affinities[s] / (one + dx * dx + dy * dy + dz * dz)
                fx += pull * dx
                fy += pull * dy
                fz += pull * dz
            attraction[i, 2] = fz
        attraction[i, 0], attraction[i, 1] = fx, fy


@kernel
def move(Y, attraction, repulsion, updates, gains, factors, first, last, bounds):  # type: ignore[no-untyped-def]
    """One step of gradient descent with momentum and gains; `bounds` gets the smallest and largest coordinates.

    `factors` are those of attraction, of the slope of the potential, of the gradient, and of the last update.
    """
    pull, push, rate, momentum = factors[0], factors[1], factors[2], factors[3]
    bounds[0], bounds[1] = np.float32(np.inf), np.float32(-np.inf)
    for i in range(first, last):
        length = np.float32(0)
        for axis in range(Y.shape[1]):
            slope = pull * attraction[i, axis] + push * repulsion[i, axis]
            gain = gains[i, axis]
            if (slope > 0) != (updates[i, axis] > 0):
                gain += np.float32(0.2)
            else:
                gain = max(gain * np.float32(0.8), LEAST_GAIN)
            gains[i, axis] = gain
            updates[i, axis] = momentum * updates[i, axis] - rate * gain * slope
            length += updates[i, axis] * updates[i, axis]
        shrink = np.float32(1)
        if length > LONGEST_STEP * LONGEST_STEP:
            shrink = LONGEST_STEP / np.sqrt(length)
        for axis in range(Y.shape[1]):
            updates[i, axis] *= shrink
            Y[i, axis] += updates[i, axis]
            bounds[0, axis] = min(bounds[0, axis], Y[i, axis])
            bounds[1, axis] = max(bounds[1, axis], Y[i, axis])


@kernel
def sum_divergence(start, members, affinities, Y, first, last):  # type: ignore[no-untyped-def]
    """The sum over the entries of P of p log(p (1 + |y_i - y_j|^2)): the divergence is this plus log Z."""
    total = 0.0
    for i in range(first, last):
        for s in range(start[i], start[i + 1]):
            distance = 0.0
            for axis in range(Y.shape[1]):
                difference = Y[i, axis] - Y[members[s], axis]
                distance += difference * difference
            if affinities[s] > 0:
                total += affinities[s] * np.log(affinities[s] * (1 + distance))
    return total


@kernel
def calibrate_entropy(z, entropy, first, last, weights):  # type: ignore[no-untyped-def]
    """Write the weights exp(-b z) of each row, scaled to sum one, with the b for which they have this entropy.

    Entries of infinity get the weight zero. Rows whose entries are too few for the entropy get nearly equal weights.
    """
    width = z.shape[1]
    for i in range(first, last):
        low, high, b, least, mean, count = 0.0, np.inf, 0.0, np.inf, 0.0, 0
        for t in range(width):
            if z[i, t] < np.inf:
                least = min(least, z[i, t])
                mean += z[i, t]
                count += 1
        if count == 0:
            continue
        mean = mean / count - least
        b = 1.0 / mean if mean > 0 else 0.0
        for _ in range(BISECTIONS):
            total, moment = 0.0, 0.0
            for t in range(width):
                weights[i, t] = 0.0
                if z[i, t] < np.inf:
                    weights[i, t] = np.exp(-b * (z[i, t] - least))
                    total += weights[i, t]
                    moment += weights[i, t] * (z[i, t] - least)
            if mean == 0 or np.abs(np.log(total) + b * moment / total - entropy) < ENTROPY_TOL:
                break
            if np.log(total) + b * moment / total > entropy:  # too even: narrower
                low = b
                b = 2 * b if high == np.inf else (low + high) / 2
            else:
                high = b
                b = (low + high) / 2
        for t in range(width):
            weights[i, t] /= total
