package io.zcube.sql

import org.apache.spark.sql.catalyst.analysis.FunctionRegistry

/** Lets views and SQL functions in a catalog call ZCube's functions. Up to Spark 4.1, a function of an
  * extension counts as temporary unless it is among the built-in ones too.
  */
object PermanentFunctions {
  def register(): Unit = FunctionCatalog.all.foreach { case (name, info, builder) =>
    FunctionRegistry.builtin.registerFunction(name, info, builder)
  }
}
