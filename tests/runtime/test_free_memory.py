from __future__ import annotations

from graspel.runtime import free_memory


def test_memory_is_returned_where_that_is_possible_and_nothing_fails_elsewhere(monkeypatch):
    free_memory.return_free_memory()
    monkeypatch.setattr(free_memory.sys, "platform", "plan9")
    free_memory._find_trim.cache_clear()
    free_memory.return_free_memory()
    free_memory._find_trim.cache_clear()
