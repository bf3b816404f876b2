// ZCube's addition to SQL: OPTIONS behind OPTIMIZE. Everything else is passed on unread.
grammar ZCubeSqlBase;

statement
    : OPTIMIZE any* OPTIONS '(' option (',' option)* ')' ';'* EOF  #optimizeWithOptions
    | any* EOF                                                                    #passThrough
    ;

option
    : key=STRING '=' value=STRING
    ;

any
    : OPTIMIZE | OPTIONS | STRING | BACKQUOTED | WORD | '(' | ')' | ',' | '=' | ';' | OTHER
    ;

OPTIMIZE: [Oo][Pp][Tt][Ii][Mm][Ii][Zz][Ee];
OPTIONS: [Oo][Pp][Tt][Ii][Oo][Nn][Ss];

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
