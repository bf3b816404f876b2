"""Pictures show what is in the log, which is replayed here without Delta."""

import json
import math
import sys
import warnings
from datetime import date, datetime

import pytest
from matplotlib.cbook import is_math_text
from matplotlib.collections import PolyCollection
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from zcube import ClusteredTable, ZCubeError, plots
from zcube._log.deltalake import DeltaLakeLog
from zcube._log.files import Axis, FileBounds, mark
from zcube._log.spark import SparkLog
from zcube.plots import curve_path, file_boxes, rectangles, timeline
from zcube.plots.chart import BLUE, GREY, picture
from zcube.plots.rectangles import Rectangle, draw
from zcube.plots.versions import measure, spread
from zcube.results.quality import ClusteringQuality, ColumnQuality

from tests.reference import overlaps
from tests.support import written_log
from tests.support.log_replay import live_files
from tests.support.skipping import between, must_read
from tests.support.tables import extents

EPOCH = date(1970, 1, 1)


@pytest.fixture
def table(spark, path):
    """Tiles: 4 x 4 files over x and y."""
    spark.range(0, 4000, 1, 4).selectExpr(
        "int(id % 1000) x", "date_add(date'2026-01-01', int(hash(id) & 255)) y"
    ).write.format("delta").save(path)
    spark.conf.set("spark.databricks.delta.optimize.maxFileSize", str(2 << 10))
    table = ClusteredTable.for_path(spark, path)
    table.optimize(zorder_by=["x", "y"], curve="kdtree")
    return table


def polygons(figure, colour):
    """The corners of the rectangles that are outlined in a colour."""
    found = []
    for collection in figure.axes[0].collections:
        assert isinstance(collection, PolyCollection)
        edges = [to_hex(edge) for edge in collection.get_edgecolor()]
        if edges and edges[0].upper() == colour.upper():
            found += [path.vertices for path in collection.get_paths()]
    return found


def boxes_of(path, colour, figure):
    """The centre of each rectangle of a colour, rounded to allow for the gaps between files."""
    return sorted(
        (round(float(c[:, 0].min() + c[:, 0].max())), round(float(c[:, 1].min() + c[:, 1].max())))
        for c in polygons(figure, colour)
    )


def test_boxes_are_those_of_the_log(spark, table, path):
    files = live_files(path)
    assert len(files) > 6
    read = must_read(files, between("x", 100, 200))
    assert 0 < len(read) < len(files)
    figure = plots.boxes(table, "x", "y", predicate="x BETWEEN 100 AND 200")

    def middles(some):
        days = [
            [(date.fromisoformat(end["y"]) - EPOCH).days for end in (file.minimum, file.maximum)]
            for file in some
        ]
        return sorted(
            (file.minimum["x"] + file.maximum["x"], low + high)
            for file, (low, high) in zip(some, days, strict=True)
        )

    assert boxes_of(path, BLUE, figure) == middles(read)
    assert boxes_of(path, GREY, figure) == middles([file for file in files if file not in read])
    panel = figure.axes[0]
    assert panel.get_xlabel() == "x (int)"
    assert panel.get_ylabel() == "y (date)"
    assert panel.get_title().startswith(f"{len(files)} files, ")
    texts = [text.get_text() for text in panel.get_legend().get_texts()]
    skipped = len(files) - len(read)
    assert texts == [f"{len(read)} files are read", f"{skipped} files are skipped"]
    assert figure._repr_png_().startswith(b"\x89PNG")
    everything = plots.boxes(table, "x", "Y")
    assert boxes_of(path, BLUE, everything) == middles(files)
    assert everything.axes[0].get_legend() is None


