package io.zcube.clustering.advise

import scala.util.control.NonFatal

import org.apache.spark.sql.catalyst.analysis.UnresolvedRelation
import org.apache.spark.sql.catalyst.expressions.{And, Expression, PredicateHelper, SubqueryExpression}
import org.apache.spark.sql.catalyst.parser.ParseException
import org.apache.spark.sql.catalyst.plans.Inner
import org.apache.spark.sql.catalyst.plans.logical._
import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.zcube.Sessions

import io.zcube.clustering.table.{TableScan, TableVersion}
import io.zcube.concurrent.Causes
import io.zcube.sql.predicates.DeclaredNames

/** Determines what queries read from one table: Spark parses, analyzes and optimizes each, and the
  * table format says which files it would read. Nothing is executed.
  *
  * A query may refer to the table by its name, as `delta.`path``, or by just the last part of its
  * name or path. A text that is not a query may be a predicate on the table's columns.
  *
  * @param user the session whose catalog the queries use; it isn't changed
  */
final class QueryAnalyzer(
    user: SparkSession,
    version: TableVersion)
    extends PredicateHelper
    with AutoCloseable {

  private val tableName: Seq[String] = version.table.nameParts

  private val session: SparkSession = Sessions.cloneOf(user)

  nameTable()

  override def close(): Unit = Sessions.close(session)

  def read(text: String, weight: Double): AnalyzedQuery = Sessions.within(session) {
    val analyzed =
      try {
        val query = parse(text.trim.stripSuffix(";"))
        try AnalyzedQuery(text, weight, scansOf(query), Nil)
        catch { case NonFatal(e) => byColumnNames(text, weight, query, Causes.firstLine(e)) }
      } catch {
        case NonFatal(e) =>
          AnalyzedQuery(text, weight, Nil, Seq(s"can't be read: ${Causes.firstLine(e)}"))
      }
    if (analyzed.scans.nonEmpty || analyzed.notes.nonEmpty) analyzed
    else analyzed.copy(notes = Seq("it doesn't read the table, or needs no file of it"))
  }

  /** Accepts only queries: Spark would run a command as soon as it is planned. */
  private def parse(text: String): LogicalPlan = {
    val parser = session.sessionState.sqlParser
    try parser.parseQuery(text)
    catch {
      case noQuery: ParseException =>
        try Filter(parser.parseExpression(text), UnresolvedRelation(tableName))
        catch { case _: ParseException => throw noQuery }
    }
  }

  private def scansOf(query: LogicalPlan): Seq[TableScan] = {
    val optimized = Sessions.optimizedUncached(session, Sessions.analyzed(session, query))
    val columns = optimized.collectWithSubqueries { case leaf: LeafNode => leaf.output }.flatten
    version.scansIn(optimized).map { scan =>
      scan.copy(filters = scan.filters.map(DeclaredNames.in(_, columns)))
    }
  }

  /** For a query with tables that the session doesn't know: the conditions on this table's columns
    * alone, from anywhere above it.
    */
  private def byColumnNames(
      text: String,
      weight: Double,
      query: LogicalPlan,
      why: String): AnalyzedQuery = {
    val parts = withInner(query)
    val aliases = parts.collect {
      case SubqueryAlias(name, relation: UnresolvedRelation)
          if isTable(relation.multipartIdentifier) =>
        name.name
    }
    val named = parts.exists {
      case relation: UnresolvedRelation => isTable(relation.multipartIdentifier)
      case _ => false
    }
    if (!named) AnalyzedQuery(text, weight, Nil, Seq(s"can't be read: $why"))
    else {
      val table = aliases.headOption.map(SubqueryAlias(_, UnresolvedRelation(tableName)))
        .getOrElse(UnresolvedRelation(tableName))
      val conditions = parts.collect {
        case Filter(condition, below) if mentions(below) => condition
        case join @ Join(_, _, Inner, Some(condition), _) if mentions(join) => condition
      }.flatMap(splitConjunctivePredicates)
      val known = conditions.filter(decides(_, table))
      val scans = scansOf(known.reduceOption(And(_, _)).fold[LogicalPlan](table)(Filter(_, table)))
      val note =
        s"matched by column names, ${known.size} of ${conditions.size} conditions, " +
          s"because: $why"
      AnalyzedQuery(text, weight, scans, Seq(note))
    }
  }

  private def decides(condition: Expression, table: LogicalPlan): Boolean =
    !SubqueryExpression.hasSubquery(condition) && (
      try {
        Sessions.analyzed(session, Filter(condition, table)): Unit
        true
      } catch { case NonFatal(_) => false }
    )

  private def mentions(query: LogicalPlan): Boolean = withInner(query).exists {
    case relation: UnresolvedRelation => isTable(relation.multipartIdentifier)
    case _ => false
  }

  /** All nodes of a parsed plan, including subqueries and WITH. */
  private def withInner(query: LogicalPlan): Seq[LogicalPlan] =
    query.collectWithSubqueries { case part => part }.flatMap {
      case part: UnresolvedWith =>
        part +: part.cteRelations.flatMap(relation => withInner(relation._2))
      case part => Seq(part)
    }

  /** Either name may lack the schema or the catalog; what both have must be the same. */
  private def isTable(name: Seq[String]): Boolean = {
    val resolver = session.sessionState.conf.resolver
    val isName = name.reverse.zip(tableName.reverse).forall { case (a, b) => resolver(a, b) }
    isName || (name.length == 1 && resolver(name.last, shortName))
  }

  private def shortName: String = tableName.last.split('/').last

  /** Lets queries use the last part of the table's name or path, unless that names something else.
    */
  private def nameTable(): Unit = Sessions.within(session) {
    val quoted = s"`${shortName.replace("`", "``")}`"
    try
      if (!session.catalog.tableExists(quoted)) {
        Sessions.rowsOf(session, UnresolvedRelation(tableName)).createTempView(quoted)
      }
    catch {
      // Queries with the short name then say that Spark doesn't know it; others are read as ever.
      case NonFatal(_) =>
    }
  }
}

/** A query for which the table should be laid out.
  *
  * @param weight how often it runs
  * @param scans  its scans of the table; none if the query can't be read, or needs no file
  * @param notes  what is unsupported or can't be read, in words
  */
final case class AnalyzedQuery(
    text: String,
    weight: Double,
    scans: Seq[TableScan],
    notes: Seq[String]) {

  /** The scans that layouts are tried for. One that a LIMIT ends reads the first files, in any layout. */
  val compared: Seq[TableScan] = scans.filterNot(_.limited)

  def files: Long = compared.map(_.read.files).sum

  def bytes: Long = compared.map(_.read.bytes).sum
}
