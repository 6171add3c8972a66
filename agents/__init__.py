"""Who does it, in which order: the agents, the plan and the workflow."""