def test_curve_order_is_that_of_the_files_written(spark, table, path):
    files = sorted(live_files(path), key=lambda file: int(file.path.split("-")[1]))
    expected = [
        (
            (file.minimum["x"] + file.maximum["x"]) / 2,
            sum((date.fromisoformat(end["y"]) - EPOCH).days for end in (file.minimum, file.maximum))
            / 2,
        )
        for file in files
    ]
    (panel,) = plots.curve_order(table, "x", "y").axes
    way, first = panel.lines
    assert list(zip(*way.get_data(), strict=True)) == expected
    assert list(zip(*first.get_data(), strict=True)) == expected[:1]
    assert panel.get_title() == f"The order of {len(files)} files in 1 ZCube"

    spark.range(0, 10).selectExpr("int(id) x", "date'2026-01-01' y").write.format("delta").mode(
        "append"
    ).save(path)
    (panel,) = plots.curve_order(table, "x", "y").axes
    assert panel.get_title().endswith("files of smaller cubes or of none have no line")
    (from_log,) = plots.curve_order(DeltaLakeLog.open(path), "x", "y").axes
    assert [list(map(list, line.get_data())) for line in from_log.lines] == [
        list(map(list, line.get_data())) for line in panel.lines
    ]


def test_no_curve_where_no_file_is_in_a_cube(spark, path):
    spark.range(0, 10).selectExpr("id x", "id y").write.format("delta").save(path)
    with pytest.raises(ZCubeError, match="OPTIMIZE it by columns first"):
        plots.curve_order(ClusteredTable.for_path(spark, path), "x", "y")


def test_why_files_of_a_cube_have_no_curve_is_said():
    axes = [Axis("x", "int", "number"), Axis("z", "int", "number")]
    ends = ((0, 1), (0, 1))

    def why(name, cube, ends):
        with pytest.raises(ZCubeError) as refused:
            curve_path.picture(axes, [FileBounds(name, 1, ends, cube)])
        return str(refused.value)

    assert "OPTIMIZE it by columns first" in why("part-00000-a", None, ends)
    assert "a minimum and a maximum in both x and z" in why("part-00000-a", "c", ((0, 1), None))
    assert "names of the ZCubes' files" in why("copied", "c", ends)


def test_boxes_have_the_ends_of_every_type(spark, path):
    """Random files of another writer, in a log without data."""
    kinds = {
        "n": ("integer", [-5, 7], [-5.0, 7.0]),
        "d": ("decimal(9,2)", [0.25, 3.5], [0.25, 3.5]),
        "f": ("double", [-1.5, 2.5], [-1.5, 2.5]),
        "day": ("date", ["1969-12-31", "9999-12-31"], [-1.0, 2932896.0]),
        "at": (
            "timestamp",
            ["2026-03-29T01:30:00.500Z", "2026-03-30T00:00:00.000Z"],
            [datetime(2026, 3, 29, 1, 30, 0, 500_000), datetime(2026, 3, 30)],
        ),
        "ntz": (
            "timestamp_ntz",
            ["2026-03-29T02:30:00.000", "2026-03-30T00:00:00.000"],
            [datetime(2026, 3, 29, 2, 30), datetime(2026, 3, 30)],
        ),
        "s": ("string", ["a'b", "ü😀"], ["a'b", "ü😀"]),
        "b": ("boolean", [None, None], None),
    }
    fields = [
        {"name": name, "type": kind, "nullable": True, "metadata": {}}
        for name, (kind, *_) in kinds.items()
    ]
    nested = {"type": "struct", "fields": [dict(fields[0], name="Leaf")]}
    fields.append({"name": "nest", "type": nested, "nullable": True, "metadata": {}})
    stats = {
        "numRecords": 3,
        "minValues": {name: value[0] for name, (_, value, _) in kinds.items() if name != "b"},
        "maxValues": {name: value[1] for name, (_, value, _) in kinds.items() if name != "b"},
    }
    stats["minValues"]["nest"] = {"Leaf": 1}
    stats["maxValues"]["nest"] = {"Leaf": 4}
    half = {"numRecords": 3, "minValues": stats["minValues"]}
    schema = json.dumps({"type": "struct", "fields": fields})
    written_log.write(path, schema, [{"stats": stats}, {"stats": half}, {}])
    # A time zone in which the night of 29 March has no half past two.
    spark.conf.set("spark.sql.session.timeZone", "Europe/Berlin")
    table = ClusteredTable.for_path(spark, path)
    axes, files = table._log.files([*kinds, "NEST.leaf"])
    for place, (name, (kind, _, expected)) in enumerate(kinds.items()):
        if isinstance(expected, list) and isinstance(expected[0], datetime):
            expected = [(e - datetime(1970, 1, 1)).total_seconds() / 86400 for e in expected]
        found = files[0].ends[place]
        if expected is None:
            assert found is None
        elif isinstance(expected[0], str):
            assert list(found) == expected
        else:
            assert list(found) == pytest.approx(expected, abs=1e-9)
        assert (axes[place].name, files[1].ends[place], files[2].ends[place]) == (name, None, None)
        assert axes[place].type == {"integer": "int"}.get(kind, kind)
    assert axes[4].label == "at (timestamp, UTC)"
    assert (axes[8].name, files[0].ends[8]) == ("nest.Leaf", (1.0, 4.0))
    assert [file.bytes for file in files] == [1000, 1001, 1002]
    # Dates up to the end of the calendar, texts, and both files without: it can all be drawn.
    figure = plots.boxes(table, "day", "s")
    assert "2 files without a minimum or a maximum" in figure.axes[0].get_title()
    figure._repr_png_()
    with pytest.raises(ZCubeError, match="b is boolean; Delta keeps no minimum"):
        plots.boxes(table, "n", "b")
    with pytest.raises(ZCubeError, match=r"ZCUBE_COLUMN_NOT_FOUND.*no column nest\.x in "):
        plots.boxes(table, "n", "nest.x")


