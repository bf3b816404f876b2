// ZCube's additions to SQL: OPTIONS and DRY RUN behind OPTIMIZE, DESCRIBE CLUSTERING and
// RECOMMEND CLUSTERING. Everything else
// is passed on unread.
grammar ZCubeSqlBase;

statement
    : OPTIMIZE any* OPTIONS '(' option (',' option)* ')' DRY RUN ';'* EOF  #optimizeStatement
    | OPTIMIZE any* OPTIONS '(' option (',' option)* ')' ';'* EOF          #optimizeStatement
    | OPTIMIZE any* DRY RUN ';'* EOF                                       #optimizeStatement
    | (DESCRIBE | DESC) CLUSTERING target (BY columns)? (WHERE predicate=text)? ';'* EOF #describeClustering
    | RECOMMEND CLUSTERING target FOR query (',' query)* ';'* EOF          #recommendClustering
    | any* EOF                                                             #passThrough
    ;

option
    : key=STRING '=' value=STRING
    ;

query
    : sql=STRING (WEIGHT number)?
    ;

number
    : WORD ('.' WORD)?
    ;

target
    : STRING
    | name
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

STRING
    : '\'' ( ~('\'' | '\\') | '\\' . | '\'\'' )* '\''
    | '"' ( ~('"' | '\\') | '\\' . | '""' )* '"'
    ;

BACKQUOTED: '`' ( ~'`' | '``' )* '`';

WORD: [\p{L}\p{N}_]+;

LINE_COMMENT: '--' ~[\r\n]* -> channel(HIDDEN);
BLOCK_COMMENT: '/*' .*? '*/' -> channel(HIDDEN);
SPACE: [ \t\r\n\u00A0]+ -> channel(HIDDEN);

OTHER: .;
