package org.apache.spark.sql.delta.zcube.table

import scala.util.control.NonFatal

import org.apache.spark.SparkThrowable
import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.delta.commands.OptimizeTableCommand
import org.apache.spark.sql.delta.{DeltaErrors, Snapshot}

/** Whether OPTIMIZE takes tables that a catalog manages is Delta's to say, and may be another thing in
  * each of its versions. The check is part of its command, so the command is asked.
  */
object CatalogManaged {

  /** @throws java.lang.Exception Delta's own, if its OPTIMIZE refuses the table */
  def check(session: SparkSession, snapshot: Snapshot, delta: OptimizeTableCommand): Unit =
    if (snapshot.isCatalogOwned) {
      // Of a WHERE that nobody can parse nothing is ever run.
      try delta.copy(userPartitionPredicates = Seq("("))(delta.zOrderBy).run(session): Unit
      catch {
        case e: Exception with SparkThrowable if e.getCondition == refusal => throw e
        case NonFatal(_) => ()
      }
    }

  private lazy val refusal: String =
    DeltaErrors.operationBlockedOnCatalogManagedTable("OPTIMIZE") match {
      case e: SparkThrowable => e.getCondition
      case e => throw e
    }
}
