"""How likely a text is after another, by a small real model on this machine: nats, token by token.

llama.cpp is called through the C functions that the package xllamacpp brings: its server cannot
score a given text. Results are kept on disk, so that a run goes on where it stopped and costs
nothing the second time.
"""

from __future__ import annotations

import ctypes as c
import os
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property, lru_cache, partial
from hashlib import sha256
from importlib.metadata import distributions
from importlib.util import find_spec
from pathlib import Path
from typing import TypeAlias

import numpy as np

from workbench.base.errors import ModelError, SetupError
from workbench.engine.models.ledger import Ledger, Stored
from workbench.engine.models.weights import Weights, cache_folder
from workbench.engine.transcript.message import Json

BATCH = 512
"""Tokens that are read at once. Another number moves single tokens by up to 0.7 nats, so it is
fixed.
"""


Places: TypeAlias = Sequence[tuple[int, int]]
"""Stretches of a text: first byte (UTF-8) and the one behind the last."""


class _Batch(c.Structure):
    _fields_ = (
        ("n_tokens", c.c_int32),
        ("token", c.POINTER(c.c_int32)),
        ("embd", c.c_void_p),
        ("pos", c.POINTER(c.c_int32)),
        ("n_seq_id", c.POINTER(c.c_int32)),
        ("seq_id", c.POINTER(c.POINTER(c.c_int32))),
        ("logits", c.POINTER(c.c_int8)),
    )


class _Parameters(c.Structure):
    """Larger than any of llama.cpp's parameter structures, which are passed in memory."""

    _fields_ = (("word", c.c_uint32 * 256),)


_LOG = c.CFUNCTYPE(None, c.c_int, c.c_char_p, c.c_void_p)
_DEFAULTS = (512, 2048)
"""The context's first two parameters by default (its size, the batch's): tells whether the
layout is the known one.
"""


