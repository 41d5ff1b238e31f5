"""Support for every run: threads, progress, checks of parameters, optional packages."""
