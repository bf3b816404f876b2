package io.zcube.sql.parser

import org.apache.spark.sql.catalyst.parser.ParserInterface

/** A parser that takes over some statements. Spark 4.0 has one entry point for statements. */
abstract class DelegatingParser(delegate: ParserInterface) extends ForwardingParser(delegate)
