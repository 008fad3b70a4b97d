//! What is on each cluster, and which clusters are alike.
