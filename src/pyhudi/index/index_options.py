"""What the options of a write say about its index. Rules: `HoodieIndexConfig`; the keys are in `pyhudi.spec.config.index_keys`."""

from __future__ import annotations

from dataclasses import dataclass

from pyhudi.errors import OptionError, UnsupportedError, did_you_mean
from pyhudi.kernels.keys.key_probe import Precheck
from pyhudi.spec.options import Options

TYPE = "hoodie.index.type"
BUCKET_COUNT = "hoodie.bucket.index.num.buckets"
HASH_FIELDS = "hoodie.bucket.index.hash.field"
EXPRESSIONS = "hoodie.bucket.index.partition.expressions"
SIMPLE, GLOBAL_SIMPLE, BLOOM, GLOBAL_BLOOM, BUCKET, INMEMORY = "SIMPLE", "GLOBAL_SIMPLE", "BLOOM", "GLOBAL_BLOOM", "BUCKET", "INMEMORY"
GLOBAL_RECORD_LEVEL, RECORD_LEVEL = "GLOBAL_RECORD_LEVEL_INDEX", "RECORD_LEVEL_INDEX"
_SERVED = (SIMPLE, GLOBAL_SIMPLE, BLOOM, GLOBAL_BLOOM, BUCKET, INMEMORY, GLOBAL_RECORD_LEVEL, RECORD_LEVEL, "RECORD_INDEX")
_GLOBAL = frozenset({GLOBAL_SIMPLE, GLOBAL_BLOOM, GLOBAL_RECORD_LEVEL})
_MOVE_SIMPLE, _MOVE_RECORD = "hoodie.simple.index.update.partition.path", "hoodie.record.index.update.partition.path"
#: What keeps its knowledge outside the table, by who can ask it.
_EXTERNAL = {"HBASE": "an HBase cluster holds it", "FLINK_STATE": "the state of a Flink job holds it"}


@dataclass(frozen=True, slots=True)
class IndexOptions:
    """The options of a write that concern its index.

    `name` is None when they name none. `move_*` say whether a record found in another partition than its row names moves there, by
    kind of global index; `move_record` is None where it depends on the table having a record index. `bucket_count` and `hash_fields` are
    None when not given.
    """

    name: str | None
    move_simple: bool
    move_bloom: bool
    move_record: bool | None
    bloom_ranges: bool
    bloom_from_metadata: bool
    consistent: bool
    bucket_count: int | None
    default_count: int
    hash_fields: tuple[str, ...] | None
    expressions: str

    @property
    def is_global(self) -> bool:
        """True when they name an index by which a key is unique in the table, not only in its partition."""
        return self.name in _GLOBAL

    @property
    def bloom_precheck(self) -> Precheck:
        """What the bloom indexes ask of a footer."""
        return Precheck(self.bloom_ranges, bloom=True)


def index_options(options: Options) -> IndexOptions:
    """Return what the options say.

    Raises:
        UnsupportedError: the index lives outside the table.
        OptionError: there is no index of that name.
    """
    count, fields = options.get(BUCKET_COUNT), options.get(HASH_FIELDS)
    return IndexOptions(
        name=_check_name(options.get(TYPE)),
        move_simple=options.flag(_MOVE_SIMPLE),
        move_bloom=options.flag("hoodie.bloom.index.update.partition.path"),
        move_record=_moves_by_record_index(options),
        bloom_ranges=options.flag("hoodie.bloom.index.prune.by.ranges"),
        bloom_from_metadata=options.flag("hoodie.bloom.index.use.metadata"),
        consistent=options.text("hoodie.index.bucket.engine").upper() == "CONSISTENT_HASHING",
        bucket_count=None if count is None else int(count),
        default_count=options.integer(BUCKET_COUNT),
        hash_fields=None if fields is None else tuple(part.strip() for part in fields.split(",") if part.strip()),
        expressions=options.text(EXPRESSIONS),
    )


def _moves_by_record_index(options: Options) -> bool | None:
    """Tell whether a global record index moves records; one that is not there does in Apache Hudi what GLOBAL_SIMPLE does."""
    if options.get(_MOVE_RECORD) is None:
        if not options.flag("hoodie.metadata.enable"):
            return options.flag(_MOVE_SIMPLE)
        if not options.flag("hoodie.metadata.global.record.level.index.enable"):
            return None
    return options.flag(_MOVE_RECORD)


def _check_name(given: str | None) -> str | None:
    if given is None:
        return None
    name = given.strip().upper()
    if name in _EXTERNAL:
        raise UnsupportedError(f"{TYPE}={name} is not served: {_EXTERNAL[name]}, the table does not. Leave the option out.")
    if name not in _SERVED:
        raise OptionError(f"{TYPE}={given} is not possible: it can be {', '.join(_SERVED)}.{did_you_mean(name, _SERVED)}")
    return GLOBAL_RECORD_LEVEL if name == "RECORD_INDEX" else name
