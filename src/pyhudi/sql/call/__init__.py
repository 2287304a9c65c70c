"""Hudi's procedures, `CALL name(argument => value, ...)`: one module for each family of them."""
