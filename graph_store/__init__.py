"""What is kept: records, run directories, names and the graph."""
