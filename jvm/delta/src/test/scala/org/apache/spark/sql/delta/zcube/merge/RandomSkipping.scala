package org.apache.spark.sql.delta.zcube.merge

import scala.util.Random

/** Makes a table with columns of all types that have statistics, and random sources and conditions
  * ON which a MERGE may join them, as SQL.
  */
final class RandomSkipping(seed: Int) {
  import RandomSkipping._

  private val random = new Random(seed * 104729L + 7)

  private def pick[T](of: Seq[T]): T = of(random.nextInt(of.size))
  private def oneOf(n: Int): Boolean = random.nextInt(n) == 0

  val zone: String = pick(Seq("UTC", "America/New_York", "Pacific/Apia", "Asia/Kathmandu"))
  val ansi: Boolean = random.nextBoolean()
  val isPartitioned: Boolean = oneOf(3)
  val hasDeletedRows: Boolean = oneOf(3)

  val properties: Seq[(String, String)] = Seq(
    "delta.enableDeletionVectors" -> hasDeletedRows.toString,
    "delta.columnMapping.mode" -> pick(Seq("none", "none", "name")),
    "delta.dataSkippingNumIndexedCols" -> pick(Seq("32", "32", "32", "4"))
  )

  /** The first rows, in files by ranges of a column, and the later ones, whose files may lack
    * statistics.
    */
  val parts: Seq[Part] = {
    def part(from: Int, until: Int, lacksStatistics: Boolean) =
      Part(from, until, 1 + random.nextInt(12), pick(Columns).name, lacksStatistics)
    Seq(part(0, Rows, false), part(Rows, Rows + Rows / 6, oneOf(3)))
  }

  /** A query of the source: some rows with the target's columns, and one more. */
  def source(): String = {
    val from = random.nextInt(Rows + 20)
    val ids = pick(Seq(
      s"SELECT id FROM range($from, ${from + 1 + random.nextInt(40)})",
      s"SELECT id * 19 AS id FROM range(${random.nextInt(10)}, 9)",
      s"SELECT id FROM range($from, ${from + 3}) UNION ALL SELECT id + ${Rows / 2} FROM range($from, ${from + 5})",
      s"SELECT id FROM range($Rows) WHERE id % ${50 + random.nextInt(50)} = 7",
      s"SELECT id FROM range($from, ${from + 1})"
    ))
    s"SELECT ${Columns.map(_.definition).mkString(", ")}, id % 2 = 0 AS even FROM ($ids)"
  }

  /** A condition of the target `t` and the source `s`. */
  def on(depth: Int = 2): String =
    if (depth == 0 || oneOf(3)) atom()
    else pick(Seq("AND", "AND", "OR")) match {
      case "OR" => s"(${on(depth - 1)} OR ${on(depth - 1)})"
      case and => s"${on(depth - 1)} $and ${on(depth - 1)}"
    }

  private def atom(): String = {
    val t = pick(Columns)
    val s = pick(Columns.filter(_.family == t.family))
    val (left, right) = (cast(t, "t", if (t.family == "time") 2 else 6), moved(s))
    random.nextInt(26) match {
      case 0 => s"($left = $right OR (${t.of("t")} IS NULL AND ${s.of("s")} IS NULL))"
      case 1 => s"$left IN ($right, ${moved(s)})"
      case 2 => s"$left BETWEEN $right AND ${moved(s)}"
      case 3 => s"NOT ($left != $right)"
      case 4 => s"NOT ($left $op $right)"
      case 5 => s"$left = $right AND s.even"
      case 6 => s"$right $op $left"
      case 7 => s"${t.of("t")} IS NOT NULL AND ${t.of("t")} <=> $right"
      case 8 => s"${t.of("t")} ${pick(Seq("IS NULL", "IS NOT NULL"))} AND $left <=> $right"
      case 9 => s"$left > $right AND $left <= ${moved(s)}"
      case n if n <= 18 => s"$left $op $right"
      case _ => s"$left = $right"
    }
  }

  private def op: String = pick(Seq("=", "<=>", "<", "<=", ">", ">="))

  private def cast(column: Column, side: String, rarely: Int): String = {
    val value = column.of(side)
    if (!oneOf(rarely)) value else s"CAST($value AS ${pick(Casts(column.family))})"
  }

