package io.zcube.sql.sampling

import org.apache.hadoop.fs.Path
import org.apache.spark.sql.catalyst.expressions.codegen.{CodegenContext, ExprCode}
import org.apache.spark.sql.catalyst.expressions.{Expression, UnaryExpression}
import org.apache.spark.sql.types.{DataType, StringType}
import org.apache.spark.unsafe.types.UTF8String

/** The path of a file below a table's folder: what is left of it in a copy of the table elsewhere. A
  * file outside the folder keeps its whole path.
  *
  * @param child the file's path as reported by scans (`_metadata.file_path`)
  * @param root  the folder, or the file if it's the only one; without a slash at its end
  */
case class PathBelow(child: Expression, root: String) extends UnaryExpression {

  @transient private lazy val rootText = UTF8String.fromString(root)

  override def dataType: DataType = StringType
  override def prettyName: String = "path_below"

  override protected def nullSafeEval(path: Any): Any =
    PathBelow.below(path.asInstanceOf[UTF8String], rootText)

  override protected def doGenCode(ctx: CodegenContext, ev: ExprCode): ExprCode = {
    val folder = ctx.addReferenceObj("root", rootText)
    defineCodeGen(ctx, ev, path => s"${classOf[PathBelow].getName}.below($path, $folder)")
  }

  override protected def withNewChildInternal(newChild: Expression): PathBelow =
    copy(child = newChild)
}

object PathBelow {

  /** Below the deepest folder that has all of some folders. */
  def all(path: Expression, folders: Seq[Path]): PathBelow =
    PathBelow(path, commonParent(folders.map(canonical)))

  /** As scans report paths: `file:///a` and `file:/a` are the same. */
  private def canonical(path: Path): String = new Path(path.toString).toUri.toString

  private[sampling] def commonParent(folders: Seq[String]): String = {
    val ended = folders.map(_.stripSuffix("/") + "/")
    // What the first and the last of them in their order share, all share.
    val first = ended.minOption.getOrElse("")
    val last = ended.maxOption.getOrElse("")
    val shared = first.indices.takeWhile(i => i < last.length && first(i) == last(i)).size
    first.take(first.lastIndexOf('/', shared - 1)).stripSuffix("/")
  }

  /** The result shares the memory of `path`. */
  def below(path: UTF8String, root: UTF8String): UTF8String = {
    val length = root.numBytes
    if (!path.startsWith(root)) path
    else if (path.numBytes == length) from(path, lastSlash(path) + 1)
    else if (path.getByte(length) == '/') from(path, length + 1)
    else path
  }

  private def lastSlash(path: UTF8String): Int = {
    var at = path.numBytes - 1
    while (at >= 0 && path.getByte(at) != '/') at -= 1
    at
  }

  private def from(path: UTF8String, start: Int): UTF8String =
    UTF8String.fromAddress(
      path.getBaseObject,
      path.getBaseOffset + start,
      path.numBytes - start)
}
