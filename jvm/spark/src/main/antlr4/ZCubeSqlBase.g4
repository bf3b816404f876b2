// ZCube's additions to SQL: OPTIONS and DRY RUN after OPTIMIZE, DESCRIBE CLUSTERING and
// RECOMMEND CLUSTERING. Everything else is forwarded unparsed.
grammar ZCubeSqlBase;

statement
    : OPTIMIZE any* OPTIONS '(' option (',' option)* ')' DRY RUN ';'* EOF  #optimizeStatement
    | OPTIMIZE any* OPTIONS '(' option (',' option)* ')' ';'* EOF          #optimizeStatement
    | OPTIMIZE any* DRY RUN ';'* EOF                                       #optimizeStatement
    | (DESCRIBE | DESC) CLUSTERING target (BY columns)? (WHERE predicate=text)? ';'* EOF #describeClustering
    | RECOMMEND CLUSTERING target FOR query (',' query)* ';'* EOF          #recommendClustering
    | any* EOF                                                             #passThrough
    ;

// As in Spark: CREATE TABLE … OPTIONS (…).
option
    : string '=' value
    | name '='? value
    ;

value
    : string
    | number
    ;

query
    : sql=string (WEIGHT number)?
    ;

number
    : WORD ('.' WORD)?
    ;

target
    : string
    | name
    ;

// Adjacent literals are one string.
string
    : STRING+
    ;

columns
    : '(' name (',' name)* ')'
    | name (',' name)*
    ;

name
    : part ('.' part)*
    ;

part
    : WORD | BACKQUOTED | keyword
    ;

keyword
    : OPTIMIZE | OPTIONS | DRY | RUN | DESCRIBE | DESC | CLUSTERING | BY | RECOMMEND | FOR | WEIGHT
    ;

text
    : any+
    ;

any
    : keyword | WHERE | STRING | BACKQUOTED | WORD | '(' | ')' | ',' | '=' | ';' | '.' | OTHER
    ;

OPTIMIZE: [Oo][Pp][Tt][Ii][Mm][Ii][Zz][Ee];
OPTIONS: [Oo][Pp][Tt][Ii][Oo][Nn][Ss];
DRY: [Dd][Rr][Yy];
RUN: [Rr][Uu][Nn];
DESCRIBE: [Dd][Ee][Ss][Cc][Rr][Ii][Bb][Ee];
DESC: [Dd][Ee][Ss][Cc];
CLUSTERING: [Cc][Ll][Uu][Ss][Tt][Ee][Rr][Ii][Nn][Gg];
BY: [Bb][Yy];
RECOMMEND: [Rr][Ee][Cc][Oo][Mm][Mm][Ee][Nn][Dd];
FOR: [Ff][Oo][Rr];
WEIGHT: [Ww][Ee][Ii][Gg][Hh][Tt];
WHERE: [Ww][Hh][Ee][Rr][Ee];

// Spark's string literals. A doubled quote is two adjacent literals.
STRING
    : '\'' ( ~('\'' | '\\') | '\\' . )* '\''
    | '"' ( ~('"' | '\\') | '\\' . )* '"'
    | [Rr] '\'' ~'\''* '\''
    | [Rr] '"' ~'"'* '"'
    ;

BACKQUOTED: '`' ( ~'`' | '``' )* '`';

WORD: [\p{L}\p{N}_]+;

// Comments and whitespace as in Spark: a backslash at the end of a line continues the comment,
// bracketed comments may be nested, and a hint isn't a comment.
LINE_COMMENT: '--' ( '\\\n' | ~[\r\n] )* -> channel(HIDDEN);
BLOCK_COMMENT
    : '/*' {_input.LA(1) != '+'}?
      ( BLOCK_COMMENT
      | ~[/*]
      | '/' {_input.LA(1) != '*' || _input.LA(2) == '+'}?
      | '*' {_input.LA(1) != '/'}?
      )* '*/' -> channel(HIDDEN)
    ;
SPACE
    : [ \t\n\f\r\u000B\u00A0\u1680\u2000-\u200A\u2028\u202F\u205F\u3000]+ -> channel(HIDDEN)
    ;

OTHER: .;
