"""From a kernel's text or function to machine code."""
