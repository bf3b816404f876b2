package io.zcube.sql.predicates

import org.apache.spark.sql.catalyst.expressions.{Attribute, CommonExpressionRef, Expression, With}
import org.apache.spark.sql.catalyst.optimizer._
import org.apache.spark.sql.catalyst.plans.logical.{Filter, LocalRelation, LogicalPlan}
import org.apache.spark.sql.catalyst.rules.Rule

/** Simplifies a resolved condition as the optimizer would: constants folded, casts moved from the
  * columns to the constants, LIKE 'x%' as a prefix, NOT pushed into comparisons.
  *
  * It uses only rules that rewrite the condition in place; the whole optimizer might push it
  * elsewhere, or drop it with the relation.
  */
object SimplifiedCondition {

  private val once: Seq[Rule[LogicalPlan]] = Seq(ReplaceExpressions, InlineWith, ComputeCurrentTime)

  private val repeated: Seq[Rule[LogicalPlan]] = Seq(
    ConstantFolding,
    NullPropagation,
    LikeSimplification,
    BooleanSimplification,
    SimplifyBinaryComparison,
    SimplifyCasts,
    UnwrapCastInBinaryComparison,
    OptimizeIn
  )

  /** Enough rounds for nested NOTs and casts; it stops when nothing changes. */
  private val MaxRounds = 20

  /** @param output the columns that the condition refers to */
  def of(condition: Expression, output: Seq[Attribute]): Expression = {
    def run(plan: LogicalPlan, rules: Seq[Rule[LogicalPlan]]): LogicalPlan =
      rules.foldLeft(plan)((current, rule) => rule(current))
    val start = run(Filter(condition, LocalRelation(output)), once)
    val rounds = Iterator.iterate(start)(run(_, repeated)).take(MaxRounds).toSeq
    val end = rounds.zip(rounds.drop(1)).collectFirst { case (a, b) if a.fastEquals(b) => a }
    end.getOrElse(rounds.last).collectFirst { case Filter(simple, _) => simple }.get
  }

  /** BETWEEN uses its operand twice. The optimizer may compute it in a projection below; here it
    * must stay in place.
    */
  def inlined(shared: With): Expression = shared.child.transformUp {
    case ref: CommonExpressionRef =>
      shared.defs.find(_.id == ref.id).fold[Expression](ref)(_.child)
  }

  private object InlineWith extends Rule[LogicalPlan] {
    override def apply(plan: LogicalPlan): LogicalPlan =
      plan.transformExpressionsUp { case shared: With => inlined(shared) }
  }
}
