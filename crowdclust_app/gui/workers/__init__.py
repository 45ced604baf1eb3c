"""The Workers screen: table, small confusion matrices, one worker in large."""
