"""The `pcc` command: one file per command group, thin over the daemon's protocol."""
