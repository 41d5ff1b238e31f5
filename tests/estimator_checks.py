"""scikit-learn's checks of an estimator, without those that another estimator on the same base has run already.

`GraspelClustering` runs all checks. `GraspelEmbedding` and `GraspelTSNE` share its base, `GraphEstimator`, which
validates the data: they run the checks of their own parameters, attributes and methods.
"""

from __future__ import annotations

from typing import Any

from sklearn.utils.estimator_checks import estimator_checks_generator

VALIDATION = {
    "check_array_api_input",
    "check_complex_data",
    "check_dtype_object",
    "check_estimator_sparse_array",
    "check_estimator_sparse_matrix",
    "check_estimator_sparse_tag",
    "check_estimators_dtypes",
    "check_estimators_empty_data_messages",
    "check_estimators_nan_inf",
    "check_f_contiguous_array_estimator",
    "check_fit1d",
    "check_fit2d_1feature",
    "check_positive_only_tag_during_fit",
    "check_readonly_memmap_input",
}


def own_checks(estimator: Any, expected_failures: dict[str, str] | None = None) -> list[Any]:
    """Pairs (estimator, check) to parametrize a test with: all checks except those of the shared validation."""
    cases = estimator_checks_generator(estimator, expected_failed_checks=expected_failures, mark="xfail")
    return [case for case in cases if check_name(_check_of(case)) not in VALIDATION]


def check_name(check: Any) -> str:
    """The name of a check, which may be a partial function."""
    return getattr(check, "func", check).__name__


def ids(value: Any) -> str:
    """The id of a test: the estimator's class, or the name of the check."""
    return check_name(value) if callable(value) else type(value).__name__


def _check_of(case: Any) -> Any:
    return getattr(case, "values", case)[1]  # a case that is expected to fail is a pytest.param
