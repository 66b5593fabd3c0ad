"""
What the code says: a project's files in chunks, words, vectors and a graph, all offline.

Nothing heavy is imported here: a search must not pay for parsers, and parsing not for vectors.
"""
