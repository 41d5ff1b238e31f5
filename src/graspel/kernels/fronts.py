r"""The fronts of a multifrontal elimination: many small dense matrices, without the lock of the interpreter.

A front (:mod:`graspel.linalg.factor.front_tree`) has a own nodes and b later ones. `own` (a x a) is the block between
own nodes, `beside` (a x b) that of own rows and later columns, `later` (b x b) that between later nodes. Before
elimination upper triangles count. The own nodes of front f are limits[f] to limits[f + 1]; its later ones, and their
places in the front that it is a part of, are pointers[f] to pointers[f + 1] of `later` and `place`; its parts are
part_pointers[f] to part_pointers[f + 1] of `parts`; and its blocks `own` and `beside` begin at entries[firsts[f]], one
after the other.

The formulas are those of :mod:`graspel.linalg.factor.exact_factor`. After elimination the entries are D^-1 and H'.
"""

from __future__ import annotations

import numpy as np

from graspel.kernels.compile import kernel
from graspel.runtime.types import Floats, Indices


@kernel
def add_block(block: Floats, place: Indices, own: Floats, beside: Floats, later: Floats) -> None:
    """Add the upper triangle of a block to the front; `place` are the places of its nodes, increasing."""
    n_own = own.shape[0]
    n = len(place)
    first_later = 0
    while first_later < n and place[first_later] < n_own:
        first_later += 1
    for j in range(n):
        q = place[j]
        if q < n_own:
            for i in range(j, first_later):
                own[q, place[i]] += block[j, i]
            for i in range(first_later, n):
                beside[q, place[i] - n_own] += block[j, i]
        else:
            for i in range(j, n):
                later[q - n_own, place[i] - n_own] += block[j, i]


@kernel
def take_block(place: Indices, own: Floats, beside: Floats, later: Floats) -> Floats:
    """The block of these nodes of the front, both triangles."""
    n_own = own.shape[0]
    n = len(place)
    block = np.empty((n, n))
    first_later = 0
    while first_later < n and place[first_later] < n_own:
        first_later += 1
    for j in range(n):
        q = place[j]
        if q < n_own:
            for i in range(j, first_later):
                block[j, i] = own[q, place[i]]
            for i in range(first_later, n):
                block[j, i] = beside[q, place[i] - n_own]
        else:
            for i in range(j, n):
                block[j, i] = later[q - n_own, place[i] - n_own]
        for i in range(j, n):
            block[i, j] = block[j, i]
    return block


@kernel
def eliminate_fronts(
    lowest: int,
    last: int,
    limits: Indices,
    firsts: Indices,
    pointers: Indices,
    place: Indices,
    part_pointers: Indices,
    parts: Indices,
    entries: Floats,
    logdets: Floats,
) -> Floats:
    """Eliminate the fronts from the lowest to the last, a piece with all its parts; returns what is left of it.

    logdets[f] becomes that of D. Raises LinAlgError if D is not positive definite.
    """
    left = [np.empty((0, 0)) for _ in range(last + 1 - lowest)]
    for f in range(lowest, last + 1):
        a = limits[f + 1] - limits[f]
        b = pointers[f + 1] - pointers[f]
        own = entries[firsts[f] : firsts[f] + a * a].reshape(a, a)
        beside = entries[firsts[f] + a * a : firsts[f] + a * (a + b)].reshape(a, b)
        later = np.zeros((b, b))
        for t in range(part_pointers[f], part_pointers[f + 1]):
            part = parts[t]
            add_block(left[part - lowest], place[pointers[part] : pointers[part + 1]], own, beside, later)
            left[part - lowest] = np.empty((0, 0))
        if a > 0:
            C = np.linalg.cholesky(own.T)
            for i in range(a):
                logdets[f] += 2 * np.log(C[i, i])
            C = np.ascontiguousarray(np.linalg.inv(C))
            if b > 0:
                G = np.dot(C, beside)
                later -= np.dot(G.T, G)
                np.dot(C.T, G, beside)
            np.dot(C.T, C, own)
        left[f - lowest] = later
    return left[last - lowest]


