"""Programs over the generated package: checking operators, compiling kernels ahead."""