def test_boxes_of_renamed_columns_partitions_and_odd_paths_are_right(spark, tmp_path):
    path = str(tmp_path / "a b%20c" / "täble")
    spark.range(0, 900, 1, 1).selectExpr("id v", "if(id % 3 = 0, 'p/q r%', 'ü') part").write.format(
        "delta"
    ).partitionBy("part").option("delta.columnMapping.mode", "name").save(path)
    table = ClusteredTable.for_path(spark, path)
    spark.sql(f"ALTER TABLE delta.`{path}` RENAME COLUMN v TO `v.w`")
    _, files = table._log.files(["`v.w`", "part"])
    assert sorted(file.ends for file in files) == [
        ((0, 897), ("p/q r%", "p/q r%")),
        ((1, 899), ("ü", "ü")),
    ]
    marks = mark(files, table.files_read("part = 'ü'"))
    assert [file.ends[1][0] for file, read in zip(files, marks, strict=True) if read] == ["ü"]
    figure = plots.boxes(table, "`v.w`", "part")
    assert [tick.get_text() for tick in figure.axes[0].get_yticklabels()] == ["p/q r%", "ü"]
    view = ClusteredTable.for_name(spark, "no_table_but_a_view")
    spark.range(3).createOrReplaceTempView("no_table_but_a_view")
    with pytest.raises(ZCubeError, match="not a Delta table"):
        plots.boxes(view, "id", "id")


def test_files_of_partitions_whose_names_are_escaped_are_marked(spark, path):
    values = ["a/b", "50%", "c:d", "e%2Ff", "ü ?#"]
    rows = spark.createDataFrame(
        [(i, value) for i, value in enumerate(values)], "v int, part string"
    )
    rows.withColumn("at", rows.v.cast("timestamp")).write.format("delta").partitionBy(
        "part", "at"
    ).save(path)
    table = ClusteredTable.for_path(spark, path)
    _, files = table._log.files(["v", "part"])
    for value in values:
        marks = mark(files, table.files_read(f"part = '{value}'"))
        assert [f.ends[1][0] for f, read in zip(files, marks, strict=True) if read] == [value]
    (panel,) = plots.boxes(table, "v", "part", predicate="at >= timestamp_seconds(3)").axes
    assert legend_of(panel) == ["2 files are read", "3 files are skipped"]


