package org.apache.spark.sql.delta.zcube.table

import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.delta.commands.OptimizeTableCommand

import io.zcube.clustering.plan.OptimizeOptions
import io.zcube.sql.errors.ZCubeErrors
import io.zcube.sql.parser.PredicateText

/** `OPTIONS ('where' = 'p = 1')`: the WHERE of an OPTIMIZE as a text, for programs. A text has an end
  * of its own: whatever a caller's predicate holds, a comment or the words of a clause, it is the
  * predicate alone.
  */
object WhereOption {

  def isKey(key: String): Boolean = key.equalsIgnoreCase(OptimizeOptions.Where)

  /** The command with the predicate in its place, if there is one. */
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
        throw ZCubeErrors.invalidOption(OptimizeOptions.Where, several.head, "given once")
    }
}
