package org.apache.spark.sql.delta.zcube

/** How an operation of a store fails. */
object Fault extends Enumeration {

  /** Without effect. */
  val Before: Value = Value("before")

  /** Done, but the response is lost. */
  val After: Value = Value("after")

  /** Done, but the response says that it was done before, as with a client that retries. */
  val Exists: Value = Value("exists")

  /** Half of it is done. Only a write to a file can be; others fail without effect. */
  val Within: Value = Value("within")

  /** Does nothing until the thread is interrupted. */
  val Hang: Value = Value("hang")
}