@pytest.mark.parametrize(
    ("logged", "listed"),
    [
        ("file:///x%20y/part-0.parquet", "file:/x y/part-0.parquet"),
        ("file:/x%20y/part-0.parquet", "file:///x y/part-0.parquet"),
        ("/x/part-0.parquet", "file:///x/part-0.parquet"),
        ("s3://b/x/part-0.parquet", "s3a://b/x/part-0.parquet"),
        ("p=1/part-0.parquet", "file:/x/p=1/part-0.parquet"),
        ("t=00:00:00/part-0.parquet", "s3a://b/t=00:00:00/part-0.parquet"),
    ],
)
def test_a_file_is_marked_however_its_uri_is_written(logged, listed):
    name = logged.rpartition("/")[2]
    boxes = [FileBounds(path, 1, ()) for path in (logged, f"file:///y/{name}", f"p=2/{name}")]
    assert mark(boxes, [listed]) == [True, False, False]


def test_files_of_a_shallow_clone_are_marked(spark, tmp_path):
    path, copy = str(tmp_path / "a b"), str(tmp_path / "clone")
    spark.range(0, 40, 1, 4).selectExpr("id x", "-id y").write.format("delta").save(path)
    spark.sql(f"CREATE TABLE delta.`{copy}` SHALLOW CLONE delta.`{path}`")
    spark.sql(f"INSERT INTO delta.`{copy}` VALUES (35, 0)")
    (panel,) = plots.boxes(ClusteredTable.for_path(spark, copy), "x", "y", predicate="x = 35").axes
    assert legend_of(panel) == ["2 files are read", "3 files are skipped"]


def legend_of(panel):
    return [text.get_text() for text in panel.get_legend().get_texts()]


def test_the_legend_counts_files_that_are_not_drawn(monkeypatch):
    axes = [Axis("x", "int", "number"), Axis("y", "int", "number")]
    ends = [((i, i + 1), (i, i + 1)) if i % 10 else (None, (0, 1)) for i in range(100)]
    files = [FileBounds(f"f{i}", 1, end) for i, end in enumerate(ends)]
    read = [i % 10 == 0 or i == 7 for i in range(100)]
    monkeypatch.setattr(rectangles, "_MAX_DRAWN", 9)
    figure = file_boxes.picture(axes, files, read, "x = 7")
    (panel,) = figure.axes
    assert legend_of(panel) == ["11 files are read", "89 files are skipped"]
    drawn, _, without = panel.get_title().split("\n")
    assert drawn == "10 of 90 files, each from its minimum to its maximum"
    # The one that must be read and can be drawn is.
    assert (len(polygons(figure, BLUE)), len(polygons(figure, GREY))) == (1, 9)
    assert without == "not drawn: 10 files without a minimum or a maximum, 10 read"
    read = [i == 7 for i in range(100)]
    (panel,) = file_boxes.picture(axes, files, read, "x = 7").axes
    assert panel.get_title().split("\n")[1] == "Among them are all that must be read"


@pytest.mark.parametrize("read", [0, 30_000])
def test_the_title_claims_no_files_that_must_be_read_where_none_or_only_some_are_drawn(read):
    axes = [Axis("x", "int", "number"), Axis("y", "int", "number")]
    files = [FileBounds(f"f{i}", 1, ((i, i), (i, i))) for i in range(60_000)]
    marks = [i < read for i in range(60_000)]
    (panel,) = file_boxes.picture(axes, files, marks, "x < 0").axes
    assert "of 60000 files" in panel.get_title()
    assert "Among them" not in panel.get_title()


