"""Generates the SQL that extracts data points of metrics from OTLP."""

from spanwise.storage.telemetry.extraction.span_extraction import HEAD, PAIRS, nest, text_of

PROTO_MESSAGES = """
message NumberPoint { repeated KV attributes = 7; fixed64 start_time_unix_nano = 2;
 fixed64 time_unix_nano = 3; oneof value { double as_double = 4; sfixed64 as_int = 6; } }
message Gauge { repeated NumberPoint data_points = 1; }
message Sum { repeated NumberPoint data_points = 1; int32 aggregation_temporality = 2;
 bool is_monotonic = 3; }
message HistogramPoint { repeated KV attributes = 9; fixed64 start_time_unix_nano = 2;
 fixed64 time_unix_nano = 3; fixed64 count = 4; optional double sum = 5;
 repeated fixed64 bucket_counts = 6; repeated double explicit_bounds = 7; optional double min = 11;
 optional double max = 12; }
message Histogram { repeated HistogramPoint data_points = 1; int32 aggregation_temporality = 2; }
message Buckets { sint32 offset = 1; repeated uint64 bucket_counts = 2; }
message ExponentialPoint { repeated KV attributes = 1; fixed64 start_time_unix_nano = 2;
 fixed64 time_unix_nano = 3; fixed64 count = 4; optional double sum = 5; sint32 scale = 6;
 fixed64 zero_count = 7; Buckets positive = 8; Buckets negative = 9; optional double min = 12;
 optional double max = 13; double zero_threshold = 14; }
message ExponentialHistogram { repeated ExponentialPoint data_points = 1;
 int32 aggregation_temporality = 2; }
message Quantile { double quantile = 1; double value = 2; }
message SummaryPoint { repeated KV attributes = 7; fixed64 start_time_unix_nano = 2;
 fixed64 time_unix_nano = 3; fixed64 count = 4; double sum = 5;
 repeated Quantile quantile_values = 6; }
message Summary { repeated SummaryPoint data_points = 1; }
message Metric { string name = 1; string description = 2; string unit = 3; oneof data {
 Gauge gauge = 5; Sum sum = 7; Histogram histogram = 9;
 ExponentialHistogram exponential_histogram = 10; Summary summary = 11; } }
message MetricScope { string name = 1; }
message Metrics { MetricScope scope = 1; repeated Metric metrics = 2; Head head = 100; }
"""

_TIMES = f"attributes {PAIRS}, start_time_unix_nano UInt64, time_unix_nano UInt64"
_NUMBERS = f"Array(Tuple({_TIMES}, as_double Nullable(Float64), as_int Nullable(Int64)))"
_TOTALS = "count UInt64, sum Nullable(Float64), min Nullable(Float64), max Nullable(Float64)"
_BUCKETS = "Tuple(offset Int32, bucket_counts Array(UInt64))"
METRICS_COLUMNS = (
    "scope Tuple(name String), metrics Array(Tuple(name String, description String, unit String, "
    f"gauge Tuple(data_points {_NUMBERS}), "
    f"sum Tuple(data_points {_NUMBERS}, aggregation_temporality Int32, is_monotonic Bool), "
    f"histogram Tuple(data_points Array(Tuple({_TIMES}, {_TOTALS}, "
    "bucket_counts Array(UInt64), explicit_bounds Array(Float64))), "
    "aggregation_temporality Int32), "
    f"exponential_histogram Tuple(data_points Array(Tuple({_TIMES}, {_TOTALS}, scale Int32, "
    f"zero_count UInt64, positive {_BUCKETS}, negative {_BUCKETS}, zero_threshold Float64)), "
    "aggregation_temporality Int32), "
    f"summary Tuple(data_points Array(Tuple({_TIMES}, count UInt64, sum Float64, "
    "quantile_values Array(Tuple(quantile Float64, value Float64)))))"
    f")), {HEAD}"
)

_NO_FLOATS = "emptyArrayFloat64()"
_NO_COUNTS = "emptyArrayUInt64()"
_NO_NUMBER = "CAST(NULL, 'Nullable(Float64)')"


