"""Fits: settings, threads and processes, progress, results, and the runs that a campaign keeps."""
