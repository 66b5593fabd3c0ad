"""A preference as a remark makes it."""

from perpetualcc.learning.preferences import Evidence, Preference, new_id


def preference(rule="Use pnpm, not npm", *, scope="project", at=1.0, **more):
    settled = {
        "id": new_id(rule, scope), "rule": rule, "category": "tooling", "scope": scope,
        "confidence": 0.8, "first_seen": at, "last_seen": at,
        "evidence": (Evidence(event="e", session="s", at=at, said=rule),),
    }  # fmt: skip
    return Preference(**(settled | more))
