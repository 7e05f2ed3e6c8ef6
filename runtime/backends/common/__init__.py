"""What backends share: rules of dtypes and dims, the choice of a kernel, results that are given."""
