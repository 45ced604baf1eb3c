"""The experiments of the papers, and how fast everything is: for those who develop the program, not in the wheel."""
