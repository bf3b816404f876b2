package io.zcube.clustering.table

import org.apache.spark.sql.catalyst.util.QuotingUtils

/** Multi-part names in SQL: joined by dots, and quoted where necessary. */
private[clustering] object QuotedName {
  def of(parts: Seq[String]): String = parts.map(QuotingUtils.quoteIfNeeded).mkString(".")
}
