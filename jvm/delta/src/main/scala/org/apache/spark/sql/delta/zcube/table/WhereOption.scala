package org.apache.spark.sql.delta.zcube.table

import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.delta.commands.OptimizeTableCommand

import io.zcube.clustering.plan.OptimizeOption
import io.zcube.sql.errors.ZCubeErrors
import io.zcube.sql.parser.PredicateText

/** `OPTIONS ('where' = 'p = 1')`: the WHERE of an OPTIMIZE as a string, for programs. A string has
  * a definite end: even if a caller's predicate contains a comment or the words of a clause, it
  * remains just a predicate.
  */
object WhereOption {

  def isKey(key: String): Boolean = key.equalsIgnoreCase(OptimizeOption.Where)

  /** The command with the option's predicate as its WHERE, if there is one. */
  def place(
      session: SparkSession,
      options: Seq[(String, String)],
      command: OptimizeTableCommand): OptimizeTableCommand =
    options.filter { case (key, _) => isKey(key) }.map(_._2) match {
      case Nil => command
      case Seq(where) =>
        command.userPartitionPredicates.foreach { clause =>
          throw ZCubeErrors.whereGivenTwice(clause, where)
        }
        PredicateText.check(session.sessionState.sqlParser, where)
        command.copy(userPartitionPredicates = Seq(where))(command.zOrderBy)
      case several =>
        throw ZCubeErrors.invalidOption(OptimizeOption.Where, several.head, "given once")
    }
}
