"""What kernels of all backends share: specs of loops, geometries, the numbers behind modes."""
