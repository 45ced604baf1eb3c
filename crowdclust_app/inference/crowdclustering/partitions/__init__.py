"""Which items go together: partitions of every size, refined against the pair labels."""
