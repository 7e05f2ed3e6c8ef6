"""What is counted, estimated and picked over dims."""
