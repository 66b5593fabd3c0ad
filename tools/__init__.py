"""What keeps the documentation true: generators whose output is checked by tests."""
