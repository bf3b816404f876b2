package io.zcube.sql.parser

/** Checks the words that a statement begins with. This is a cheap check of every statement in the
  * session: only those that may be ZCube's are parsed with its grammar. It reads only the
  * whitespace, comments and words at the beginning, in a loop, so that no text is too long for it.
  */
private[parser] object FirstWords {

  /** Whether the statement begins with these words, ignoring case. */
  def are(sqlText: String, words: String*): Boolean = {
    var at = 0
    words.forall { word =>
      at = afterSpace(sqlText, at)
      val end = at + word.length
      val same = sqlText.regionMatches(true, at, word, 0, word.length) &&
        (end == sqlText.length || !isOfWord(sqlText.charAt(end)))
      at = end
      same
    }
  }

  private def isOfWord(c: Char): Boolean = Character.isLetterOrDigit(c) || c == '_'

  /** The position after all whitespace and comments; the end of the text if a comment isn't closed.
    */
  private def afterSpace(sqlText: String, from: Int): Int = {
    var at = from
    var before = -1
    while (at != before) {
      before = at
      while (at < sqlText.length && isSpace(sqlText.charAt(at))) at += 1
      if (sqlText.startsWith("--", at)) at = afterLine(sqlText, at)
      else if (opensComment(sqlText, at)) at = afterBlock(sqlText, at)
    }
    at
  }

  private def isSpace(c: Char): Boolean =
    c == '\u000b' || c == '\u00a0' || c == '\u2007' || c == '\u202f' || Character.isWhitespace(c)

  /** A hint isn't a comment. */
  private def opensComment(sqlText: String, at: Int): Boolean =
    sqlText.startsWith("/*", at) && !sqlText.startsWith("+", at + 2)

  /** A backslash at the end of the line continues the comment. */
  private def afterLine(sqlText: String, from: Int): Int = {
    var at = from
    while (at < sqlText.length && sqlText.charAt(at) != '\r' &&
      (sqlText.charAt(at) != '\n' || sqlText.charAt(at - 1) == '\\')) at += 1
    at
  }

  /** Comments may be nested. */
  private def afterBlock(sqlText: String, from: Int): Int = {
    var at = from + 2
    var depth = 1
    while (depth > 0 && at < sqlText.length)
      if (opensComment(sqlText, at)) {
        depth += 1
        at += 2
      } else if (sqlText.startsWith("*/", at)) {
        depth -= 1
        at += 2
      } else at += 1
    at
  }
}
