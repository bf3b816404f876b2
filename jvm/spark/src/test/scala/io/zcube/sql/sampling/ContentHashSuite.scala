package io.zcube.sql.sampling

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{AttributeReference, BoundReference}
import org.apache.spark.sql.types._
import org.scalatest.funsuite.AnyFunSuite

class ContentHashSuite extends AnyFunSuite {
  import ContentHashSuite._

  test("values of user-defined types are told apart") {
    def hash(value: Long) =
      ContentHash.of(Seq(BoundReference(0, new Meters, nullable = true))).eval(InternalRow(value))
    assert(hash(1) != hash(2))
    assert(hash(1) == hash(1))
    // A variant has no hash.
    assert(ContentHash.of(Seq(AttributeReference("v", VariantType)())).foldable)
  }
}

object ContentHashSuite {

  final private class Meters extends UserDefinedType[java.lang.Long] {
    override def sqlType: DataType = LongType
    override def serialize(obj: java.lang.Long): Any = obj
    override def deserialize(datum: Any): java.lang.Long = datum.asInstanceOf[java.lang.Long]
    override def userClass: Class[java.lang.Long] = classOf[java.lang.Long]
  }
}
