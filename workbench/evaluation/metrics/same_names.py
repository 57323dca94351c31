"""Things of one name that are not the same thing."""

import re

from workbench.evaluation.metrics.need import Need


def is_of_other_folder(need: Need) -> bool:
    """Whether the history and the use name files of one name in different folders, as
    `app/page.tsx` and `demo/page.tsx`.
    """
    name = need.entity.text
    if need.entity.kind != "path" or "/" in name:
        return False
    folders_of_evidence = _folders(name, need.evidence_text)
    folders_of_use = _folders(name, need.use_text)
    if not folders_of_evidence or not folders_of_use:
        return False
    return folders_of_evidence.isdisjoint(folders_of_use)


def _folders(file_name: str, line: str) -> set[str]:
    """The last folder of each path in a line that ends with a file's name."""
    paths = line.replace("\\", "/")
    folder = r"[\w@()\[\]-][\w@.()\[\]-]*"
    pattern = re.compile(rf"({folder})/{re.escape(file_name)}(?![\w-])")
    return set(pattern.findall(paths))