def test_the_title_of_many_files_and_a_long_predicate_fits_the_picture():
    axes = [Axis("x", "int", "number"), Axis("y", "string", "text")]
    texts = [f"a long text {i:05}" for i in range(30_000)]
    files = [FileBounds(v, 1, ((i, i), (v, v))) for i, v in enumerate(texts)]
    predicate = " AND ".join(f"x <> {i}" for i in range(90))
    figure = file_boxes.picture(axes, files, [i == 7 for i in range(30_000)], predicate)
    figure.draw_without_rendering()
    title = figure.axes[0].title.get_window_extent()
    assert "Among them" in figure.axes[0].get_title()
    assert title.x0 >= 0
    assert title.x1 <= figure.bbox.width


def test_of_many_files_each_path_and_the_rest_are_thinned_evenly(monkeypatch):
    axes = [Axis("x", "int", "number"), Axis("y", "int", "number")]

    def files(cube, count, y):
        names = [f"part-{i:05}-{cube}" for i in range(count)]
        return [
            FileBounds(name, 1, ((2 * i, 2 * i + 2), (y, y)), cube) for i, name in enumerate(names)
        ]

    found = [*files("a", 50, 0), *files("b", 30, 1), *files(None, 19, 2)]
    found.append(FileBounds("part-0", 1, (None, (0, 1)), "a"))
    (panel,) = curve_path.picture(axes, found).axes
    assert panel.get_title().split("\n")[:2] == [
        "The order of 80 files in 2 ZCubes",
        "19 files of smaller cubes or of none have no line",
    ]
    monkeypatch.setattr(rectangles, "_MAX_DRAWN", 10)
    figure = curve_path.picture(axes, found)
    (panel,) = figure.axes
    assert [list(line.get_xdata()) for line in panel.lines[::2]] == [
        [1, 21, 41, 61, 81],
        [1, 21, 41],
    ]
    assert len(polygons(figure, GREY)) == 10
    assert legend_of(panel) == ["cube 1: 50 files", "cube 2: 30 files"]
    assert panel.get_title().split("\n") == [
        "The order of 80 files in 2 ZCubes; lines join 8 of them",
        "19 files of smaller cubes or of none have no line; 2 drawn",
        "not drawn: 1 file without a minimum or a maximum",
    ]


def test_text_of_the_table_is_not_read_as_tex(monkeypatch):
    odd = ["$_$", r"US$ 10 \$ of US$ 20", r"$\frac{1$", "a$"]
    values = sorted(odd)
    axes = [Axis("$x_$", "int", "number"), Axis("$\\", "string", "text")]
    files = [FileBounds(v, 1, ((0, 1), (v, v)), "cube") for v in values]
    figure = file_boxes.picture(axes, files, [True] * 4, "price = '$a_$'")
    assert figure.png()
    (panel,) = figure.axes
    shown = [tick.get_text().replace(r"\$", "$") for tick in panel.get_yticklabels()]
    assert shown == [value if len(value) <= 16 else value[:15] + "…" for value in values]
    assert not any(is_math_text(tick.get_text()) for tick in panel.get_yticklabels())
    quality = ClusteringQuality(
        [quality_of({1: 2}, "$_$"), quality_of({1: 1}, "$a_$")],
        *[quality_of({1: 2}), 0, 0, 0, 0, 0, None],
    )
    assert plots.depth_histogram(quality).png()
    lines = timeline.picture({0: quality, 1: quality}, [])
    assert lines.png()


@pytest.mark.parametrize(
    ("form", "shown"),
    [
        ("https://example.org/item/{}", ["https://…/item/1", "https://…/item/2"]),
        ("2026-01-0{} 00:00:00.000", ["2026-01-01 00:0…", "2026-01-02 00:0…"]),
    ],
)
def test_long_names_are_cut_where_they_are_alike(form, shown):
    axes = [Axis("s", "string", "text"), Axis("x", "int", "number")]
    values = [form.format(1), form.format(2)]
    files = [FileBounds(v, 1, ((v, v), (0, 1)), "cube") for v in values]
    (panel,) = file_boxes.picture(axes, files, [True] * 2, None).axes
    assert [tick.get_text() for tick in panel.get_xticklabels()] == shown


