"""One module for each family of statements that writes, defines or lists Hudi tables."""
