package io.zcube.sql.plans

/** What a statement asks about its table.
  *
  * @param statement its first words
  */
sealed abstract class ClusteringRequest(val statement: String) {

  /** Its WHERE, as the user wrote it. */
  def where: Option[String]
}

/** `DESCRIBE CLUSTERING t [BY (a, b)] [WHERE predicate]`; the columns are in the OPTIMIZE statement. */
case class DescribeClustering(where: Option[String])
    extends ClusteringRequest(DescribeClustering.Statement)

object DescribeClustering {
  val Statement = "DESCRIBE CLUSTERING"
}

/** `RECOMMEND CLUSTERING t FOR 'query' [WEIGHT n], …`
  *
  * @param queries their text and weights
  */
case class RecommendClustering(queries: Seq[(String, Double)])
    extends ClusteringRequest(RecommendClustering.Statement) {
  override def where: Option[String] = None
}

object RecommendClustering {
  val Statement = "RECOMMEND CLUSTERING"
}