def test_columns_with_an_underscore_are_in_the_legend():
    quality = ClusteringQuality(
        [quality_of({1: 2}, "_id"), quality_of({1: 1}, "ts")],
        *[quality_of({1: 2}), 0, 0, 0, 0, 0, None],
    )
    upper, _ = timeline.picture({0: quality, 1: quality}, [1]).axes
    assert legend_of(upper) == ["`_id`", "ts", "all together", "OPTIMIZE"]


def wide(columns):
    """The quality of columns c0, c1, … of which each is deeper than the one before."""
    rows = [quality_of({depth + 1: 2}, f"c{depth}") for depth in range(columns)]
    return ClusteringQuality(rows, quality_of({1: 2}), *[0, 0, 0, 0, 0, None])


def test_of_many_columns_the_deepest_are_drawn():
    quality = wide(32)
    figure = timeline.picture({0: quality, 1: quality}, [])
    upper, _ = figure.axes
    assert legend_of(upper) == ["c27", "c28", "c29", "c30", "c31", "all together"]
    assert figure.get_suptitle().endswith("; 27 more aren't drawn")
    # No two lines look alike.
    assert len({(line.get_color(), line.get_marker()) for line in upper.lines}) == 6
    histograms = plots.depth_histogram(quality)
    titles = [panel.get_title().split("\n")[0] for panel in histograms.axes]
    assert titles == [*(f"c{i}" for i in range(24, 32)), "all together"]
    assert histograms.get_suptitle().endswith("the 8 deepest columns, 24 more aren't drawn")
    few = wide(5)
    assert "drawn" not in plots.depth_histogram(few).get_suptitle()
    assert "drawn" not in timeline.picture({0: few, 1: few}, []).get_suptitle()


def test_characters_that_can_not_be_drawn_give_no_warning(recwarn):
    axes = [Axis("日付", "int", "number"), Axis("a\tb\x00c", "string", "text")]
    files = [FileBounds("f", 1, ((0, 1), ("a\nb", "a\nb")))]
    figure = file_boxes.picture(axes, files, [True], None)
    assert figure.png()
    assert not recwarn.list
    (panel,) = figure.axes
    assert panel.get_ylabel().startswith("a b c")
    assert [tick.get_text() for tick in panel.get_yticklabels()] == ["a b"]


def test_scripts_that_older_matplotlibs_do_not_support_give_no_warning(recwarn, monkeypatch):
    """Up to 3.10, they also warn of letters of these scripts."""
    figure = file_boxes.picture(
        [Axis("हिन्दी", "int", "number"), Axis("y", "int", "number")],
        [FileBounds("f", 1, ((0, 1), (0, 1)))],
        *[[True], None],
    )
    save = Figure.savefig

    def older(*arguments, **options):
        warnings.warn("Matplotlib currently does not support Devanagari natively.", stacklevel=2)
        save(*arguments, **options)

    monkeypatch.setattr(Figure, "savefig", older)
    assert figure.png()
    assert not recwarn.list


def dotted(panel):
    """Where the dotted lines of OPTIMIZE are, which are drawn as one."""
    (lines,) = panel.collections
    for line in lines.get_segments():
        ends = panel.transAxes.inverted().transform(lines.get_transform().transform(line))
        assert list(ends[:, 1]) == pytest.approx([0, 1])
    return [low for (low, _), _ in lines.get_segments()]


def test_the_lines_of_optimize_are_one_object_in_each_panel():
    quality = ClusteringQuality(
        [quality_of({1: 1}, "x")], quality_of({1: 1, 90: 1}), *[0, 0, 0, 0, 0, None]
    )
    found = {0: quality, 900: quality}
    figure = timeline.picture(found, range(0, 900, 3))
    for panel, bare in zip(figure.axes, timeline.picture(found, []).axes, strict=True):
        assert dotted(panel) == list(range(0, 900, 3))
        assert len(panel.lines) == 1
        # They don't change what the panel shows.
        assert (panel.get_xlim(), panel.get_ylim()) == (bare.get_xlim(), bare.get_ylim())
        assert not bare.collections
    assert legend_of(figure.axes[0]) == ["all together", "OPTIMIZE"]
    assert figure.png()


