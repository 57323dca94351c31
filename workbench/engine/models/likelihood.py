"""How likely a text is after another, by a small real model on this machine: nats, token by token.

llama.cpp is called through the C functions that the package xllamacpp brings: its server cannot
score a given text. Results are kept on disk, so that a run goes on where it stopped and costs
nothing the second time.
"""

from __future__ import annotations

import ctypes as c
import os
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property, lru_cache
from hashlib import sha256
from importlib.metadata import distributions
from importlib.util import find_spec
from itertools import accumulate, pairwise, takewhile
from pathlib import Path
from typing import TypeAlias

import numpy as np

from workbench.base.errors import ModelError, SetupError
from workbench.engine.models.ledger import Ledger, Stored
from workbench.engine.models.weights import Weights, cache_folder

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
        self.label, self.window = model.label, window or model.window
        self._lib = _library()
        loaded = self._lib.llama_model_load_from_file(
            os.fsencode(model.path), self._lib.llama_model_default_params()
        )
        if not loaded:
            raise ModelError(f"{model.path} cannot be loaded as a model")
        parameters = self._lib.llama_context_default_params()
        if tuple(parameters.word[:2]) != _DEFAULTS:
            raise SetupError(
                "this version of xllamacpp has another memory layout; install"
                " xllamacpp==2026.10.11549"
            )
        parameters.word[0], parameters.word[1], parameters.word[2] = self.window, BATCH, BATCH
        self._context = self._lib.llama_init_from_model(loaded, parameters)
        if not self._context or self._lib.llama_n_ctx(self._context) < self.window:
            raise ModelError(f"{self.label} cannot be given a window of {self.window} tokens")
        cores = min(os.cpu_count() or 1, 4)
        self._lib.llama_set_n_threads(self._context, cores, cores)
        self._memory = self._lib.llama_get_memory(self._context)
        self._vocabulary = self._lib.llama_model_get_vocab(loaded)
        self._width = self._lib.llama_vocab_n_tokens(self._vocabulary)
        self._batch = self._lib.llama_batch_init(BATCH, 0, 1)
        self._read: list[int] = []
        self.decoded = 0

    def tokens(self, text: str) -> int:
        """How many tokens a text has, with the mark of a beginning."""
        return len(self._tokens(text, is_beginning=True))

    def score(self, preceding: str, text: str, places: Places = ()) -> tuple[float, ...]:
        """The surprise in nats of tokens of `text` after `before`: of all, or of those that hold a
        byte of the places.

        The two texts are tokenised apart, so that a text has the same tokens after any other.

        Raises:
            ModelError: the two do not fit into the window (`overflow`).
        """
        head = self._tokens(
            preceding or "\n", is_beginning=True
        )  # the first token needs one before it
        tail = self._tokens(text, is_beginning=False)
        if len(head) + len(tail) > self.window:
            problem = (
                f"{len(head) + len(tail)} tokens do not fit into the {self.window} of {self.label}"
            )
            raise ModelError(problem, overflow=True)
        scored_indices = [
            i
            for i, (start, end) in enumerate(pairwise([0, *self._ends(tail)]), len(head))
            if not places
            or any(start < place_end and end > place_start for place_start, place_end in places)
        ]
        return self._surprise(head + tail, scored_indices)

    def _surprise(self, tokens: Sequence[int], scored_indices: Sequence[int]) -> tuple[float, ...]:
        """The surprise of the tokens at these places, in order; reads only what is not read yet."""
        if not scored_indices:
            return ()
        nats: list[float] = []
        position, end = self._rewound(tokens, scored_indices[0] - 1), scored_indices[-1]
        while position < end:
            batch_size = min(BATCH, end - position)
            batch_indices = [i for i in scored_indices if position < i <= position + batch_size]
            self._decode(tokens, position, batch_size, {i - 1 for i in batch_indices})
            for i in batch_indices:
                row = self._lib.llama_get_logits_ith(self._context, i - 1 - position)
                logits = np.ctypeslib.as_array(row, (self._width,))
                top = logits.max()
                nats.append(
                    float(
                        top + np.log(np.exp(logits - top).sum(dtype=np.float64)) - logits[tokens[i]]
                    )
                )
            position += batch_size
        return tuple(nats)

    def _rewound(self, tokens: Sequence[int], limit: int) -> int:
        """Forget what differs from what was read; how many tokens of `whole` are still read,
        `most` at most.
        """
        pairs = zip(self._read[:limit], tokens, strict=False)
        same = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))
        if same < len(self._read) and not self._lib.llama_memory_seq_rm(self._memory, 0, same, -1):
            self._lib.llama_memory_clear(self._memory, True)
            same = 0
        self._read = list(tokens[:same])
        return same

    def _decode(
        self, tokens: Sequence[int], start: int, count: int, logit_indices: set[int]
    ) -> None:
        batch = self._batch
        batch.n_tokens = count
        for i in range(count):
            batch.token[i], batch.pos[i] = tokens[start + i], start + i
            batch.n_seq_id[i], batch.seq_id[i][0] = 1, 0
            batch.logits[i] = start + i in logit_indices
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
        room = (c.c_int32 * (len(raw) + 8))()
        return list(
            room[
                : self._lib.llama_tokenize(
                    self._vocabulary, raw, len(raw), room, len(room), is_beginning, False
                )
            ]
        )

    def _ends(self, tokens: Sequence[int]) -> Iterator[int]:
        room = c.create_string_buffer(512)
        piece, size = self._lib.llama_token_to_piece, len(room)
        return accumulate(
            max(piece(self._vocabulary, token, room, size, 0, False), 0) for token in tokens
        )


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
    lib = c.CDLL(str(Path(spec.origin).parent / "xllamacpp.abi3.so"))
    ref, number, text = c.c_void_p, c.c_int32, c.c_char_p
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
        function.restype, function.argtypes = result, takes
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
        self.name, self.window = name, window
        self._load, self._seal, self._disk = load, seal, Ledger(path)

    @classmethod
    def of(cls, model_weights: Weights) -> CachedLikelihood:
        """The local model of these weights; its results are kept in the cache folder."""
        version = next(
            (distribution.version for distribution in distributions(name="xllamacpp")), ""
        )
        seal = f"{model_weights.label} {model_weights.path.stat().st_size} {version} {BATCH}"
        file = cache_folder() / "likelihoods.sqlite"
        return cls(
            model_weights.label,
            model_weights.window,
            lambda: LocalLikelihood(model_weights),
            file,
            seal,
        )

    @cached_property
    def model(self) -> LocalLikelihood:
        """The model itself, loaded now."""
        return self._load()

    def score(self, preceding: str, text: str, places: Places = ()) -> tuple[float, ...]:
        """See `LocalLikelihood.score`. That two texts do not fit into the window is kept as
        well.
        """
        key = self._key(preceding, text, places)
        if (stored := self._disk.stored(key)) is None:
            stored = self._scored(preceding, text, places)
            self._disk.keep(key, stored)
        if "overflow" in stored:
            raise ModelError(str(stored["overflow"]), overflow=True)
        return tuple(stored["nats"])

    def _scored(self, preceding: str, text: str, places: Places) -> Stored:
        try:
            return {"nats": [round(nats, 5) for nats in self.model.score(preceding, text, places)]}
        except ModelError as error:
            if not error.overflow:
                raise
            return {"overflow": str(error)}

    def _key(self, preceding: str, text: str, places: Places) -> str:
        parts = (self._seal, preceding, text, str(sorted(places)))
        return sha256("\0".join(parts).encode("utf-8", "surrogatepass")).hexdigest()
