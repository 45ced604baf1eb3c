"""What a run says of items and clusters, and what the lead makes of them: names, categories, moves."""
