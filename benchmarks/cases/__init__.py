"""The cases: one module per group, each with a table `CASES`."""
