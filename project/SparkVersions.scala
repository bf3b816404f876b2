/** One supported Spark line and the Delta release it is built against.
  *
  * @param line       the line as in the jar's name, e.g. `4.2`
  * @param spark      the Spark release compiled against
  * @param delta      the Delta release compiled against
  * @param sparkShims names of the folders below `jvm/spark/src/main/scala-shims`
  * @param deltaLines Delta's major.minor versions that the jar runs with; a session with another doesn't start
  */
final case class SparkLine(
    line: String,
    spark: String,
    delta: String,
    sparkShims: Seq[String],
    deltaLines: Seq[String]) {

  /** The name of the folder below `jvm/delta/src/main/scala-shims`, e.g. `delta-4.4`. */
  def deltaShim: String = s"delta-${delta.split('.').take(2).mkString(".")}"
}

/** The only table of Spark, Delta and Scala versions. */
object SparkVersions {
  val scala = "2.13.18"

  val lines: Seq[SparkLine] = Seq(
    SparkLine("4.2", "4.2.0", "4.4.0", Seq("spark-4.1-4.2", "spark-4.2"), Seq("4.4")),
    SparkLine("4.1", "4.1.1", "4.3.1", Seq("spark-4.1-4.2", "spark-4.0-4.1"), Seq("4.3")),
    SparkLine("4.0", "4.0.1", "4.3.1", Seq("spark-4.0", "spark-4.0-4.1"), Seq("4.3"))
  )

  /** The line chosen by `-Dspark.line=4.1`; the first of the table by default. */
  def current: SparkLine = {
    val wanted = sys.props.getOrElse("spark.line", lines.head.line)
    lines
      .find(_.line == wanted)
      .getOrElse(sys.error(s"-Dspark.line=$wanted: known are ${lines.map(_.line).mkString(", ")}"))
  }

  /** The Delta release that the tests run with, e.g. `-Ddelta.version=4.0.1`: the jar is still built against
    * the line's own version, to test whether one jar works with both.
    */
  def testedDelta: String = sys.props.getOrElse("delta.version", current.delta)

  /** The name of Delta's module; before 4.1 it didn't include the Spark line. */
  def deltaModule(release: String): String =
    if (release.startsWith("4.0.")) "delta-spark_2.13" else s"delta-spark_${current.line}_2.13"
}
