"""Fields that a provider does not take, such as what another one wrote on its answers."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from workbench.engine.models.refused_fields import FieldPath
from workbench.engine.transcript.message import Json
from workbench.live.formats.parts import plain
from workbench.live.mending.sent_entry import SentEntry


def without_extra_fields(
    entries: Sequence[SentEntry], paths: Collection[FieldPath]
) -> list[SentEntry]:
    """Without the fields at these places, in whichever message or item they are."""
    mended: list[SentEntry] = []
    for entry in entries:
        record: Json = entry.record
        shorter = record
        for path in sorted(paths):
            shorter = _without(shorter, path)
        if shorter != record:
            entry = replace(entry, object=shorter, is_made=True)
        mended.append(entry)
    return mended


def _without(value: Json, path: FieldPath) -> Json:
    """A value without the field at the end of a path; the same where it has none."""
    if isinstance(value, list):
        shorter_parts: list[Json] = []
        for part in value:
            shorter_part = _without(plain(part), path)
            shorter_parts.append(shorter_part)
        return shorter_parts
    if not isinstance(value, Mapping):
        return value
    step = path[0]
    later_steps = path[1:]
    if later_steps and _is_kind_of(value, step):
        return _without(value, later_steps)
    for name in value:
        if _spelled(name) != _spelled(step):
            continue
        if later_steps:
            shorter = _without(value[name], later_steps)
            return {**value, name: shorter}
        shorter_value = dict(value)
        del shorter_value[name]
        return shorter_value
    return value


def _is_kind_of(value: Mapping[str, Json], step: str) -> bool:
    """Whether a step is no field of a part or a message, but its type or its role."""
    return step in (value.get("type"), value.get("role"))


def _spelled(name: str) -> str:
    """A name as it is the same in both spellings of Google's: `function_call`, `functionCall`."""
    return name.replace("_", "").lower()
