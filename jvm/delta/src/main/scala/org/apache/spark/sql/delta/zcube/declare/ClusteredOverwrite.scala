package org.apache.spark.sql.delta.zcube.declare

import org.apache.spark.sql.connector.write.V1Write
import org.apache.spark.sql.delta.catalog.DeltaTableV2
import org.apache.spark.sql.delta.{ColumnWithDefaultExprUtils, DeltaOptions}
import org.apache.spark.sql.sources.InsertableRelation
import org.apache.spark.sql.{DataFrame, SaveMode, classic}

/** Delta's overwrite of a whole table (INSERT OVERWRITE, `insertInto`, `writeTo`), with the write
  * that keeps the clustering columns.
  */
final class ClusteredOverwrite(table: DeltaTableV2, writeOptions: Map[String, String])
    extends V1Write {

  override def toInsertableRelation(): InsertableRelation = new InsertableRelation {
    override def insert(data: DataFrame, overwrite: Boolean): Unit = {
      val session = data.sparkSession.asInstanceOf[classic.SparkSession]
      val conf = session.sessionState.conf
      // The same as in Delta's own insert.
      val nullAsDefault =
        if (conf.useNullsForMissingDefaultColumnValues) {
          Map(ColumnWithDefaultExprUtils.USE_NULL_AS_DEFAULT_DELTA_OPTION -> "true")
        } else Map.empty
      val _ = new ClusteredWrite(
        table.deltaLog,
        SaveMode.Overwrite,
        new DeltaOptions(writeOptions ++ nullAsDefault, conf),
        Nil,
        table.deltaLog.unsafeVolatileSnapshot.metadata.configuration,
        data.asInstanceOf[classic.DataFrame],
        table.catalogTable
      ).run(session)
      session.sharedState.cacheManager.recacheByPlan(session, table.toLogicalRelation)
    }
  }
}
