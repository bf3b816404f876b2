package io.zcube.sql

import org.apache.spark.sql.SparkSessionExtensions

import io.zcube.sql.expressions.BuiltinFunctions

/** What a user names in `spark.sql.extensions`, next to Delta's extension and in either order. */
class ZCubeSparkSessionExtension extends (SparkSessionExtensions => Unit) {

  override def apply(extensions: SparkSessionExtensions): Unit = {
    // Functions: built in rather than created in a catalog, so that every session and Connect client has them.
    BuiltinFunctions.all.foreach(extensions.injectFunction)
  }
}
