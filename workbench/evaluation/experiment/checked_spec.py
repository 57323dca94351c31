"""A specification whose settings are checked, and functions whose keywords it documents."""

from collections.abc import Callable, Mapping
from inspect import Parameter, cleandoc, signature
from pathlib import Path
from typing import Any, ClassVar, Self, TypeVar

from pydantic import (
    BaseModel,
    ConfigDict,
    ValidationError,
    field_validator,
)
from pydantic.fields import FieldInfo

from workbench.base.errors import SettingError, refusal
from workbench.base.remote import address_of, name_of

Function = TypeVar("Function", bound=Callable[..., object])


class Spec(BaseModel):
    """Settings that were checked; a wrong one is a `SettingError` of one sentence."""

    model_config = ConfigDict(
        frozen=True, extra="forbid", arbitrary_types_allowed=True, protected_namespaces=()
    )
    may_lie_in_store: ClassVar[bool] = False
    """Whether the folder `out` may be an address."""

    @field_validator("out", check_fields=False)
    @classmethod
    def _checked_out(cls, out: Path | None) -> Path | None:
        """A folder, `file:///tmp/a` as its path."""
        if out is None:
            return None
        if address_of(out) and not cls.may_lie_in_store:
            raise ValueError(
                f"{address_of(out)} lies in a store, where only `compare` and `sweep` write; a"
                " folder of this machine would be accepted"
            )
        folder = Path(name_of(out))
        for path in (folder, *folder.parents):
            if path.exists() and not path.is_dir():
                raise ValueError(f"{path} is a file; a folder, or a new name, would be accepted")
        return folder

    def __init__(self, /, **settings: Any) -> None:  # noqa: ANN401 - each field checks its own
        try:
            super().__init__(**settings)
        except ValidationError as error:
            raise SettingError(self._sentence(error)) from None

    @classmethod
    def of(cls, spec: Self | None, settings: Mapping[str, object]) -> Self:
        """The settings, as changes of a specification where there is one.

        Raises:
            SettingError: a setting is wrong, or `spec` is none.
        """
        if spec is None:
            return cls(**settings)
        if not isinstance(spec, cls):
            raise SettingError(f"spec is {spec!r:.80}; a {cls.__name__} would be accepted")
        return spec.changed(**settings)

    @classmethod
    def fields(cls) -> dict[str, FieldInfo]:
        """The settings in the order in which they are shown: those of the class, then those of
        its bases.
        """
        fields: dict[str, FieldInfo] = {}
        for base in cls.__mro__:
            for name in getattr(base, "__annotations__", ()):
                if name in cls.model_fields:
                    fields[name] = cls.model_fields[name]
        return fields

    def changed(self, **settings: object) -> Self:
        """The same with other values for these settings."""
        return type(self)(**{**dict(self), **settings}) if settings else self

    @classmethod
    def _sentence(cls, error: ValidationError) -> str:
        """What is wrong with the first wrong setting, and what would be accepted."""
        first_error = error.errors(include_url=False)[0]
        name, *inside = first_error["loc"]
        if first_error["type"] == "extra_forbidden":
            return f"there is no setting `{name}`; there are {', '.join(cls.model_fields)}"
        if first_error["type"] == "missing":
            return f"`{name}` is missing; {cls.model_fields[str(name)].description}"
        verb = "holds" if inside else "is"
        return f"`{name}` {verb} {_as_given(first_error['input'])}; {refusal(first_error)}"


def _as_given(value: object) -> str:
    """A value as a person would write it: in a list, presets and metrics by their names."""
    if not isinstance(value, list | tuple):
        return repr(value)
    words = [str(getattr(part, "name", None) or repr(part)) for part in value]
    return f"[{', '.join(words)}]"


def documented(kind: type[Spec]) -> Callable[[Function], Function]:
    """A decorator: the fields of `kind` replace `**settings` in the signature and documentation
    of a function.
    """

    def decorate(function: Function) -> Function:
        function_signature = signature(function)
        parameters: list[Parameter] = []
        for parameter in function_signature.parameters.values():
            if parameter.kind is not Parameter.VAR_KEYWORD:
                parameters.append(parameter)
        words = ""
        for name, field in kind.fields().items():
            default = Parameter.empty if field.is_required() else field.default
            parameters.append(Parameter(name, Parameter.KEYWORD_ONLY, default=default))
            words += f"    {name}: {field.description}\n"
        function.__signature__ = function_signature.replace(parameters=parameters)  # type: ignore[attr-defined]  # inspect reads it
        description = cleandoc(function.__doc__ or "")
        function.__doc__ = f"{description}\n\nSettings:\n{words}"
        return function

    return decorate
