"""
The code graph as rows: edges are joined when they are asked for, so they are never out of date.

A call names only what it calls. It means the definition of that name in its own file; else one in
a file that its file imports, directly or through a package's index file; else the only definition
of that name in the project. Otherwise it means nothing here.
"""

from collections.abc import Iterator

from perpetualcc.knowledge.code_graph import Edge, EdgeKind, FileImport, Node
from perpetualcc.knowledge.ranking import is_test
from perpetualcc.knowledge.values import CallSite, ChunkKind, Definition, Export
from perpetualcc.store.index.database import IndexDatabase, reports_damage

# Files whose names a file may use: what it imports, and what an imported index file imports.
_VISIBLE = """
visible (importer, imported) AS (
    SELECT importer, imported FROM imports_file WHERE {first}
    UNION
    SELECT outer_import.importer, inner_import.imported
    FROM imports_file AS outer_import
    JOIN file AS package ON package.id = outer_import.imported
    JOIN imports_file AS inner_import ON inner_import.importer = package.id
    WHERE {second}
        AND (package.path LIKE '%\\_\\_init\\_\\_.py%' ESCAPE '\\' OR package.path LIKE '%index.%')
)
"""
_CALLEES = (
    "WITH "
    + _VISIBLE.format(first="importer = :file", second="outer_import.importer = :file")
    + """
SELECT file.path, definition.qualified, min(call.line) FROM call
JOIN definition ON definition.name = call.name
JOIN file ON file.id = definition.file
WHERE call.file = :file AND call.caller = :caller AND (
    definition.file = :file
    OR NOT EXISTS (SELECT 1 FROM definition AS own WHERE own.file = :file AND own.name = call.name)
    AND (
        definition.file IN (SELECT imported FROM visible)
        OR (SELECT count(*) FROM definition AS same WHERE same.name = call.name) = 1
    )
)
GROUP BY file.path, definition.qualified ORDER BY min(call.line), file.path LIMIT 100
"""
)
_CALLERS = (
    "WITH "
    + _VISIBLE.format(first="imported = :file", second="inner_import.imported = :file")
    + """
SELECT file.path, call.caller, call.name, min(call.line) FROM definition
JOIN call ON call.name = definition.name
JOIN file ON file.id = call.file
WHERE definition.file = :file AND (:name = '' OR definition.qualified = :name) AND (
    call.file = :file AND :name <> ''
    OR call.file <> :file AND NOT EXISTS (
        SELECT 1 FROM definition AS own WHERE own.file = call.file AND own.name = call.name
    ) AND (
        call.file IN (SELECT importer FROM visible)
        OR (SELECT count(*) FROM definition AS same WHERE same.name = call.name) = 1
    )
)
GROUP BY file.path, call.caller, call.name ORDER BY file.path, min(call.line) LIMIT 200
"""
)


