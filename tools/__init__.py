"""What an agent or a command calls: plain functions over records and arrays."""