@kernel
def invert_fronts(
    lowest: int,
    last: int,
    known: Floats,
    limits: Indices,
    firsts: Indices,
    pointers: Indices,
    place: Indices,
    part_pointers: Indices,
    parts: Indices,
    entries: Floats,
    slots: Indices,
    slot_pointers: Indices,
    found: Floats,
) -> None:
    """M in the fronts from the last to the lowest, M between the later nodes of the last being `known`.

    The wanted entries of front f are slot_pointers[f] to slot_pointers[f + 1] of `slots` and `found`.
    """
    waiting = [np.empty((0, 0)) for _ in range(last + 1 - lowest)]
    waiting[last - lowest] = known
    for f in range(last, lowest - 1, -1):
        a = limits[f + 1] - limits[f]
        b = pointers[f + 1] - pointers[f]
        later = waiting[f - lowest]
        waiting[f - lowest] = np.empty((0, 0))
        M_own = entries[firsts[f] : firsts[f] + a * a].reshape(a, a).copy()
        H = entries[firsts[f] + a * a : firsts[f] + a * (a + b)].reshape(a, b)
        M_beside = np.empty((a, b))
        if a > 0 and b > 0:
            M_beside = np.dot(H, later)
            M_own += np.dot(M_beside, H.T)
            M_beside *= -1
        for t in range(slot_pointers[f], slot_pointers[f + 1]):
            s = slots[t] - firsts[f]
            if s < a * a:
                found[t] = M_own[s // a, s % a]
            else:
                found[t] = M_beside[(s - a * a) // b, (s - a * a) % b]
        for t in range(part_pointers[f], part_pointers[f + 1]):
            part = parts[t]
            waiting[part - lowest] = take_block(place[pointers[part] : pointers[part + 1]], M_own, M_beside, later)


@kernel
def solve_fronts_forward(
    numbers: Indices,
    limits: Indices,
    firsts: Indices,
    pointers: Indices,
    later: Indices,
    entries: Floats,
    X: Floats,
    origin: int,
) -> None:
    """Substitution in some fronts, each after its parts; row 0 of X is row `origin` of the matrix."""
    for f in numbers:
        a = limits[f + 1] - limits[f]
        b = pointers[f + 1] - pointers[f]
        if a == 0:
            continue
        here = X[limits[f] - origin : limits[f + 1] - origin]
        if b > 0:
            H = entries[firsts[f] + a * a : firsts[f] + a * (a + b)].reshape(a, b)
            moved = np.dot(H.T, here)
            for i in range(b):
                row = later[pointers[f] + i] - origin
                for j in range(X.shape[1]):
                    X[row, j] -= moved[i, j]
        solved = np.dot(entries[firsts[f] : firsts[f] + a * a].reshape(a, a), here)
        for i in range(a):
            for j in range(X.shape[1]):
                here[i, j] = solved[i, j]


@kernel
def solve_fronts_backward(
    lowest: int,
    limits: Indices,
    firsts: Indices,
    pointers: Indices,
    later: Indices,
    entries: Floats,
    X: Floats,
    origin: int,
) -> None:
    """Substitution in all fronts from the last one to the lowest, after that in the other direction."""
    for f in range(len(limits) - 2, lowest - 1, -1):
        a = limits[f + 1] - limits[f]
        b = pointers[f + 1] - pointers[f]
        if a == 0 or b == 0:
            continue
        known = np.empty((b, X.shape[1]))
        for i in range(b):
            row = later[pointers[f] + i] - origin
            for j in range(X.shape[1]):
                known[i, j] = X[row, j]
        here = X[limits[f] - origin : limits[f + 1] - origin]
        here -= np.dot(entries[firsts[f] + a * a : firsts[f] + a * (a + b)].reshape(a, b), known)
