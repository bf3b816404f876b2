package io.zcube.layout

import scala.collection.mutable

/** Weights of columns: how much more often queries filter by one column than by another.
  *
  * Written as `l_shipdate=3,l_partkey=1`; a name may have dots (`a.b` is a nested field), and needs
  * backquotes if it has other special characters. A column that is not named has weight 1.
  */
object ColumnWeights {

  /** Describes valid values, for messages. */
  val Expected: String =
    "a list such as 'l_shipdate=3,l_partkey=1': column names, each once, with numbers greater than 0"

  private val Pair = raw"\s*((?:`(?:[^`]|``)*`|[^`=,])+)=\s*([^\s=,`]+)\s*".r
  private val Part = "`((?:[^`]|``)*)`|([^`.]+)".r

  /** Name parts and weight of each named column; None if the text is malformed.
    *
    * {{{parse("a.b=3, `c,d`=0.5") == Some(Seq(Seq("a", "b") -> 3.0, Seq("c,d") -> 0.5))}}}
    */
  def parse(text: String): Option[Seq[(Seq[String], Double)]] = {
    val found = splitAtCommas(text).map {
      case Pair(name, number) =>
        for {
          parts <- nameParts(name.trim)
          weight <- number.toDoubleOption.filter(isWeight)
        } yield parts -> weight
      case _ => None
    }
    Option.when(found.forall(_.isDefined))(found.flatten)
      .filter(pairs => pairs.map(_._1).distinct.length == pairs.length)
  }

  /** Whether a number can be a weight. */
  def isWeight(number: Double): Boolean = number > 0 && !number.isInfinite

  /** The weight of a column without file statistics, by which no query skips a file: files are cut
    * by it only where no other column can be cut. Users' weights are greater.
    */
  val NoStatistics: Double = 0.0

  /** Whether a column has statistics, according to the weights of a layout. */
  def hasStatistics(weights: Seq[Double], column: Int): Boolean =
    weights.isEmpty || weights(column) != NoStatistics

  /** The weights relative to the largest; empty if all are equal. So equal layouts have equal
    * weights, whatever the original numbers. None becomes smaller than a billionth.
    */
  def normalized(weights: Seq[Double]): Seq[Double] =
    if (weights.distinct.length <= 1) Nil
    else {
      val ratios = weights.map(weight => math.max(Smallest, Ratio(weight, weights.max)))
      if (ratios.distinct.length == 1) Nil else ratios
    }

  private val Smallest = 1e-9

  private def splitAtCommas(text: String): Seq[String] = {
    val parts = mutable.ArrayBuffer(new StringBuilder)
    var quoted = false
    text.foreach { c =>
      if (c == '`') quoted = !quoted
      if (c == ',' && !quoted) parts += new StringBuilder else parts.last += c
    }
    parts.map(_.toString).toSeq
  }

  private def nameParts(name: String): Option[Seq[String]] = {
    val parts = mutable.ArrayBuffer.empty[String]
    var at = 0
    var valid = name.nonEmpty
    while (valid && at < name.length) {
      val matcher = Part.pattern.matcher(name).region(at, name.length)
      valid = matcher.lookingAt()
      if (valid) {
        parts += Option(matcher.group(1)).fold(matcher.group(2))(_.replace("``", "`"))
        at = matcher.end
        if (at < name.length) {
          valid = name.charAt(at) == '.' && at + 1 < name.length
          at += 1
        }
      }
    }
    Option.when(valid && parts.forall(_.nonEmpty))(parts.toSeq)
  }
}
