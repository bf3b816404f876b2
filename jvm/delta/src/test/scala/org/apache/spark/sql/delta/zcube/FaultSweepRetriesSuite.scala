package org.apache.spark.sql.delta.zcube

import io.zcube.Night

/** A failed task is retried, up to four attempts. */
class FaultSweepRetriesSuite extends FaultSweep {
  import FaultSweep._

  override protected def master: String = "local[2,4]"

  if (all) sweep(ZOrderSeveral)
  else if (Night.all) sweep(ZOrderSeveral, Seq(Fault.After))
}
