"""Which items are shown together: the Strehl-Ghosh plan and its coverage figures."""
