package org.apache.spark.sql.delta.zcube

import org.apache.spark.sql.delta.skipping.clustering.ClusteringColumnInfo
import org.apache.spark.sql.delta.{DeltaOptions, Snapshot}
import org.apache.spark.sql.types.StructType

/** The clustering columns that an overwrite keeps. */
object ExistingColumns {

  /** None if the table has no clustering columns, or if the new schema lacks one of them: then Delta
    * does what it does.
    */
  def keptBy(snapshot: Snapshot, schema: StructType, options: DeltaOptions): Option[Seq[String]] = {
    val columns = ClusteringColumnInfo.extractLogicalNames(snapshot)
    def found(name: String) =
      schema.exists(f => name.split('.').head.replace("`", "").equalsIgnoreCase(f.name))
    Option.when(columns.nonEmpty && (!options.canOverwriteSchema || columns.forall(found)))(columns)
  }
}
