"""The Stages screen: the tree of clusters, and what each of them is subdivided into."""
