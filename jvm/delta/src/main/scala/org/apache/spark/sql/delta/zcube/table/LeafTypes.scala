package org.apache.spark.sql.delta.zcube.table

import org.apache.spark.sql.delta.{DeltaColumnMapping, NoMapping, Snapshot}
import org.apache.spark.sql.types._

/** The types of a table's columns, and of the fields, elements, keys and values in them, by the names
  * that files have.
  */
object LeafTypes {

  /** Whether files that were written for a version fit a later one: what both have is of the same types,
    * and nothing is gone whose name another column may get.
    *
    * A file has a column that its source lacks in the type of the version for which it was written. If the
    * type has been widened since, and the feature dropped, no file may have the narrow one any more; but
    * Delta rewrites only those that it finds. RESTORE may take a column away; if one with its name and
    * another type comes later, files that have the old one can't be read. With column mapping, no other
    * column gets that name.
    */
  def fit(written: Snapshot, now: Snapshot): Boolean = {
    val types = of(now)
    val mayGo = now.metadata.columnMappingMode != NoMapping
    of(written).forall { case (path, dataType) => types.get(path).fold(mayGo)(_ == dataType) }
  }

  private def of(snapshot: Snapshot): Map[Seq[String], DataType] = {
    val schema = snapshot.schema
    val mode = snapshot.metadata.columnMappingMode
    leaves(Nil, DeltaColumnMapping.createPhysicalSchema(schema, schema, mode)).toMap
  }

  private def leaves(path: Seq[String], of: DataType): Seq[(Seq[String], DataType)] = of match {
    case StructType(fields) => fields.toSeq.flatMap(f => leaves(path :+ f.name, f.dataType))
    case ArrayType(element, _) => leaves(path :+ "element", element)
    case MapType(key, value, _) => leaves(path :+ "key", key) ++ leaves(path :+ "value", value)
    case leaf => Seq(path -> leaf)
  }
}
