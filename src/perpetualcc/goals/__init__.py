"""From a wish to done: what proves it."""
