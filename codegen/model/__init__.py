"""What the generator knows of operators: frozen records, one module per family of nouns."""