def test_rectangles_are_seen_however_thin():
    figure, (panel,) = picture(1, 1, (4, 4))
    drawn = [Rectangle((0, 0), (0, 100)), Rectangle((50, 100), (-math.inf, math.inf), read=False)]
    draw(panel, drawn, (0, 100), (0, 100))
    thin = polygons(figure, BLUE)[0]
    assert thin[:, 0].max() - thin[:, 0].min() == pytest.approx(0.4)
    wide = polygons(figure, GREY)[0]
    assert (wide[:, 0].min(), wide[:, 1].max()) == pytest.approx((50.15, 99.85))


@pytest.mark.parametrize(
    ("axis", "low", "high"),
    [
        # The next number of a double is 2 away.
        ("bigint", 2**53, 2**53),
        ("bigint", -(2**63), -(2**63)),
        ("bigint", 2**53, 2**53 + 2),
        ("double", -1e308, 1e308),
        ("double", -1.79e308, -1.79e308),
        ("double", -math.inf, 1e308),
    ],
)
def test_numbers_at_the_ends_of_their_type_are_drawn(tmp_path, axis, low, high):
    axes = [Axis("a", axis, "number"), Axis("b", "int", "number")]
    files = [FileBounds("f", 1, ((float(low), float(high)), (1.0, 2.0)))]
    figure = file_boxes.picture(axes, files, [True], None)
    figure.savefig(tmp_path / "boxes.png")
    (box,) = polygons(figure, BLUE)
    (left, right), (bottom, top) = figure.axes[0].get_xlim(), figure.axes[0].get_ylim()
    assert max(left, box[:, 0].min()) < min(right, box[:, 0].max())
    assert max(bottom, box[:, 1].min()) < min(top, box[:, 1].max())
    assert math.isfinite(right - left)


def quality_of(histogram, column="*"):
    files = sum(histogram.values())
    average = sum(depth * count for depth, count in histogram.items()) / files
    return ColumnQuality(
        column, files + 2, files, average, max(histogram), 0.0, histogram, 0, 0.5, ""
    )


@pytest.mark.parametrize("histogram", [{1: 5, 2: 3, 7: 1}, {d: d % 7 + 1 for d in range(1, 1000)}])
def test_the_depth_histogram_has_the_figures_of_quality(histogram):
    row = quality_of(histogram)
    quality = ClusteringQuality([quality_of({1: 9}, "x")], row, 0, 0, 0, 0, 0, None)
    figure = plots.depth_histogram(quality)
    first, second = figure.axes
    assert [bar.get_height() for bar in first.patches] == [9]
    bars = second.patches
    assert len(bars) <= 60
    assert sum(bar.get_height() for bar in bars) == sum(histogram.values())
    width = math.ceil(max(histogram) / 60)
    for bar in bars:
        low = bar.get_x() + 0.5
        inside = [n for depth, n in histogram.items() if low <= depth < low + width]
        assert bar.get_height() == sum(inside)
    assert first.get_ylabel() == "files"
    assert second.get_xlabel() == "depth (files)"
    assert second.get_title() == "all together\n2 files without statistics"
    assert second.lines[0].get_xdata()[0] == pytest.approx(row.average_depth)


