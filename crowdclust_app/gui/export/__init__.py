"""The Export screen: tables, a report, plots and photos for others."""
