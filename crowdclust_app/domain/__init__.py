"""What the words mean: campaigns, HITs, responses, partial clusterings and their pair labels."""
