CREATE TABLE note (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;

CREATE TABLE file (
    id INTEGER PRIMARY KEY,
    path TEXT NOT NULL UNIQUE,
    language TEXT NOT NULL,
    lines INTEGER NOT NULL,
    mtime_ns INTEGER NOT NULL,
    size INTEGER NOT NULL,
    digest TEXT NOT NULL,
    read_ns INTEGER NOT NULL,
    worth REAL NOT NULL  -- ranking.weight of the path
);

CREATE TABLE chunk (
    id INTEGER PRIMARY KEY,
    file INTEGER NOT NULL REFERENCES file ON DELETE CASCADE,
    start INTEGER NOT NULL,
    "end" INTEGER NOT NULL,
    kind TEXT NOT NULL,
    symbol TEXT NOT NULL,
    signature TEXT NOT NULL,
    text TEXT NOT NULL,
    digest BLOB NOT NULL  -- of what an embedding model is given
);
CREATE INDEX chunk_by_file ON chunk (file);
CREATE INDEX chunk_by_digest ON chunk (digest);

-- Without its own copy of the text: deleting gives the same words again.
CREATE VIRTUAL TABLE words USING fts5 (
    path, symbol, body, content = '', tokenize = 'porter unicode61'
);
CREATE VIRTUAL TABLE word_rows USING fts5vocab (words, 'row');
-- Words that many chunks share: looking one up costs a pass over so many rows.
CREATE TABLE common_word (stem TEXT PRIMARY KEY, chunks INTEGER NOT NULL) WITHOUT ROWID;

CREATE TABLE definition (
    file INTEGER NOT NULL REFERENCES file ON DELETE CASCADE,
    name TEXT NOT NULL,
    qualified TEXT NOT NULL,
    kind TEXT NOT NULL,
    start INTEGER NOT NULL,
    "end" INTEGER NOT NULL
);
CREATE INDEX definition_by_file ON definition (file);
CREATE INDEX definition_by_name ON definition (name);
CREATE INDEX definition_by_qualified ON definition (qualified);

CREATE TABLE export (
    file INTEGER NOT NULL REFERENCES file ON DELETE CASCADE,
    name TEXT NOT NULL,
    kind TEXT NOT NULL,
    start INTEGER NOT NULL,
    "end" INTEGER NOT NULL
);
CREATE INDEX export_by_file ON export (file);

CREATE TABLE module_key (
    key TEXT NOT NULL,
    file INTEGER NOT NULL REFERENCES file ON DELETE CASCADE,
    PRIMARY KEY (key, file)
) WITHOUT ROWID;
CREATE INDEX module_key_by_file ON module_key (file);

CREATE TABLE import_line (
    id INTEGER PRIMARY KEY,
    file INTEGER NOT NULL REFERENCES file ON DELETE CASCADE,
    text TEXT NOT NULL,
    line INTEGER NOT NULL
);
CREATE INDEX import_line_by_file ON import_line (file);

CREATE TABLE import_target (
    line INTEGER NOT NULL REFERENCES import_line ON DELETE CASCADE,
    rank INTEGER NOT NULL,
    key TEXT NOT NULL,
    PRIMARY KEY (line, rank)
) WITHOUT ROWID;
CREATE INDEX import_target_by_key ON import_target (key);

-- The first target that a file answers to; a package may be several files (Go).
CREATE VIEW imports_file AS
SELECT import_line.file AS importer, module_key.file AS imported, import_line.text, import_line.line
FROM import_line
JOIN import_target ON import_target.line = import_line.id
JOIN module_key ON module_key.key = import_target.key
WHERE import_target.rank = (
    SELECT min(t.rank) FROM import_target AS t
    JOIN module_key AS k ON k.key = t.key WHERE t.line = import_line.id
);

CREATE TABLE call (
    file INTEGER NOT NULL REFERENCES file ON DELETE CASCADE,
    name TEXT NOT NULL,
    caller TEXT NOT NULL,
    line INTEGER NOT NULL
);
CREATE INDEX call_by_file ON call (file, caller);
CREATE INDEX call_by_name ON call (name);
