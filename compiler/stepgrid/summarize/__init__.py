"""Reports, made of the tables of a plan and the plan alone: it measures nothing and never reads a result."""