def metrics_select(source: str) -> str:
    """SQL that extracts one row per data point from the landing table."""
    points = ", ".join((_gauges(), _sums(), _histograms(), _exponential_histograms(), _summaries()))
    layers = [
        "SELECT head, scope, arrayJoin(metrics) AS m",
        # Numbered like the elements of `_point`.
        f"SELECT head, scope, m, arrayJoin(arrayConcat({points})) AS p",
        f"""SELECT head, scope, m, p, p.1.key AS keys,
  arrayMap(v -> {text_of("v")}, p.1.value) AS texts""",
        """SELECT
  head.workspace AS workspace,
  m.name AS name,
  fromUnixTimestamp64Nano(toInt64(p.3), 'UTC') AS time,
  reinterpretAsUInt128(sipHash128(m.name, m.unit, p.4, p.5, p.6, scope.name, head.resource,
   arraySort(arrayZip(keys, texts)))) AS series,
  fromUnixTimestamp64Nano(toInt64(if(p.2 > p.3, 0, p.2)), 'UTC') AS start,
  head.version AS version,
  p.4 AS type,
  transform(p.5, [1, 2], ['delta', 'cumulative'], '') AS temporality,
  p.6 AS is_monotonic,
  m.unit AS unit,
  m.description AS description,
  head.service AS service_name,
  scope.name AS scope,
  p.7 AS value,
  p.8 AS count,
  p.9 AS sum,
  p.10 AS min,
  p.11 AS max,
  p.12 AS bounds,
  p.13 AS counts,
  p.14 AS quantile_values,
  mapFromArrays(keys, texts) AS attributes,
  head.resource AS resource""",
    ]
    return nest(layers, source)


def _points(
    type_name: str,
    *,
    kind: str | None = None,
    temporality: str = "toInt32(0)",
    is_monotonic: str = "false",
    value: str = "toFloat64(0)",
    totals: str = f"toUInt64(0), toFloat64(0), {_NO_NUMBER}, {_NO_NUMBER}",
    buckets: str = f"{_NO_FLOATS}, {_NO_COUNTS}",
    quantile_values: str = _NO_FLOATS,
) -> str:
    """SQL for the points of one type, as tuples of the same elements for all types."""
    return (
        "arrayMap(d -> (d.attributes, d.start_time_unix_nano, d.time_unix_nano, "
        f"'{type_name}', {temporality}, {is_monotonic}, {value}, {totals}, {buckets}, "
        f"{quantile_values}), m.{kind or type_name}.data_points)"
    )


_NUMBER = "toFloat64(coalesce(d.as_double, toFloat64(d.as_int), 0))"
_HISTOGRAM_TOTALS = "d.count, coalesce(d.sum, 0), d.min, d.max"


def _gauges() -> str:
    return _points("gauge", value=_NUMBER)


def _sums() -> str:
    return _points(
        "sum",
        temporality="m.sum.aggregation_temporality",
        is_monotonic="m.sum.is_monotonic",
        value=_NUMBER,
    )


def _histograms() -> str:
    return _points(
        "histogram",
        temporality="m.histogram.aggregation_temporality",
        is_monotonic="true",
        totals=_HISTOGRAM_TOTALS,
        buckets="d.explicit_bounds, d.bucket_counts",
    )


def _exponential_histograms() -> str:
    """Bucket i of scale s ends at 2 ** ((offset + i + 1) / 2 ** s); zero lies between both signs.

    A bound of a coarser scale is exactly a bound of the finer ones, because the exponent is a
    product with a power of two.
    """
    positive, negative = (
        f"arrayMap(i -> exp2((d.{side}.offset + i) * exp2(-d.scale)), "
        f"range(length(d.{side}.bucket_counts) + 1))"
        for side in ("positive", "negative")
    )
    positive = f"if(empty(d.positive.bucket_counts), [d.zero_threshold], {positive})"
    has_negative = "notEmpty(d.negative.bucket_counts)"
    bounds = (
        f"arrayConcat(if({has_negative}, arrayMap(b -> -b, arrayReverse({negative})), "
        f"{_NO_FLOATS}), {positive})"
    )
    counts = (
        f"arrayConcat(if({has_negative}, arrayConcat([toUInt64(0)], "
        f"arrayReverse(d.negative.bucket_counts)), {_NO_COUNTS}), [d.zero_count], "
        "d.positive.bucket_counts, [toUInt64(0)])"
    )
    return _points(
        "exponentialHistogram",
        kind="exponential_histogram",
        temporality="m.exponential_histogram.aggregation_temporality",
        is_monotonic="true",
        totals=_HISTOGRAM_TOTALS,
        buckets=f"{bounds}, {counts}",
    )


def _summaries() -> str:
    """Counts and sums of a summary are cumulative by definition."""
    return _points(
        "summary",
        temporality="toInt32(2)",
        is_monotonic="true",
        totals=f"d.count, d.sum, {_NO_NUMBER}, {_NO_NUMBER}",
        buckets=f"d.quantile_values.quantile, {_NO_COUNTS}",
        quantile_values="d.quantile_values.value",
    )
