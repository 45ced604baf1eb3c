"""Responses and labels in, posteriors out: arrays and tables only, no files, threads or database."""
