"""What users fit: one file for each estimator, on one base. They check, call the rooms below, and store."""