class GraphRows:
    """`knowledge.code_graph.GraphIndex` in SQLite."""

    def __init__(self, database: IndexDatabase) -> None:
        self._database = database

    @reports_damage
    def find(self, entity: str) -> list[Node]:
        path, _, qualified = entity.partition("::")
        connection = self._database.connection
        if not qualified:
            files = connection.execute(
                "SELECT path FROM file WHERE lines > 0 AND (path = ? OR path LIKE ? ESCAPE '\\')"
                " ORDER BY path <> ?, length(path), path LIMIT 5",
                (path, "%/" + _literal(path), path),
            ).fetchall()
            if files:
                return [Node(path=row[0]) for row in files[: 1 if files[0][0] == path else 5]]
        rows = connection.execute(
            "SELECT file.path, qualified FROM definition JOIN file ON file.id = definition.file"
            " WHERE (qualified = :q OR (name = :q AND :p = '') OR qualified LIKE :tail ESCAPE '\\')"
            " AND (:p = '' OR path = :p)"
            " ORDER BY qualified <> :q, worth DESC, path, definition.start LIMIT 10",
            {
                "q": qualified or entity,
                "tail": "%." + _literal(qualified or entity),
                "p": path if qualified else "",
            },
        )
        return [Node(path=path, qualified=name) for path, name in rows]

    @reports_damage
    def edges(self, node: Node) -> list[Edge]:
        file = self._file(node.path)
        if file is None:
            return []
        edges = self._edges_of_symbol if node.qualified else self._edges_of_file
        return list(edges(node, file))

    @reports_damage
    def imports(self, path: str) -> list[FileImport]:
        rows = self._database.connection.execute(
            "SELECT import_line.text, import_line.line, target.path FROM import_line"
            " JOIN file ON file.id = import_line.file"
            " LEFT JOIN imports_file ON imports_file.importer = import_line.file"
            " AND imports_file.line = import_line.line AND imports_file.text = import_line.text"
            " LEFT JOIN file AS target ON target.id = imports_file.imported"
            " WHERE file.path = ? ORDER BY import_line.line, import_line.text, target.path",
            (path,),
        )
        return [
            FileImport(module=text, line=line, path=target or "") for text, line, target in rows
        ]

    @reports_damage
    def importers(self, path: str) -> list[str]:
        rows = self._database.connection.execute(
            "SELECT DISTINCT importer.path FROM imports_file"
            " JOIN file AS imported ON imported.id = imports_file.imported"
            " JOIN file AS importer ON importer.id = imports_file.importer"
            " WHERE imported.path = ? AND importer.id <> imported.id"
            " ORDER BY importer.worth DESC, importer.path",
            (path,),
        )
        return [row[0] for row in rows]

    @reports_damage
    def files_with_imports(self) -> dict[str, list[str]]:
        """Every file of code that may import another, tests left out, and what it imports."""
        connection = self._database.connection
        files = connection.execute(
            "SELECT path FROM file WHERE id IN (SELECT file FROM module_key) ORDER BY path"
        )
        found: dict[str, list[str]] = {path: [] for (path,) in files if not is_test(path)}
        for importer, imported in connection.execute(
            "SELECT DISTINCT importer.path, imported.path FROM imports_file"
            " JOIN file AS importer ON importer.id = imports_file.importer"
            " JOIN file AS imported ON imported.id = imports_file.imported"
        ):
            if importer in found:
                found[importer].append(imported)
        return found

    @reports_damage
    def definitions(self, path: str) -> list[Definition]:
        rows = self._database.connection.execute(
            'SELECT name, qualified, kind, start, "end" FROM definition'
            " WHERE file = (SELECT id FROM file WHERE path = ?) ORDER BY start, qualified",
            (path,),
        )
        return [
            Definition(name=name, qualified=qualified, kind=ChunkKind(kind), start=start, end=end)
            for name, qualified, kind, start, end in rows
        ]

    @reports_damage
    def exports(self, path: str) -> list[Export]:
        rows = self._database.connection.execute(
            'SELECT name, kind, start, "end" FROM export'
            " WHERE file = (SELECT id FROM file WHERE path = ?) ORDER BY start, name",
            (path,),
        )
        return [
            Export(name=name, kind=kind, start=start, end=end) for name, kind, start, end in rows
        ]

    @reports_damage
    def callers(self, path: str, qualified: str = "") -> list[tuple[str, CallSite]]:
        file = self._file(path)
        if file is None:
            return []
        rows = self._database.connection.execute(_CALLERS, {"file": file, "name": qualified})
        return [
            (caller_path, CallSite(name=name, caller=caller, line=line))
            for caller_path, caller, name, line in rows
        ]

    def _file(self, path: str) -> int | None:
        row = self._database.connection.execute(
            "SELECT id FROM file WHERE path = ? AND lines > 0", (path,)
        ).fetchone()
        return None if row is None else int(row[0])

    def _edges_of_file(self, node: Node, file: int) -> Iterator[Edge]:
        for line in self.imports(node.path):
            if line.path and line.path != node.path:
                yield Edge(source=node, target=Node(path=line.path), kind=EdgeKind.IMPORTS)
        for path in self.importers(node.path):
            yield Edge(source=Node(path=path), target=node, kind=EdgeKind.IMPORTS)
        definitions = self.definitions(node.path)
        owners = {entry.qualified for entry in definitions}
        for entry in definitions:
            if entry.qualified.rpartition(".")[0] not in owners:
                inner = Node(path=node.path, qualified=entry.qualified)
                yield Edge(source=node, target=inner, kind=EdgeKind.DEFINES)

    def _edges_of_symbol(self, node: Node, file: int) -> Iterator[Edge]:
        callees = self._database.connection.execute(
            _CALLEES, {"file": file, "caller": node.qualified}
        )
        for path, qualified, _line in callees.fetchall():
            target = Node(path=path, qualified=qualified)
            yield Edge(source=node, target=target, kind=EdgeKind.CALLS)
        for path, call in self.callers(node.path, node.qualified):
            source = Node(path=path, qualified=call.caller)
            yield Edge(source=source, target=node, kind=EdgeKind.CALLS)
        definitions = self.definitions(node.path)
        for entry in definitions:
            if entry.qualified.rpartition(".")[0] == node.qualified:
                inner = Node(path=node.path, qualified=entry.qualified)
                yield Edge(source=node, target=inner, kind=EdgeKind.DEFINES)
        owner = node.qualified.rpartition(".")[0]
        if all(entry.qualified != owner for entry in definitions):
            owner = ""  # a method of a type of another file
        yield Edge(source=Node(path=node.path, qualified=owner), target=node, kind=EdgeKind.DEFINES)


def _literal(text: str) -> str:
    return text.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
