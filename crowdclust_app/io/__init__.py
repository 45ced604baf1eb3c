"""Images and tables from and to files."""
