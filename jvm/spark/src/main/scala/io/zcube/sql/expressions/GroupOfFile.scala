package io.zcube.sql.expressions

import java.util

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.codegen.Block._
import org.apache.spark.sql.catalyst.expressions.codegen.{CodegenContext, ExprCode, FalseLiteral}
import org.apache.spark.sql.catalyst.expressions.{Expression, UnaryExpression}
import org.apache.spark.sql.types.{DataType, IntegerType}
import org.apache.spark.unsafe.types.UTF8String

import io.zcube.sql.errors.ZCubeErrors

/** Number of the group that contains a row's file.
  *
  * @param child the file's path, a STRING
  */
case class GroupOfFile(child: Expression, groups: GroupOfFile.Groups) extends UnaryExpression {

  override def dataType: DataType = IntegerType
  override def nullable: Boolean = false
  override def prettyName: String = "group_of_file"
  override def stringArgs: Iterator[Any] = Iterator(child)

  override def eval(input: InternalRow): Any =
    groups.of(child.eval(input).asInstanceOf[UTF8String])

  override protected def doGenCode(ctx: CodegenContext, ev: ExprCode): ExprCode = {
    val numbers = ctx.addReferenceObj("groups", groups)
    val path = child.genCode(ctx)
    ev.copy(
      code = path.code + code"""
        final int ${ev.value} = $numbers.of(${path.isNull} ? null : ${path.value});""",
      isNull = FalseLiteral)
  }

  override protected def withNewChildInternal(newChild: Expression): GroupOfFile =
    copy(child = newChild)
}

object GroupOfFile {

  /** @param numbers group numbers by path */
  final class Groups(numbers: Map[String, Int]) extends Serializable {
    import Groups._

    @transient private lazy val byPath = {
      val map = new util.HashMap[UTF8String, Known](numbers.size * 2)
      numbers.foreach { case (path, number) =>
        val text = UTF8String.fromString(path)
        map.put(text, new Known(text, number))
      }
      map
    }

    // Rows arrive file by file.
    @transient private var last: Known = _

    /** @throws org.apache.spark.SparkException if the file is in no group */
    def of(path: UTF8String): Int = {
      val known = last
      if (known != null && known.path == path) known.number
      else {
        val found = byPath.get(path)
        if (found == null) throw ZCubeErrors.internal(s"a row of $path, which is in no group")
        last = found
        found.number
      }
    }
  }

  private object Groups {
    final class Known(val path: UTF8String, val number: Int)
  }
}
