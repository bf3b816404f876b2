package io.zcube.clustering.plan

import org.apache.spark.sql.catalyst.analysis.Resolver

import io.zcube.clustering.table.ColumnPath
import io.zcube.layout.ColumnWeights
import io.zcube.sql.errors.ZCubeErrors

/** Maps weights, given by names, to the clustering columns. */
object ColumnWeightResolver {

  /** @return one for each column, 1 if not given, normalized; empty if all are equal
    * @throws org.apache.spark.sql.AnalysisException if a name is not a clustering column, or two
    *   names mean the same column
    */
  def apply(
      named: Seq[(Seq[String], Double)],
      columns: Seq[ColumnPath],
      resolver: Resolver): Seq[Double] = {
    def isNamed(column: ColumnPath, name: Seq[String]): Boolean =
      column.logical.length == name.length && column.logical.zip(name).forall(resolver.tupled)
    named.foreach { case (name, _) =>
      if (!columns.exists(isNamed(_, name))) {
        throw ZCubeErrors.unknownWeight(name.mkString("."), columns.map(_.name))
      }
    }
    ColumnWeights.normalized(columns.map { column =>
      named.filter { case (name, _) => isNamed(column, name) } match {
        case Seq() => 1.0
        case Seq((_, weight)) => weight
        case several =>
          val names = several.map(_._1.mkString(".")).mkString(", ")
          throw ZCubeErrors.invalidOption("weights", names, ColumnWeights.Expected)
      }
    })
  }
}
