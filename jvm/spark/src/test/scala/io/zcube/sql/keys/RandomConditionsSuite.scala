package io.zcube.sql.keys

import scala.util.Random

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.types._
import org.apache.spark.unsafe.types.UTF8String
import org.scalatest.funsuite.AnyFunSuite

import io.zcube.Night

/** Random conditions on random rows: what is derived from the condition and the source's rows must
  * be true of each row of the target that matches one of them. Spark itself says which rows match.
  */
class RandomConditionsSuite extends AnyFunSuite {

  private val Rounds = if (Night.all) 3000 else 1000
  private val Zones = Seq("UTC", "Europe/Berlin", "Pacific/Apia", "America/St_Johns", "Asia/Manila")
  private val Decimals = DecimalType(10, 2)
  private val Wide = DecimalType(22, 4)
  private val HalfDay = 43200000000L

  /** Columns, with values that meet often. */
  private val kinds: Seq[(String, DataType, Random => Any)] = Seq(
    ("long", LongType, r => if (r.nextInt(9) == 0) r.nextLong() else r.nextInt(12).toLong),
    ("int", IntegerType, r => if (r.nextInt(9) == 0) r.nextInt() else r.nextInt(12)),
    (
      "byte",
      ByteType,
      r => if (r.nextInt(4) == 0) (r.nextInt(256) - 128).toByte else r.nextInt(12).toByte),
    // Samoa skipped 2011-12-30; Manila 1844-12-31.
    ("date", DateType, r => if (r.nextBoolean()) 15336 + r.nextInt(6) else -45657 + r.nextInt(6)),
    (
      "time",
      TimestampType,
      r =>
        (if (r.nextBoolean()) 15336L * 2 + r.nextInt(12)
         else -45657L * 2 + r.nextInt(12)) * HalfDay),
    ("ntz", TimestampNTZType, r => (15336L * 2 + r.nextInt(12)) * HalfDay),
    ("dec", Decimals, r => Decimal(BigDecimal(r.nextInt(4000).toLong, 2), 10, 2)),
    ("wide", Wide, r => Decimal(BigDecimal(r.nextInt(30000) * 50L, 4), 22, 4)),
    (
      "text",
      StringType,
      r =>
        UTF8String.fromString(Seq("", "a", "b", "é", "\uD83D\uDE00")(r.nextInt(5)) + r.nextInt(3)))
  )

  private val nested = StructType(Seq(StructField("f", LongType)))

  private def attributes(prefix: String) = kinds.map { case (name, dataType, _) =>
    AttributeReference(prefix + name, dataType)()
  } :+ AttributeReference(prefix + "n", nested)()

  private val target = attributes("t_")
  private val source = attributes("s_")

  private def rowOf(r: Random): InternalRow = {
    def orNull(value: => Any) = if (r.nextInt(10) == 0) null else value
    InternalRow.fromSeq(
      kinds.map { case (_, _, value) => orNull(value(r)) } :+
        orNull(InternalRow(orNull(r.nextInt(12).toLong))))
  }

  private class Conditions(r: Random, zone: String) {

    private def pick[T](of: Seq[T]): T = of(r.nextInt(of.size))

    private def cast(e: Expression, to: DataType) = Cast(e, to, Some(zone), EvalMode.LEGACY)

    /** Expressions over one side, of a type. */
    private def side(of: Seq[Attribute], dataType: DataType): Expression = {
      val at = (name: String) => of.find(_.name.endsWith(s"_$name")).get
      val same = of.filter(_.dataType == dataType)
      val more = dataType match {
        case LongType =>
          Seq(cast(at("int"), LongType), cast(at("byte"), LongType), GetStructField(at("n"), 0))
        case IntegerType => Seq(cast(at("byte"), IntegerType))
        case DateType => Seq(cast(at("time"), DateType), cast(at("ntz"), DateType))
        case TimestampType => Seq(cast(at("date"), TimestampType))
        case TimestampNTZType => Seq(cast(at("date"), TimestampNTZType))
        case Wide => Seq(cast(at("dec"), Wide), cast(at("int"), Wide), cast(at("byte"), Wide))
        case _ => Nil
      }
      pick(same ++ more)
    }

    private def keyOf(dataType: DataType): Expression = {
      val key = side(source, dataType)
      if (dataType == LongType && r.nextInt(4) == 0) Add(key, Literal(1L)) else key
    }

