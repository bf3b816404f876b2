package io.zcube.sql.rules

import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.{SparkSession, classic}

import io.zcube.sql.conf.ZCubeConf

/** A rule that changes what another product's statements do, and leaves them alone while
  * `spark.zcube.enabled` is false. The setting is read for each plan, since a session may change it
  * between two statements.
  */
trait SwitchableRule extends Rule[LogicalPlan] {

  def session: SparkSession

  /** The settings that count: the session's, which needn't be the thread's active one. */
  final protected def sessionConf: SQLConf =
    session.asInstanceOf[classic.SparkSession].sessionState.conf

  /** What the rule does while ZCube is on. */
  protected def rewrite(plan: LogicalPlan): LogicalPlan

  /** What it does while ZCube is off. */
  protected def whileOff(plan: LogicalPlan): LogicalPlan = plan

  final override def apply(plan: LogicalPlan): LogicalPlan =
    if (sessionConf.getConf(ZCubeConf.Enabled)) rewrite(plan) else whileOff(plan)
}
