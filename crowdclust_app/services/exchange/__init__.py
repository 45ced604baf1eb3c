"""Tables and files in and out: imports, exports, simulated tables, what reproduces a run."""
