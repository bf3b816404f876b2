package io.zcube.clustering.memory

import org.apache.spark.sql.classic.DataFrame
import org.apache.spark.sql.zcube.Sessions

import io.zcube.clustering.table.{ClusterableTable, ClusterableTableContract}

/** In-memory tables satisfy the interface's contract, so results from them hold for other formats.
  */
class MemoryTableSuite extends ClusterableTableContract with MemoryEngine {

  override protected def newTable(partitioned: Boolean): ContractTable = new ContractTable {
    private val memory = new MemoryTable("t", schema, if (partitioned) Seq("p") else Nil)

    override def table: ClusterableTable = memory

    override def append(ids: Range): Unit = memory.append(ids.map(id => internalRow(id.toLong)))

    override def delete(id: Long): Unit = memory.delete(_.getLong(0) == id)

    override def ids: Seq[Long] =
      memory.now.live.flatMap(_.rowsIn(memory.store)).map(_.getLong(0)).sorted

    override def query: DataFrame = Sessions.rowsOf(session, MemoryRelation.of(memory))

    override def liveFiles: Set[String] = memory.now.files.keySet

    override def storedFiles: Set[String] = memory.store.paths

    override def loseNextAnswer(): Unit = memory.store.faults.arm(0, StoreFaults.After)

    override def failNextCommit(): Unit = memory.store.faults.arm(0, StoreFaults.Before)
  }
}
