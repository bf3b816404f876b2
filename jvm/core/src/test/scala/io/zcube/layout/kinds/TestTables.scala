package io.zcube.layout.kinds

import scala.util.Random

/** Tables of eight columns, each generated from a seed, with various kinds of columns. */
object TestTables {
  import TestColumn.Null

  private val Blind: Long => Long = _ => 0

  private def column(rows: Int)(value: => Long): TestColumn = TestColumn(Array.fill(rows)(value))

  private def eight(made: Int => TestColumn): Seq[TestColumn] = (0 until 8).map(made)

  private def zipf(random: Random, exponent: Double): Long =
    math.min(100000.0, math.pow(1 - random.nextDouble(), -1 / (exponent - 1))).toLong

  private def millionth(value: Double): Long = (value * 1e6).toLong

  private def orNull(column: TestColumn, share: Double, random: Random): TestColumn =
    column.copy(values = column.values.map(v => if (random.nextDouble() < share) Null else v))

  private type Maker = (Random, Int) => Seq[TestColumn]

  private val uniform: Maker = (r, n) => eight(_ => column(n)(r.nextInt(Int.MaxValue).toLong))

  private val skewed: Maker = (r, n) => {
    val exponents = Seq(1.3, 1.2, 1.5, 1.15, 1.4, 1.25, 2.0, 1.1)
    eight(c => column(n)(zipf(r, exponents(c))))
  }

  private val correlated: Maker = (r, n) => {
    val first = Array.fill(n)(r.nextDouble())
    eight { c =>
      val (sign, noise) = if (c % 4 == 2) (-1, 0.1) else (1, 0.03 * (c % 3))
      TestColumn(first.map(v =>
        millionth(if (c % 4 == 3) r.nextDouble() else sign * v + noise * r.nextGaussian())))
    }
  }

  private val dependent: Maker = (r, n) => {
    val key = Array.fill(n)(r.nextInt(1000000).toLong)
    val made = Seq[Long => Long](
      identity,
      _ / 1000,
      -_,
      _ + r.nextInt(50),
      k => math.sqrt(k.toDouble).toLong,
      _ % 7,
      _ / 100000)
    made.map(f => TestColumn(key.map(f))) :+ column(n)(r.nextInt().toLong)
  }

  private val clusters: Maker = (r, n) => {
    val centres = Array.fill(12, 8)(r.nextDouble())
    val of = Array.fill(n)(r.nextInt(12))
    eight(c => TestColumn(of.map(k => millionth(centres(k)(c) + 0.03 * r.nextGaussian()))))
  }

  private val nulls: Maker =
    (r, n) => uniform(r, n).map(orNull(_, 0.2, r))

  private val mostlyNull: Maker = (r, n) => {
    val shares = Seq(0.95, 0.9, 0.99, 0.8, 0.95, 0.9, 0.98, 0.7)
    uniform(r, n).zip(shares).map { case (c, share) => orNull(c, share, r) }
  }

  private val constant: Maker = (r, n) =>
    eight {
      case 4 => orNull(column(n)(7L), 0.5, r)
      case 5 => column(n)(r.nextInt(1000).toLong)
      case 7 => column(n)(zipf(r, 1.4))
      case c => if (c % 2 == 0) column(n)(7L) else column(n)(r.nextInt().toLong)
    }

  private val booleans: Maker = (r, n) =>
    eight {
      case 0 => column(n)(r.nextInt(2).toLong).copy(seen = Blind)
      case 2 => column(n)(if (r.nextInt(100) == 0) 1L else 0L).copy(seen = Blind)
      case 4 => orNull(column(n)(r.nextInt(2).toLong), 0.2, r).copy(seen = Blind)
      case 6 => column(n)(r.nextInt(2).toLong).copy(seen = Blind)
      case 7 => column(n)(zipf(r, 1.4))
      case _ => column(n)(r.nextInt().toLong)
    }

  // For URLs and the like, statistics have the first 32 characters, which vary in usefulness.
  private val text: Maker = (r, n) => {
    val each = Seq[Long](1, 1000, 1, 1 << 22, 1, 50, 1, 1 << 30)
    eight(c => column(n)((r.nextInt() >>> 1).toLong).copy(seen = _ / each(c)))
  }

  private val timestamps: Maker = (r, n) => {
    val span = 3L * 365 * 86400
    val happened = Array.fill(n)((math.sqrt(r.nextDouble()) * span).toLong).sorted
    val updated = happened.map(_ - (86400 * math.log(1 - r.nextDouble())).toLong)
    Seq(
      TestColumn(happened),
      TestColumn(updated),
      TestColumn(happened.map(_ / 86400)),
      column(n)(r.nextInt(span.toInt).toLong),
      column(n)(zipf(r, 1.3)),
      orNull(TestColumn(updated.map(_ + 3600)), 0.4, r),
      TestColumn(happened.map(_ / 3600)),
      column(n)(r.nextInt().toLong)
    )
  }

  private val mixed: Maker = (r, n) =>
    Seq(
      column(n)(r.nextInt().toLong),
      column(n)(millionth(r.nextGaussian())),
      column(n)(math.min(1000, zipf(r, 1.3))),
      column(n)(r.nextInt(12).toLong),
      column(n)(r.nextInt(5000).toLong),
      orNull(column(n)(r.nextInt().toLong), 0.3, r),
      column(n)(r.nextInt(400).toLong),
      column(n)(millionth(-math.log(1 - r.nextDouble())))
    )

  private val fewValues: Maker = (r, n) => {
    val values = Seq(2, 3, 5, 10, 4, 7, 20, 50)
    eight(c => column(n)(r.nextInt(values(c)).toLong))
  }

  private val mostlyNullSomeBlind: Maker = (r, n) => {
    val shares = Seq(0.95, 0.95, 0.6, 0.9, 0.0, 0.98, 0.9, 0.8)
    uniform(r, n).zip(shares).zipWithIndex.map { case ((c, share), i) =>
      val column = orNull(c, share, r)
      if (i == 2 || i == 4) column.copy(seen = Blind) else column
    }
  }

  private val fewValuesSomeBlind: Maker = (r, n) => {
    def skewedTo(values: Int): Long = math.min(values.toLong, zipf(r, 1.6)) - 1
    val values = Seq(5, 2, 2, 10, 2, 4, 2, 20)
    eight(c =>
      if (values(c) == 2) column(n)(r.nextInt(2).toLong).copy(seen = Blind)
      else column(n)(skewedTo(values(c))))
  }

  private val makers: Seq[(String, Maker)] = Seq(
    "uniform" -> uniform,
    "skewed" -> skewed,
    "correlated" -> correlated,
    "dependent" -> dependent,
    "clusters" -> clusters,
    "nulls" -> nulls,
    "mostly NULL" -> mostlyNull,
    "constant" -> constant,
    "booleans" -> booleans,
    "text" -> text,
    "timestamps" -> timestamps,
    "mixed" -> mixed,
    "few values" -> fewValues,
    "mostly NULL, some without statistics" -> mostlyNullSomeBlind,
    "few values, some without statistics" -> fewValuesSomeBlind
  )

  val names: Seq[String] = makers.map(_._1)

  def of(name: String, rows: Int): Seq[TestColumn] =
    makers.toMap.apply(name)(new Random(names.indexOf(name)), rows)
}
