package io.zcube.clustering.run

import com.fasterxml.jackson.databind.ObjectMapper
import com.fasterxml.jackson.module.scala.DefaultScalaModule

/** Writes maps, sequences, strings and numbers as JSON. */
private[clustering] object JsonText {
  private val mapper = new ObjectMapper().registerModule(DefaultScalaModule)

  def of(value: Any): String = mapper.writeValueAsString(value)
}
