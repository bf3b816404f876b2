package org.apache.spark.sql.delta.zcube.table

import org.apache.hadoop.fs.Path
import org.apache.spark.sql.catalyst.catalog.CatalogTable
import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.delta.commands.DeltaCommand
import org.apache.spark.sql.delta.{DeltaErrors, Snapshot}

import io.zcube.clustering.table.{ColumnPath, WhereClause}

/** Common parts of OPTIMIZE, DESCRIBE CLUSTERING and RECOMMEND CLUSTERING, which start from a table's
  * log.
  */
trait DeltaTableCommand extends DeltaCommand {

  /** @throws org.apache.spark.sql.AnalysisException if the log has no commits */
  protected def requireTable(snapshot: Snapshot): Unit =
    if (snapshot.version == -1) {
      throw DeltaErrors.notADeltaTableException(snapshot.deltaLog.dataPath.toString)
    }

  /** The WHERE, resolved: on the clustering columns if there are any, otherwise on the partition
    * columns.
    */
  protected def filePredicates(
      session: SparkSession,
      snapshot: Snapshot,
      clusteringColumns: Seq[ColumnPath],
      where: Seq[String]): WhereClause = {
    val texts = where.flatMap(text => parsePredicates(session, text).map(_ -> text))
    if (texts.isEmpty) WhereClause.Everything
    else if (clusteringColumns.nonEmpty) {
      ClusteringPredicate.resolve(session, snapshot, clusteringColumns, texts)
    } else {
      val parsed = texts.map(_._1)
      verifyPartitionPredicates(session, snapshot.metadata.partitionColumns, parsed)
      WhereClause(parsed, parsed)
    }
  }
}

object DeltaTableCommand {

  /** The table name that users know, for job descriptions and messages. */
  def nameOf(catalogTable: Option[CatalogTable], path: Path): String = catalogTable
    .map(_.identifier.unquotedString)
    .getOrElse(path.toString)
}
