"""What is next, and when: the ledger's contract, its transitions, and the dispatcher."""
