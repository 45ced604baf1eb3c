"""The Progress screen: how a campaign fills, and what can still be changed about its plan."""
