"""Think → decide → execute → learn: the master agent's loop, and nothing else."""
