"""What every run shares: threads, progress, checks of parameters, optional packages."""
