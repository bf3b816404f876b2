package org.apache.spark.sql.delta.zcube

import io.zcube.Night

/** A failed task fails its job. */
class FaultSweepSuite extends FaultSweep {
  import FaultSweep._

  override protected def master: String = "local[2]"

  sweep(ZOrderOne)
  if (all || Night.all) sweep(ZOrderEscaped)
  if (all) {
    sweep(ClusteredSeveral)
    sweep(ZOrderBatch)
    sweep(ZOrderSeveral)
    sweep(ZOrderShared)
    sweep(ClusteredOne)
    sweep(ClusteredOneJob)
    sweep(ClusteredBatch)
  }
}
