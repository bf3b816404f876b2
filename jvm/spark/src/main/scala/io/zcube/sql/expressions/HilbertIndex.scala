package io.zcube.sql.expressions

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.analysis.TypeCheckResult
import org.apache.spark.sql.catalyst.analysis.TypeCheckResult.{DataTypeMismatch, TypeCheckSuccess}
import org.apache.spark.sql.catalyst.expressions.{Cast, Expression, ExpressionDescription}
import org.apache.spark.sql.catalyst.expressions.codegen.{CodegenContext, CodeGenerator, ExprCode, JavaCode}
import org.apache.spark.sql.catalyst.expressions.codegen.Block._
import org.apache.spark.sql.types.{
  BinaryType,
  ByteType,
  DataType,
  IntegerType,
  LongType,
  ShortType
}

import io.zcube.curve.Grid

/** `hilbert_index(bits, c1, …)`: the position of a point on the Hilbert curve. See [[io.zcube.curve.HilbertCurve]] for its orientation.
  *
  * A NULL column makes the index NULL: it has no place on the curve, and 0 would put it next to the smallest values of all
  * other columns. Columns are read from left to right and reading stops at the first NULL.
  *
  * @param bits    a constant, 1 to 32
  * @param columns integers from 0 to `2^bits - 1`; BIGINT is accepted too, because 32 bits do not fit a positive INT
  */
@ExpressionDescription(
  usage = "_FUNC_(bits, col1, col2, ...) - Returns the position of the point (col1, col2, ...) on the " +
    "Hilbert curve over a grid of 2^bits cells along each axis.",
  arguments = """
    Arguments:
      * bits - a constant INT from 1 to 32, the bits of each column.
      * colN - a TINYINT, SMALLINT, INT or BIGINT column with values from 0 to 2^bits - 1; any other value is
          an error (ZCUBE_HILBERT_VALUE_OUT_OF_RANGE). If a column is NULL, so is the result.
  """,
  examples = """
    Examples:
      > SELECT _FUNC_(2, 2, 0);
       14
      > SELECT _FUNC_(5, 5, 10, 20);
       7865
      > SELECT _FUNC_(10, 7);
       7
      > SELECT hex(_FUNC_(32, 0, 1));
       0000000000000003
      > SELECT _FUNC_(2, NULL, 0);
       NULL
  """,
  note = """
    The result is a BIGINT when bits times the number of columns is at most 63, else a BINARY that sorts in the order
    of the curve.
  """,
  since = "0.1.0",
  group = "bitwise_funcs")
case class HilbertIndex(bits: Expression, columns: Seq[Expression]) extends Expression {

  /** The form that SQL calls: the bits first, then the columns. */
  def this(arguments: Seq[Expression]) =
    this(
      arguments.headOption.getOrElse(
        ArgumentChecks.wrongNumberOfArguments(HilbertIndex.Name, "> 1", arguments.size)),
      arguments.drop(1))

  override def prettyName: String = HilbertIndex.Name

  override def children: Seq[Expression] = bits +: columns

  override def nullable: Boolean = columns.exists(_.nullable)

  override def foldable: Boolean = children.forall(_.foldable)

  override def checkInputDataTypes(): TypeCheckResult =
    if (columns.isEmpty) {
      ArgumentChecks.wrongNumberOfArguments(prettyName, "> 1", children.size)
    } else {
      checkBits()
        .orElse(ArgumentChecks.firstOfAnotherType(columns, HilbertIndex.CoordinateTypes, offset = 1))
        .getOrElse(TypeCheckSuccess)
    }

  private def checkBits(): Option[TypeCheckResult] = {
    def refused(condition: String, parameters: (String, String)*): Option[TypeCheckResult] =
      Some(DataTypeMismatch(condition, parameters.toMap))
    if (!bits.foldable) {
      refused(
        "NON_FOLDABLE_INPUT",
        "inputName" -> Cast.toSQLId("bits"),
        "inputType" -> Cast.toSQLType(IntegerType),
        "inputExpr" -> Cast.toSQLExpr(bits))
    } else if (bits.eval() == null) {
      refused("UNEXPECTED_NULL", "exprName" -> Cast.toSQLId("bits"))
    } else {
      ArgumentChecks.firstOfAnotherType(Seq(bits), HilbertIndex.BitsTypes).orElse {
        if (bitsOfEach >= Grid.MinBits && bitsOfEach <= Grid.MaxBits) None
        else
          refused(
            "VALUE_OUT_OF_RANGE",
            "exprName" -> Cast.toSQLId("bits"),
            "valueRange" -> s"[${Grid.MinBits}, ${Grid.MaxBits}]",
            "currentValue" -> Cast.toSQLValue(bitsOfEach, IntegerType))
      }
    }
  }

  private def bitsOfEach: Int = bits.eval().asInstanceOf[Number].intValue

  // Derived from the arguments, and immutable.
  @transient private lazy val kernel: HilbertKernel = HilbertKernel(columns.length, bitsOfEach)

  override def dataType: DataType = if (kernel.fitsLong) LongType else BinaryType

  override def eval(input: InternalRow): Any = {
    val point = new Array[Int](columns.length)
    // `forall` stops at the first NULL.
    val complete = columns.indices.forall { axis =>
      columns(axis).eval(input) match {
        case value: Number =>
          point(axis) = kernel.coordinate(value.longValue)
          true
        case _ => false
      }
    }
    if (!complete) null
    else if (kernel.fitsLong) kernel.index(point)
    else kernel.wideIndex(point)
  }

  override protected def doGenCode(ctx: CodegenContext, ev: ExprCode): ExprCode = {
    val kernelRef = ctx.addReferenceObj("hilbert", kernel)
    // One array for all rows: the kernel does not keep it.
    val point = ctx.addMutableState("int[]", "hilbertPoint", v => s"$v = new int[${columns.length}];")
    // A field, not a local variable, since the reads may be split over several methods.
    val isNull = ctx.addMutableState(CodeGenerator.JAVA_BOOLEAN, "hilbertIsNull")
    val reads = columns.zipWithIndex.map { case (column, axis) =>
      if (ArgumentChecks.isVoid(column)) {
        s"$isNull = true;"
      } else {
        val code = column.genCode(ctx)
        s"""
           |if (!$isNull) {
           |  ${code.code}
           |  if (${code.isNull}) {
           |    $isNull = true;
           |  } else {
           |    $point[$axis] = $kernelRef.coordinate(${code.value});
           |  }
           |}
         """.stripMargin
      }
    }
    val readAll = ctx.splitExpressionsWithCurrentInputs(reads, "readHilbertPoint")
    val index = if (kernel.fitsLong) "index" else "wideIndex"
    ev.copy(
      code = code"""
        |$isNull = false;
        |$readAll
        |${CodeGenerator.javaType(dataType)} ${ev.value} = ${CodeGenerator.defaultValue(dataType)};
        |if (!$isNull) {
        |  ${ev.value} = $kernelRef.$index($point);
        |}
      """.stripMargin,
      isNull = JavaCode.isNullGlobal(isNull))
  }

  override protected def withNewChildrenInternal(newChildren: IndexedSeq[Expression]): HilbertIndex =
    copy(bits = newChildren.head, columns = newChildren.tail)
}

object HilbertIndex {
  private val Name = "hilbert_index"
  private val BitsTypes = Seq(IntegerType, ShortType, ByteType)
  private val CoordinateTypes = Seq(IntegerType, LongType, ShortType, ByteType)
}