class LocalLikelihood:
    """A model that is loaded once; what it has read stays read, so that texts with the same
    beginning cost little.

    Args:
        model: the weights.
        window: tokens; by default all that the model was trained for, and memory as much as that
            takes.
    """

    def __init__(self, model: Weights, window: int | None = None) -> None:
        self.label = model.label
        self.window = window or model.window
        self._lib = _library()
        path = os.fsencode(model.path)
        defaults = self._lib.llama_model_default_params()
        loaded = self._lib.llama_model_load_from_file(path, defaults)
        if not loaded:
            raise ModelError(f"{model.path} cannot be loaded as a model")
        self._context = self._context_of(loaded)
        core_count = os.cpu_count() or 1
        cores = min(core_count, 4)
        self._lib.llama_set_n_threads(self._context, cores, cores)
        self._memory = self._lib.llama_get_memory(self._context)
        self._vocabulary = self._lib.llama_model_get_vocab(loaded)
        self._width = self._lib.llama_vocab_n_tokens(self._vocabulary)
        self._batch = self._lib.llama_batch_init(BATCH, 0, 1)
        self._read: list[int] = []
        self.decoded = 0

    def _context_of(self, loaded: Json) -> Json:
        """llama.cpp's own context for a loaded model, with the window.

        Raises:
            ModelError: the window is too large.
            SetupError: this version of the library is another one than is known here.
        """
        parameters = self._lib.llama_context_default_params()
        if tuple(parameters.word[:2]) != _DEFAULTS:
            raise SetupError(
                "this version of xllamacpp has another memory layout; install"
                " xllamacpp==2026.10.11549"
            )
        parameters.word[0] = self.window
        parameters.word[1] = BATCH
        parameters.word[2] = BATCH
        context = self._lib.llama_init_from_model(loaded, parameters)
        if not context or self._lib.llama_n_ctx(context) < self.window:
            raise ModelError(f"{self.label} cannot be given a window of {self.window} tokens")
        return context

    def tokens(self, text: str) -> int:
        """How many tokens a text has, with the mark of a beginning."""
        return len(self._tokens(text, is_beginning=True))

    def score(self, preceding: str, text: str, places: Places = ()) -> tuple[float, ...]:
        """The surprise in nats of tokens of `text` after `preceding`: of all, or of those that hold
        a byte of the places.

        The two texts are tokenised apart, so that a text has the same tokens after any other.

        Raises:
            ModelError: the two do not fit into the window (`overflow`).
        """
        if not preceding:
            preceding = "\n"  # the first token needs one before it
        head = self._tokens(preceding, is_beginning=True)
        tail = self._tokens(text, is_beginning=False)
        tokens = head + tail
        if len(tokens) > self.window:
            raise ModelError(
                f"{len(tokens)} tokens do not fit into the {self.window} of {self.label}",
                overflow=True,
            )
        scored_indices: list[int] = []
        start = 0
        for index, end in enumerate(self._ends(tail), len(head)):
            if not places or _overlaps_one(start, end, places):
                scored_indices.append(index)
            start = end
        return self._surprise(tokens, scored_indices)

    def _surprise(self, tokens: Sequence[int], scored_indices: Sequence[int]) -> tuple[float, ...]:
        """The surprise of the tokens at these places, in order; reads only what is not read yet."""
        if not scored_indices:
            return ()
        nats: list[float] = []
        position = self._rewound(tokens, scored_indices[0] - 1)
        end = scored_indices[-1]
        while position < end:
            batch_size = min(BATCH, end - position)
            batch_end = position + batch_size
            batch_indices = [index for index in scored_indices if position < index <= batch_end]
            indices_before = {index - 1 for index in batch_indices}
            self._decode(tokens, position, batch_size, indices_before)
            for index in batch_indices:
                place_before = index - 1 - position
                nats.append(self._surprise_at(place_before, tokens[index]))
            position += batch_size
        return tuple(nats)

    def _surprise_at(self, place: int, token: int) -> float:
        """The surprise of a token behind this place of the batch."""
        row = self._lib.llama_get_logits_ith(self._context, place)
        logits = np.ctypeslib.as_array(row, (self._width,))
        largest = logits.max()
        exponentials = np.exp(logits - largest)
        exponential_sum = exponentials.sum(dtype=np.float64)
        log_sum = largest + np.log(exponential_sum)
        return float(log_sum - logits[token])

    def _rewound(self, tokens: Sequence[int], limit: int) -> int:
        """Forget what differs from what was read; how many of the tokens are still read, at most
        so many as the limit.
        """
        same_count = 0
        for read_token, token in zip(self._read[:limit], tokens, strict=False):
            if read_token != token:
                break
            same_count += 1
        if same_count < len(self._read):
            is_removed = self._lib.llama_memory_seq_rm(self._memory, 0, same_count, -1)
            if not is_removed:
                self._lib.llama_memory_clear(self._memory, True)
                same_count = 0
        self._read = list(tokens[:same_count])
        return same_count

    def _decode(
        self, tokens: Sequence[int], start: int, count: int, logit_indices: set[int]
    ) -> None:
        batch = self._batch
        batch.n_tokens = count
        for place in range(count):
            index = start + place
            batch.token[place] = tokens[index]
            batch.pos[place] = index
            batch.n_seq_id[place] = 1
            batch.seq_id[place][0] = 0
            batch.logits[place] = index in logit_indices
        status = self._lib.llama_decode(self._context, batch)
        if status:
            self._read = []
            self._lib.llama_memory_clear(self._memory, True)
            raise ModelError(
                f"{self.label} failed to read the text (llama_decode returned {status})"
            )
        self._read += tokens[start : start + count]
        self.decoded += count

    def _tokens(self, text: str, *, is_beginning: bool) -> list[int]:
        raw = text.encode("utf-8", "replace")
        room_type = c.c_int32 * (len(raw) + 8)
        room = room_type()
        count = self._lib.llama_tokenize(
            self._vocabulary,
            raw,
            len(raw),
            room,
            len(room),
            is_beginning,
            False,
        )
        return list(room[:count])

    def _ends(self, tokens: Sequence[int]) -> Iterator[int]:
        """Where each token ends in its text, in bytes."""
        room = c.create_string_buffer(512)
        end = 0
        for token in tokens:
            size = self._lib.llama_token_to_piece(
                self._vocabulary,
                token,
                room,
                len(room),
                0,
                False,
            )
            end += max(size, 0)
            yield end


def _overlaps_one(start: int, end: int, places: Places) -> bool:
    """Whether a stretch of a text has a byte of one of the places."""
    return any(start < place_end and end > place_start for place_start, place_end in places)


