package org.apache.spark.sql.delta.zcube.table

import org.apache.spark.sql.delta.{DeltaColumnMapping, Snapshot}
import org.apache.spark.sql.types._

/** The types of a table's columns, and of the fields, elements, keys and values in them, by the names
  * that files have.
  */
object LeafTypes {

  /** Whether what two versions both have is of the same types.
    *
    * A file written for one of them has a column that its source lacks in that version's type. If the
    * type has been widened since, and the feature dropped, no file may have the narrow one any more; but
    * Delta rewrites only those that it finds.
    */
  def agree(one: Snapshot, other: Snapshot): Boolean = {
    val types = of(one)
    of(other).forall { case (path, dataType) => types.get(path).forall(_ == dataType) }
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
