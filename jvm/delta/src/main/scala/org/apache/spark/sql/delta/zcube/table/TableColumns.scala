package org.apache.spark.sql.delta.zcube.table

import org.apache.spark.sql.catalyst.analysis.Resolver
import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.delta.skipping.clustering.ClusteringColumnInfo
import org.apache.spark.sql.delta.{DeltaColumnMapping, Snapshot}
import org.apache.spark.sql.types.StructType

import io.zcube.clustering.table.ColumnPath

/** Finds a table's columns, with the names that users know and those in files. */
object TableColumns {

  /** The columns that a table is clustered by; empty if it isn't. */
  def clusteringColumns(session: SparkSession, snapshot: Snapshot): Seq[ColumnPath] =
    ClusteringColumnInfo.extractLogicalNames(snapshot).map { name =>
      val parts = session.sessionState.sqlParser.parseMultipartIdentifier(name)
      find(snapshot.schema, parts, session.sessionState.conf.resolver).get
    }

  /** None if the schema has no such column. */
  def find(schema: StructType, parts: Seq[String], resolver: Resolver): Option[ColumnPath] =
    parts.headOption.flatMap(part => schema.find(f => resolver(f.name, part))).flatMap { field =>
      val physical = DeltaColumnMapping.getPhysicalName(field)
      (parts.tail, field.dataType) match {
        case (Nil, dataType) => Some(ColumnPath(Seq(field.name), Seq(physical), dataType))
        case (rest, struct: StructType) =>
          find(struct, rest, resolver).map(leaf =>
            leaf.copy(field.name +: leaf.logical, physical +: leaf.physical))
        case _ => None
      }
    }

  /** None if the schema has no such column, by physical names. */
  def findPhysical(schema: StructType, parts: Seq[String]): Option[ColumnPath] =
    parts.headOption
      .flatMap(part => schema.find(DeltaColumnMapping.getPhysicalName(_) == part))
      .flatMap { field =>
        (parts.tail, field.dataType) match {
          case (Nil, dataType) => Some(ColumnPath(Seq(field.name), parts, dataType))
          case (rest, struct: StructType) =>
            findPhysical(struct, rest).map(leaf =>
              leaf.copy(field.name +: leaf.logical, parts.head +: leaf.physical))
          case _ => None
        }
      }
}
