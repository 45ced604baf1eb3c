"""What a run says of the people who sorted: agreement, criteria, reliability."""