@pytest.mark.long
def test_the_history_has_the_figures_of_each_version(spark, path):
    def append(start):
        rows = spark.range(start, start + 500, 1, 2).selectExpr("hash(id) x", "hash(id, 1) y")
        rows.write.format("delta").mode("append").save(path)

    expected = []

    def note():
        expected.append(overlaps.boxes([extents(path, "x"), extents(path, "y")]))

    table = ClusteredTable.for_path(spark, path)
    spark.conf.set("spark.databricks.delta.optimize.maxFileSize", str(2 << 10))
    for start in (0, 1000):
        append(start)
        note()
    table.optimize(zorder_by=["x", "y"])
    note()
    append(2000)
    note()
    figure = plots.history(table)
    upper, lower = figure.axes
    lines = {line.get_label(): line for line in upper.lines}
    assert list(lines)[:3] == ["x", "y", "all together"]
    assert list(lines["all together"].get_xdata()) == [0, 1, 2, 3]
    depths = [version["average_depth"] for version in expected]
    assert depths[2] < depths[1]
    assert list(lines["all together"].get_ydata()) == pytest.approx(depths)
    shares = [100 * version["skipping_effectiveness"] for version in expected]
    assert list(lower.lines[2].get_ydata()) == pytest.approx(shares)
    assert dotted(upper) == dotted(lower) == [2]
    assert lower.get_xlabel() == "version of the table"
    few = plots.history(table, ["y"], versions=2)
    assert [line.get_label() for line in few.axes[0].lines][:1] == ["all together"]
    assert list(few.axes[0].lines[0].get_xdata()) == [0, 3]
    # In SQL too; a missing version is rejected.
    old = spark.sql(f"DESCRIBE CLUSTERING delta.`{path}@v1` BY (x, y)").collect()[-1]
    assert old["average_depth"] == pytest.approx(depths[1])
    with pytest.raises(Exception, match=r"DELTA_VERSION_NOT_FOUND|Cannot time travel"):
        spark.sql(f"DESCRIBE CLUSTERING delta.`{path}@v9` BY (x, y)")
    with pytest.raises(ZCubeError, match="versions must be an int of at least 2, not 1"):
        plots.history(table, versions=1)


def test_the_folder_of_the_versions_is_asked_for_once(spark, name, monkeypatch):
    for start in (0, 10, 20):
        rows = spark.range(start, start + 20, 1, 1).selectExpr("id x")
        rows.write.format("delta").mode("append").saveAsTable(name)
    statements, run = [], SparkLog.run

    def noting(log, statement, doing):
        statements.append(doing)
        return run(log, statement, doing)

    monkeypatch.setattr(SparkLog, "run", noting)
    log = ClusteredTable.for_name(spark, name)._log
    found, _ = measure(log, ["x"], 3)
    depths = {version: quality.all.average_depth for version, quality in found.items()}
    assert depths == pytest.approx({0: 1, 1: 3 / 2, 2: 5 / 3})
    assert statements.count("DESCRIBE CLUSTERING") == 3
    assert statements.count("DESCRIBE DETAIL") == 1
    # The log itself asks again, as its name may have got another folder.
    assert log.at(1).location == log.location
    assert statements.count("DESCRIBE DETAIL") == 3


def test_versions_are_spread_evenly():
    for count in range(2, 9):
        for length in range(1, 30):
            versions = [10 + i for i in range(length)]
            found = spread(versions, count)
            assert len(found) == len(set(found)) == min(count, length)
            assert (found[0], found[-1]) == (versions[0], versions[-1])
            steps = [b - a for a, b in zip(found[:-1], found[1:], strict=True)]
            assert not steps or max(steps) - min(steps) <= 1


def test_without_matplotlib_a_plot_says_what_to_install(monkeypatch):
    for name in [name for name in sys.modules if name.startswith("zcube.plots.")]:
        monkeypatch.delitem(sys.modules, name)
        monkeypatch.delattr(name, raising=False)
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    for make in (
        lambda: plots.boxes(None, "x", "y"),
        lambda: plots.curve_order(None, "x", "y"),
        lambda: plots.depth_histogram(None),
        lambda: plots.history(None),
    ):
        with pytest.raises(ZCubeError, match=r"pip install 'zcube\[plots\]'"):
            make()