  /** A value of the source near those of a column. */
  private def moved(column: Column): String = {
    val value = cast(column, "s", 4)
    column.family match {
      case "number" if oneOf(3) =>
        // Also beyond the target's type.
        pick(
          Seq("+ 1", "- 1", "* 2", "+ 0.5").map(more => s"$value $more") ++
            Seq("+ 200", "+ 100000", "- 100000", "+ 3000000000").map(more =>
              s"CAST($value AS BIGINT) $more"))
      case "time" if oneOf(4) && value.startsWith("s.") =>
        s"$value ${pick(Seq("+ INTERVAL 1 DAY", "- INTERVAL 3 DAYS"))}"
      case "text" if oneOf(5) =>
        pick(Seq(s"upper($value)", s"concat($value, 'é')", s"rtrim($value)"))
      case _ if oneOf(10) => s"CASE WHEN s.even THEN $value END"
      case _ => value
    }
  }
}

object RandomSkipping {

  /** @param by    the column by which rows are divided among files
    */
  final case class Part(
      from: Int,
      until: Int,
      files: Int,
      by: String,
      lacksStatistics: Boolean)

  /** @param name   in dotted form, if it is a field of a struct
    * @param family columns that may be compared
    */
  final case class Column(name: String, dataType: String, value: String, family: String) {
    def of(side: String): String = s"$side.$name"
    def definition: String = s"CAST($value AS $dataType) AS $name"
  }

  val Rows = 240

  private val Odd = "CASE WHEN id % 17 = 3 THEN NULL"

  /** Values computed from `id`, with NULLs and the ends of the types. A file has about a day; the days
    * are around one that Samoa skipped.
    */
  val Columns: Seq[Column] = Seq(
    Column("id", "BIGINT", "id", "number"),
    Column("k", "BIGINT", s"$Odd ELSE id * 1000000007 - 100000000000 END", "number"),
    Column(
      "i",
      "INT",
      s"$Odd WHEN id = 40 THEN -2147483648 WHEN id = 200 THEN 2147483647 ELSE id * 3 - 200 END",
      "number"),
    Column("sh", "SMALLINT", "id - 100", "number"),
    Column("b", "TINYINT", "id % 250 - 125", "number"),
    Column("dec", "DECIMAL(12,2)", s"$Odd ELSE id / 4 END", "number"),
    Column("wide", "DECIMAL(30,4)", "CAST(id AS DECIMAL(20)) * 100000000000000 / 3", "number"),
    Column(
      "f",
      "FLOAT",
      "CASE id % 31 WHEN 0 THEN 'NaN' WHEN 1 THEN '-0.0' WHEN 2 THEN '0.0' WHEN 3 THEN '-Infinity' ELSE id / 3 END",
      "number"),
    Column(
      "x",
      "DOUBLE",
      "CASE id % 37 WHEN 0 THEN 'NaN' WHEN 1 THEN '-0.0' WHEN 2 THEN '0.0' WHEN 3 THEN 'Infinity' ELSE id / 3 END",
      "number"),
    Column(
      "s",
      "STRING",
      s"$Odd ELSE concat(repeat('same prefix ', 4), lpad(CAST(id DIV 2 AS STRING), 6, '0'), 'é') END",
      "text"),
    Column(
      "c",
      "STRING",
      "CASE WHEN id % 19 = 0 THEN '' ELSE concat(lpad(CAST(id AS STRING), 4, '0'), repeat(' ', CAST(id % 3 AS INT))) END",
      "text"),
    Column(
      "e",
      "STRING",
      "concat(lpad(CAST(id AS STRING), 6, '0'), repeat('\uD83D\uDE00', 40))",
      "text"),
    Column(
      "d",
      "DATE",
      s"$Odd ELSE date_add(DATE'2011-12-25', CAST(id DIV 27 AS INT)) END",
      "time"),
    Column("old", "DATE", "date_add(DATE'1500-01-01', CAST(id * 400 AS INT))", "time"),
    Column(
      "ts",
      "TIMESTAMP",
      s"$Odd ELSE timestamp_micros(1324814400000000 + id * 3200000123) END",
      "time"),
    Column("far", "TIMESTAMP", "timestamp_micros((id - 120) * 200000000000001)", "time"),
    Column(
      "ntz",
      "TIMESTAMP_NTZ",
      "CAST(timestamp_micros(1324814400000000 + id * 3200000123) AS TIMESTAMP_NTZ)",
      "time"),
    Column("q", "BOOLEAN", s"$Odd ELSE id < 100 END", "flag"),
    Column("p", "INT", "id DIV 50", "number")
  )

  private val Casts: Map[String, Seq[String]] = Map(
    "number" -> Seq(
      "BIGINT",
      "INT",
      "SMALLINT",
      "DECIMAL(24,2)",
      "DECIMAL(38,6)",
      "DOUBLE",
      "FLOAT",
      "STRING"),
    "text" -> Seq("STRING"),
    "time" -> Seq("DATE", "TIMESTAMP", "TIMESTAMP_NTZ", "STRING"),
    "flag" -> Seq("BOOLEAN", "INT", "STRING")
  )
}
