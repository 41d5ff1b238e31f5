"""Products of rows: the entries of a product of two sparse matrices at given places."""

from __future__ import annotations

from graspel.kernels.compile import kernel
from graspel.runtime.types import Floats, Indices


@kernel
def multiply_rows(
    a_start: Indices,
    a_columns: Indices,
    a_values: Floats,
    b_start: Indices,
    b_columns: Indices,
    b_values: Floats,
    p: Indices,
    q: Indices,
    products: Floats,
) -> None:
    """Row p_i of one CSR matrix times row q_i of another, for all i; the columns of each row are sorted."""
    for i in range(len(p)):
        s = a_start[p[i]]
        t = b_start[q[i]]
        s_end = a_start[p[i] + 1]
        t_end = b_start[q[i] + 1]
        total = 0.0
        while s < s_end and t < t_end:
            a = a_columns[s]
            b = b_columns[t]
            if a == b:
                total += a_values[s] * b_values[t]
                s += 1
                t += 1
            elif a < b:
                s += 1
            else:
                t += 1
        products[i] = total
