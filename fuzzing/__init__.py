"""Fuzzing: random hostile calls of every public estimator, kernel and file reader.

``python -m fuzzing --minutes 10 --seed 1`` (or ``make fuzz``) draws calls until the time is over. A call fails if

- it raises anything but one sentence about its input: an error from the inside of numpy, scipy or graspel;
- it returns a wrong result: a graph that is not connected or not finite, an edge that joins no nearest neighbors,
  another label for a training point, an eigenvalue that was skipped, a mean of the field outside of its values; other
  bits in a thread or after a kill; other names than were written; a number from a damaged file;
- it ends its process by a signal (files are read in a process of their own);
- it takes more than ten times as long as the same call on ordinary data of the same shape.

Each estimator and kernel is also called with low limits (:mod:`fuzzing.limits`), as on large data.

Beside single calls there are sequences of `partial_fit` and `forget`, fits in threads, killed runs that go on from
their checkpoints, damaged files, hostile names, and tables with columns of every type: a file for each.

Every failure is shrunk and printed as a few lines of Python. The same seed draws the same calls.
"""
