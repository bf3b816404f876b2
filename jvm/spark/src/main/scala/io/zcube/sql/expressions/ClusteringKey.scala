package io.zcube.sql.expressions

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.Expression
import org.apache.spark.sql.catalyst.expressions.codegen.Block._
import org.apache.spark.sql.catalyst.expressions.codegen.{CodeGenerator, CodegenContext, ExprCode, FalseLiteral}
import org.apache.spark.sql.types.{DataType, LongType}

import io.zcube.layout.Layout
import io.zcube.layout.kinds.CurveLayout
import io.zcube.sql.values.TypedRangeBounds

/** Position of a row in a layout: the columns' values → buckets → ranks → key.
  *
  * BIGINT, never NULL, never negative. A NULL value is at the start of its column's scale.
  *
  * @param children the clustering columns
  * @param bounds   for each column, the bounds of its buckets
  * @param layout   ranks of the buckets, and the curve or tree
  */
case class ClusteringKey(
    children: Seq[Expression],
    bounds: Seq[TypedRangeBounds],
    layout: Layout)
    extends Expression {

  override def dataType: DataType = LongType
  override def nullable: Boolean = false
  override def prettyName: String = "clustering_key"
  override def toString: String = children.mkString(s"$prettyName(", ", ", ")")
  override def stringArgs: Iterator[Any] = Iterator(children)

  override def eval(input: InternalRow): Any = {
    val point = new Array[Int](children.length)
    var c = 0
    while (c < point.length) {
      val value = children(c).eval(input)
      point(c) =
        if (value == null) Layout.NullRank else layout.ranks(c)(bounds(c).idOf(value))
      c += 1
    }
    layout.keyOf(point)
  }

  override protected def doGenCode(ctx: CodegenContext, ev: ExprCode): ExprCode =
    layout match {
      case curve: CurveLayout if curve.isSeparable => genSeparable(ctx, ev, curve)
      case _ => genPoint(ctx, ev)
    }

  private def genSeparable(ctx: CodegenContext, ev: ExprCode, curve: CurveLayout): ExprCode = {
    val key = ctx.addMutableState(CodeGenerator.JAVA_LONG, "clusteringKey")
    val steps = children.indices.map { c =>
      val table = ctx.addReferenceObj("contributions", curve.contributions(c), "long[]")
      bucketCode(ctx, c)(
        bucket => s"$key |= $table[$bucket];",
        s"$key |= ${curve.nullContribution(c)}L;")
    }
    finish(ctx, ev, s"$key = 0L;", steps, key)
  }

  private def genPoint(ctx: CodegenContext, ev: ExprCode): ExprCode = {
    // Uses the concrete class, so that the call is static.
    val place = ctx.addReferenceObj("layout", layout)
    val point = ctx.addMutableState("int[]", "point", v => s"$v = new int[${children.length}];")
    val steps = children.indices.map { c =>
      val table = ctx.addReferenceObj("ranks", layout.ranks(c), "int[]")
      bucketCode(ctx, c)(
        bucket => s"$point[$c] = $table[$bucket];",
        s"$point[$c] = ${Layout.NullRank};")
    }
    finish(ctx, ev, "", steps, s"$place.keyOf($point)")
  }

  private def bucketCode(ctx: CodegenContext, column: Int)(
      ofBucket: String => String,
      ofNull: String): String = {
    val value = children(column).genCode(ctx)
    val known = ofBucket(bounds(column).genIdOf(ctx, value.value))
    val body =
      if (children(column).nullable) s"if (${value.isNull}) { $ofNull } else { $known }" else known
    s"${value.code}\n$body"
  }

  private def finish(
      ctx: CodegenContext,
      ev: ExprCode,
      start: String,
      steps: Seq[String],
      result: String): ExprCode = {
    val body = ctx.splitExpressionsWithCurrentInputs(steps, "clusteringKey")
    ev.copy(
      code = code"""
        $start
        $body
        final long ${ev.value} = $result;""",
      isNull = FalseLiteral)
  }

  override protected def withNewChildrenInternal(
      newChildren: IndexedSeq[Expression]): ClusteringKey = copy(children = newChildren)
}