    private def atom: Expression = {
      val dataType = pick(kinds)._2
      val (a, b) = (side(target, dataType), keyOf(dataType))
      val (one, other) = if (r.nextBoolean()) (a, b) else (b, a)
      r.nextInt(14) match {
        case 0 | 1 | 2 | 3 => EqualTo(one, other)
        case 4 | 5 => EqualNullSafe(one, other)
        case 6 => GreaterThanOrEqual(one, other)
        case 7 => LessThan(one, other)
        case 8 => And(GreaterThan(a, b), LessThanOrEqual(a, keyOf(dataType)))
        case 9 => And(IsNull(a), IsNull(b))
        case 10 => In(a, Seq(b, keyOf(dataType)))
        case 11 => EqualTo(a, Literal(kinds.find(_._2 == dataType).get._3(r), dataType))
        case 12 => Not(EqualTo(a, b))
        case _ => new Between(a, b, keyOf(dataType))
      }
    }

    def next(depth: Int): Expression = r.nextInt(if (depth == 0) 1 else 4) match {
      case 0 => atom
      case 1 => Or(next(depth - 1), next(depth - 1))
      case _ => And(next(depth - 1), next(depth - 1))
    }
  }

  test("every row that matches is in the boxes") {
    val (derived, excluded, matched) = (0 until Rounds).map(check).reduce[(Int, Int, Int)] {
      case ((a, b, c), (d, e, f)) => (a + d, b + e, c + f)
    }
    info(s"$derived conditions restrict the target; $matched rows matched, $excluded were excluded")
    assert(3 * derived > 2 * Rounds && 3 * excluded > 10 * Rounds && 3 * matched > 10 * Rounds)
  }

  private def check(seed: Int): (Int, Int, Int) = {
    val r = new Random(seed)
    val zone = Zones(r.nextInt(Zones.size))
    val condition = new Conditions(r, zone).next(3)
    val match_ = new MatchCondition(
      condition,
      AttributeSet(target),
      RepeatableColumns(AttributeSet(source)))
    if (match_.alternatives.isEmpty) (0, 0, 0)
    else {
      val (bounds, layout) = BoundOrdinals.of(match_.columns, match_.alternatives)
      val sourceRows = Seq.fill(1 + r.nextInt(40))(rowOf(r))
      val targetRows = Seq.fill(60)(rowOf(r))
      val files = targetRows.take(r.nextInt(20)).map { row =>
        val values = match_.columns.map(BindReferences.bindReference(_, target).eval(row)).toArray
        new ValueBox(values, values)
      }
      val cover = new ValueCover(layout.types, files.toArray)
      val maxBoxes = 1 + r.nextInt(20)
      val keys = new KeyCollector(layout, cover, 1 + r.nextInt(30), maxBoxes)
      val boundBy = bounds.map(BindReferences.bindReference(_, source))
      // As the query does, only rows that may match.
      val filter = match_.ofSource.map(BindReferences.bindReference(_, source))
      sourceRows.filter(row => filter.forall(_.eval(row) == true))
        .foreach(row => keys.add(InternalRow.fromSeq(boundBy.map(_.eval(row)))))
      keys.result match {
        case None =>
          assert(files.nonEmpty)
          (1, 0, 0)
        case Some(boxes) =>
          val on = BindReferences.bindReference(replaced(condition), target ++ source)
          // Together, and as for partition columns, each part alone.
          val whole = match_.columns.indices
          val predicates = (whole +: whole.map(i => whole.slice(i, i + 1))).map { dimensions =>
            val predicate = BoxPredicate.of(
              dimensions.map(match_.columns),
              dimensions,
              cover.reduce(boxes, maxBoxes).toSeq)
            BindReferences.bindReference(predicate, target)
          }
          val outcomes = targetRows.map { row =>
            val matches =
              sourceRows.exists(other => on.eval(new JoinedRow(row, other)) == true)
            val holds = predicates.map(_.eval(row) == true)
            if (matches) {
              assert(!holds.contains(false), s"seed $seed, $zone: $condition\n${boxes.toSeq}\n$row")
            }
            (if (holds.head) 0 else 1, if (matches) 1 else 0)
          }
          (1, outcomes.map(_._1).sum, outcomes.map(_._2).sum)
      }
    }
  }

  /** Without expressions that Spark replaces before it evaluates them. */
  private def replaced(e: Expression): Expression = e.transformUp {
    case Between(value, from, to, _) =>
      And(GreaterThanOrEqual(value, from), LessThanOrEqual(value, to))
  }
}
