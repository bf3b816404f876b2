package org.apache.spark.sql.delta.zcube.table

import scala.util.control.NonFatal

import org.apache.spark.SparkThrowable
import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.delta.commands.OptimizeTableCommand
import org.apache.spark.sql.delta.{DeltaErrors, Snapshot}

/** Delta decides whether OPTIMIZE supports catalog-managed tables, possibly differently in each
  * version. The check is inline in its command, so this runs the command.
  */
object CatalogManaged {

  /** @throws java.lang.Exception Delta's own exception, if its OPTIMIZE rejects the table */
  def check(session: SparkSession, snapshot: Snapshot, delta: OptimizeTableCommand): Unit =
    if (snapshot.isCatalogOwned) {
      // With an unparsable WHERE, nothing is ever executed.
      try delta.copy(userPartitionPredicates = Seq("("))(delta.zOrderBy).run(session): Unit
      catch {
        case e: Exception with SparkThrowable if e.getCondition == rejection => throw e
        case NonFatal(_) => ()
      }
    }

  private lazy val rejection: String =
    DeltaErrors.operationBlockedOnCatalogManagedTable("OPTIMIZE") match {
      case e: SparkThrowable => e.getCondition
      case e => throw e
    }
}
