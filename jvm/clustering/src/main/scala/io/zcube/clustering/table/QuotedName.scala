package io.zcube.clustering.table

import org.apache.spark.sql.catalyst.util.QuotingUtils

/** Names of several parts as SQL has them: joined by dots, and quoted where need be. */
private[clustering] object QuotedName {
  def of(parts: Seq[String]): String = parts.map(QuotingUtils.quoteIfNeeded).mkString(".")
}