@lru_cache(maxsize=1)
def _library() -> c.CDLL:
    """llama.cpp, with the types of what is called here.

    Raises:
        SetupError: xllamacpp is not installed.
    """
    spec = find_spec("xllamacpp")
    if spec is None or spec.origin is None:
        raise SetupError(
            "a local model needs xllamacpp; `pip install xllamacpp==2026.10.11549` brings it"
        )
    # else its threads wait busily, and starve each other
    os.environ.setdefault("OMP_WAIT_POLICY", "passive")
    file = Path(spec.origin).parent / "xllamacpp.abi3.so"
    lib = c.CDLL(str(file))
    ref = c.c_void_p
    number = c.c_int32
    text = c.c_char_p
    numbers = c.POINTER(number)
    for name, result, takes in (
        ("llama_backend_init", None, []),
        ("llama_log_set", None, [_LOG, ref]),
        ("llama_model_default_params", _Parameters, []),
        ("llama_context_default_params", _Parameters, []),
        ("llama_model_load_from_file", ref, [text, _Parameters]),
        ("llama_init_from_model", ref, [ref, _Parameters]),
        ("llama_n_ctx", c.c_uint32, [ref]),
        ("llama_model_get_vocab", ref, [ref]),
        ("llama_vocab_n_tokens", number, [ref]),
        ("llama_tokenize", number, [ref, text, number, numbers, number, c.c_bool, c.c_bool]),
        ("llama_token_to_piece", number, [ref, number, text, number, number, c.c_bool]),
        ("llama_batch_init", _Batch, [number, number, number]),
        ("llama_decode", number, [ref, _Batch]),
        ("llama_get_logits_ith", c.POINTER(c.c_float), [ref, number]),
        ("llama_get_memory", ref, [ref]),
        ("llama_memory_clear", None, [ref, c.c_bool]),
        ("llama_memory_seq_rm", c.c_bool, [ref, number, number, number]),
        ("llama_set_n_threads", None, [ref, number, number]),
    ):
        function = getattr(lib, name)
        function.restype = result
        function.argtypes = takes
    lib.llama_log_set(_SILENT, None)
    lib.llama_backend_init()
    return lib


_SILENT = _LOG(lambda level, text, data: None)
"""Takes llama.cpp's log; held here, since the library keeps calling it."""


class CachedLikelihood:
    """A likelihood whose results are kept; the model itself is loaded when it is first needed.

    Attributes:
        name, window: the model's.
    """

    def __init__(
        self, name: str, window: int, load: Callable[[], LocalLikelihood], path: Path, seal: str
    ) -> None:
        self.name = name
        self.window = window
        self._load = load
        self._seal = seal
        self._disk = Ledger(path)

    @classmethod
    def of(cls, model_weights: Weights) -> CachedLikelihood:
        """The local model of these weights; its results are kept in the cache folder."""
        version = ""
        for distribution in distributions(name="xllamacpp"):
            version = distribution.version
            break
        size = model_weights.path.stat().st_size
        seal = f"{model_weights.label} {size} {version} {BATCH}"
        file = cache_folder() / "likelihoods.sqlite"
        load = partial(LocalLikelihood, model_weights)
        return cls(model_weights.label, model_weights.window, load, file, seal)

    @cached_property
    def model(self) -> LocalLikelihood:
        """The model itself, loaded now."""
        return self._load()

    def score(self, preceding: str, text: str, places: Places = ()) -> tuple[float, ...]:
        """See `LocalLikelihood.score`. That two texts do not fit into the window is kept too."""
        key = self._key(preceding, text, places)
        stored = self._disk.stored(key)
        if stored is None:
            stored = self._scored(preceding, text, places)
            self._disk.keep(key, stored)
        if "overflow" in stored:
            reason = str(stored["overflow"])
            raise ModelError(reason, overflow=True)
        return tuple(stored["nats"])

    def _scored(self, preceding: str, text: str, places: Places) -> Stored:
        try:
            surprises = self.model.score(preceding, text, places)
        except ModelError as error:
            if not error.overflow:
                raise
            return {"overflow": str(error)}
        return {"nats": [round(nats, 5) for nats in surprises]}

    def _key(self, preceding: str, text: str, places: Places) -> str:
        parts = (self._seal, preceding, text, str(sorted(places)))
        request = "\0".join(parts)
        return sha256(request.encode("utf-8", "surrogatepass")).hexdigest()
