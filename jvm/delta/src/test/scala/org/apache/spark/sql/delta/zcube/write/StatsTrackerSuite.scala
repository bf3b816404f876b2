package org.apache.spark.sql.delta.zcube.write

import java.math.{BigDecimal => JavaDecimal}
import java.sql.{Date, Timestamp}
import java.time.LocalDateTime

import scala.jdk.CollectionConverters._
import scala.util.Random

import org.apache.spark.sql.classic.Dataset
import org.apache.spark.sql.delta.actions.AddFile
import org.apache.spark.sql.delta.util.JsonUtils
import org.apache.spark.sql.delta.zcube.DeltaSparkSession
import org.apache.spark.sql.delta.{DeltaLog, OptimisticTransaction}
import org.apache.spark.sql.types._
import org.apache.spark.sql.{DataFrame, Row}
import org.scalatest.funsuite.AnyFunSuite

/** Compares the statistics that ZCube collects while writing with Delta's. */
class StatsTrackerSuite extends AnyFunSuite with DeltaSparkSession {

  private val random = new Random(8)

  private def text(): String = random.nextInt(6) match {
    case 0 => ""
    case 1 => "ü€𝄞" * random.nextInt(20)
    case 2 => "same prefix of more than thirty-two letters " + random.nextInt(50)
    case 3 => new String(Character.toChars(0x10ffff)) * 40
    case _ => random.alphanumeric.take(random.nextInt(9)).mkString
  }

  private val makers: Seq[(DataType, () => Any)] = Seq(
    ByteType -> (() => random.nextInt(256).toByte),
    ShortType -> (() => random.nextInt(70000).toShort),
    IntegerType -> (() => random.nextInt()),
    LongType -> (() => random.nextLong()),
    FloatType -> (() => Seq(Float.NaN, -0.0f, 0.0f, random.nextFloat())(random.nextInt(4))),
    DoubleType -> (() =>
      Seq(Double.NaN, -0.0, 0.0, -1.0 / 0, random.nextGaussian())(random.nextInt(5))),
    BooleanType -> (() => random.nextBoolean()),
    DateType -> (() => new Date(random.nextInt().toLong * 100000)),
    TimestampType -> (() => new Timestamp(random.nextInt().toLong * 1234)),
    TimestampNTZType -> (() =>
      LocalDateTime.of(1900 + random.nextInt(300), 2, 3, 4, 5, 6, random.nextInt(999) * 1000)),
    DecimalType(9, 2) -> (() => JavaDecimal.valueOf(random.nextInt().toLong, 2).movePointLeft(3)),
    DecimalType(18, 0) -> (() => JavaDecimal.valueOf(random.nextInt().toLong)),
    DecimalType(38, 10) -> (() => JavaDecimal.valueOf(random.nextLong(), 10)),
    StringType -> (() => text()),
    BinaryType -> (() => text().getBytes("UTF-8")),
    ArrayType(IntegerType) -> (() => Seq(random.nextInt())),
    new StructType().add("n", LongType).add("s", StringType) -> (() =>
      Row(random.nextLong(), text()))
  )

  private val schema = StructType(makers.zipWithIndex.map { case ((dataType, _), i) =>
    StructField(s"c$i", dataType)
  })

  private def frame(rows: Int, nulls: Double): DataFrame = {
    val values = Seq.fill(rows)(Row.fromSeq(makers.map { case (_, make) =>
      if (random.nextDouble() < nulls) null else make()
    }))
    spark.createDataFrame(values.asJava, schema).coalesce(1)
  }

  private def statisticsOf(txn: OptimisticTransaction, rows: DataFrame): Seq[Any] =
    txn.writeFiles(rows.asInstanceOf[Dataset[Row]]).collect { case file: AddFile =>
      JsonUtils.fromJson[Map[String, Any]](file.stats)
    }

  for ((rows, nulls) <- Seq(1 -> 0.0, 1 -> 1.0, 40 -> 0.0, 300 -> 0.3, 40 -> 1.0, 40 -> 0.95);
    withVectors <- Seq(true, false))
    test(s"$rows rows, share of NULLs $nulls, deletion vectors $withVectors: as Delta's") {
      val path = folder.resolve(s"t-$rows-$nulls-$withVectors").toString
      frame(0, 0).write
        .format("delta")
        .option("delta.enableDeletionVectors", withVectors.toString)
        .option("delta.feature.timestampNtz", "supported")
        .option("delta.dataSkippingNumIndexedCols", "-1")
        .save(path)
      val log = DeltaLog.forTable(spark, path)
      val input = frame(rows, nulls)
      val snapshot = log.update()
      val expected = statisticsOf(log.startTransaction(None, Some(snapshot)), input)
      val found =
        statisticsOf(new DeltaTransaction(spark.sparkContext, log, None, snapshot), input)
      assert(expected.size === 1)
      assert(found === expected)
      val numbers = found.head.asInstanceOf[Map[String, Any]]
      assert(numbers("numRecords").toString === rows.toString)
      assert(numbers.contains("tightBounds") === withVectors)
    }

  test("timeParserPolicy=LEGACY: bounds that sessions without it read differently are left out") {
    val path = folder.resolve("old-times").toString
    val columns = Seq(
      "old" -> Seq("timestamp'1850-01-01'", "timestamp'1960-01-01'"),
      "both" -> Seq("timestamp'1850-01-01'", "timestamp'2024-01-01'"),
      "late" -> Seq("timestamp'1973-01-02'", "timestamp'2024-01-01'"),
      "local" -> Seq("timestamp_ntz'1582-10-10'", "timestamp_ntz'1850-01-01'"),
      "missing" -> Seq("date'1582-10-05'", "date'1582-10-14'"),
      "day" -> Seq("date'1582-10-04'", "date'1582-10-15'")
    )
    val selected = Seq(0, 1).map(i =>
      columns.map { case (name, values) => s"${values(i)} AS $name" }) :+ columns.map(_ => "NULL")
    def rows =
      spark.sql(selected.map(_.mkString("SELECT ", ", ", "")).mkString(" UNION ALL ")).coalesce(1)
    rows.write.format("delta").option("delta.enableDeletionVectors", "true").save(path)
    val log = DeltaLog.forTable(spark, path)
    def statistics = {
      val txn = new DeltaTransaction(spark.sparkContext, log, None, log.update())
      val Seq(found) = statisticsOf(txn, rows)
      val numbers = found.asInstanceOf[Map[String, Any]]
      assert(numbers("tightBounds") === true)
      assert(numbers("nullCount") === columns.map(_._1 -> 1).toMap)
      Seq("minValues", "maxValues").map(numbers(_).asInstanceOf[Map[String, Any]])
    }
    val exact = statistics
    assert(exact.map(_.size) === Seq(6, 6))
    withSettings("spark.sql.legacy.timeParserPolicy" -> "LEGACY") {
      assert(
        statistics === Seq(
          exact(0) -- Seq("old", "both", "missing"),
          exact(1) -- Seq("old", "missing")))
    }
  }
}
