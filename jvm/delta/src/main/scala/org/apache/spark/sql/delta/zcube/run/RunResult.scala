package org.apache.spark.sql.delta.zcube.run

import org.apache.spark.sql.delta.zcube.plan.RewritePlan

/** What a run planned, and what became of it.
  *
  * @param startedAt milliseconds since 1970
  */
final case class RunResult(plan: RewritePlan, outcomes: Seq[GroupOutcome], startedAt: Long)
