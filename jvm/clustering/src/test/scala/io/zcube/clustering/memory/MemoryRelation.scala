package io.zcube.clustering.memory

import org.apache.spark.sql.catalyst.analysis.MultiInstanceRelation
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.plans.logical.{Filter, LeafNode, LogicalPlan, Statistics}
import org.apache.spark.sql.catalyst.types.DataTypeUtils.toAttributes
import org.apache.spark.sql.catalyst.util.TypeUtils

import io.zcube.clustering.table.{FilesRead, TableScan}

/** A [[MemoryTable]] in a query that is planned and never runs. */
final case class MemoryRelation(table: MemoryTable, output: Seq[Attribute])
    extends LeafNode
    with MultiInstanceRelation {

  override def newInstance(): MemoryRelation = copy(output = output.map(_.newInstance()))

  override def computeStats(): Statistics = Statistics(sizeInBytes = 1 << 20)
}

object MemoryRelation extends PredicateHelper {

  def of(table: MemoryTable): MemoryRelation = MemoryRelation(table, toAttributes(table.schema))

  def scansIn(plan: LogicalPlan, version: MemoryVersion): Seq[TableScan] = {
    val filters = plan.collectWithSubqueries {
      case Filter(condition, relation: MemoryRelation) => relation -> condition
    }.toMap
    plan.collectWithSubqueries {
      case relation: MemoryRelation if relation.table eq version.table =>
        val conjuncts = filters.get(relation).toSeq.flatMap(splitConjunctivePredicates)
        val scan = TableScan(conjuncts, FilesRead(0, 0))
        scan.copy(read = filesRead(version, scan.condition))
    }
  }

  /** The files whose minima and maxima don't exclude a condition. */
  def filesRead(version: MemoryVersion, condition: Expression): FilesRead = {
    val read = version.live.filter(mayHold(condition, _))
    FilesRead(read.size.toLong, read.map(_.bytes).sum)
  }

  private def mayHold(condition: Expression, file: MemoryFile): Boolean = condition match {
    case And(left, right) => mayHold(left, file) && mayHold(right, file)
    case Or(left, right) => mayHold(left, file) || mayHold(right, file)
    case EqualTo(column: Attribute, Literal(value, _)) =>
      within(column, file)((low, high, order) => order.lteq(low, value) && order.lteq(value, high))
    case LessThan(column: Attribute, Literal(value, _)) =>
      within(column, file)((low, _, order) => order.lt(low, value))
    case LessThanOrEqual(column: Attribute, Literal(value, _)) =>
      within(column, file)((low, _, order) => order.lteq(low, value))
    case GreaterThan(column: Attribute, Literal(value, _)) =>
      within(column, file)((_, high, order) => order.gt(high, value))
    case GreaterThanOrEqual(column: Attribute, Literal(value, _)) =>
      within(column, file)((_, high, order) => order.gteq(high, value))
    case _ => true
  }

  private def within(column: Attribute, file: MemoryFile)(
      test: (Any, Any, Ordering[Any]) => Boolean): Boolean =
    file.bounds(column.name).minMax.exists { case (low, high) =>
      test(low, high, TypeUtils.getInterpretedOrdering(column.dataType))
    }
}
