"""What `python -m codegen COMMAND` runs: one module per command, each with a function `main`."""
