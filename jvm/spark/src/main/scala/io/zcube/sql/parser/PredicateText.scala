package io.zcube.sql.parser

import org.apache.spark.sql.catalyst.analysis.{MultiAlias, Star}
import org.apache.spark.sql.catalyst.expressions.{Alias, Expression}
import org.apache.spark.sql.catalyst.parser.{ParseException, ParserInterface}
import org.apache.spark.sql.catalyst.trees.TreePattern

import io.zcube.sql.errors.ZCubeErrors

/** The text of a predicate, which is parsed on its own and never inserted into a statement. So a
  * comment in it ends with the text, and nothing in it can be read as a clause.
  */
object PredicateText {

  /** @throws org.apache.spark.sql.AnalysisException unless the whole text is one expression without
    *                                                a name or a parameter
    */
  def parse(parser: ParserInterface, text: String): Expression = {
    def reject(reason: String) = throw ZCubeErrors.invalidPredicate(text, reason)
    val expression: Expression =
      try parser.parseExpression(text)
      catch { case e: ParseException => reject(e.getSimpleMessage) }
    expression match {
      case _: Alias | _: MultiAlias => reject("a predicate has no name")
      case _: Star => reject("a star is not a predicate")
      case e if e.containsPattern(TreePattern.PARAMETER) => reject("it has a parameter marker")
      case e => e
    }
  }

  /** The same for a text that is parsed later, where it is resolved. */
  def check(parser: ParserInterface, text: String): Unit = {
    val _ = parse(parser, text)
  }
}
