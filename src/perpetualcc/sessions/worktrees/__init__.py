"""What was made in a worktree: looked at, merged into the main working tree, thrown away."""
