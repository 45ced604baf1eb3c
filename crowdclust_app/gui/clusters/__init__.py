"""The Clusters screen: plot, gallery, inspector and the run panel around one selection."""
