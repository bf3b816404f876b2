{#- SQL text from names and values, always quoted, by the rules of the Python package. -#}

{#- One part of a name. -#}
{% macro identifier(name) %}
  {%- do return('`' ~ (name | replace('`', '``')) ~ '`') -%}
{% endmacro %}


{#- The parts of a name: "a.b" has two, "`a.b`" one. Whatever else stands in it belongs to the name. -#}
{% macro name_parts(name) %}
  {%- set part = '(?:`(?:[^`]|``)+`|[^.`][^.]*)' -%}
  {%- if name is not string or not modules.re.fullmatch(part ~ '(?:[.]' ~ part ~ ')*', name) -%}
    {%- do exceptions.raise_compiler_error("The name " ~ name ~ " is none: write 'a', 'a.b' or '`a.b`'.") -%}
  {%- endif -%}
  {%- set parts = [] -%}
  {%- for found in modules.re.findall(part, name) -%}
    {%- do parts.append(found[1:-1] | replace('``', '`') if found[0] == '`' else found) -%}
  {%- endfor -%}
  {%- do return(parts) -%}
{% endmacro %}


{% macro qualified(parts) %}
  {%- set quoted = [] -%}
  {%- for part in parts -%}
    {%- do quoted.append(zcube.identifier(part)) -%}
  {%- endfor -%}
  {%- do return(quoted | join('.')) -%}
{% endmacro %}


{#- Names by which columns are the same that Spark takes for the same, in any case. -#}
{% macro folded(columns) %}
  {%- set names = [] -%}
  {%- for column in columns -%}
    {%- do names.append(zcube.qualified(zcube.name_parts(column)) | lower) -%}
  {%- endfor -%}
  {%- do return(names) -%}
{% endmacro %}


{% macro column_list(columns, what) %}
  {%- set quoted = [] -%}
  {%- for column in ([columns] if columns is string else columns) -%}
    {%- do quoted.append(zcube.qualified(zcube.name_parts(column))) -%}
  {%- endfor -%}
  {%- if not quoted -%}
    {%- do exceptions.raise_compiler_error(what ~ ' needs at least one column.') -%}
  {%- endif -%}
  {%- do return('(' ~ (quoted | join(', ')) ~ ')') -%}
{% endmacro %}


{% macro table_name(relation) %}
  {%- if relation is string -%}
    {%- set parts = zcube.name_parts(relation) -%}
    {%- do return(zcube.qualified(parts if parts | length > 1 else [target.schema] + parts)) -%}
  {%- endif -%}
  {%- if not relation -%}
    {%- do exceptions.raise_compiler_error('zcube_optimize needs a relation, or the name of a table.') -%}
  {%- endif -%}
  {#- Not as dbt-spark renders it, which quotes no part. -#}
  {%- do return(zcube.qualified([relation.schema, relation.identifier] | select | list)) -%}
{% endmacro %}


{#- A literal of text, as the session reads literals: it may take backslashes for themselves. -#}
{% macro literal(text) %}
  {%- if "'" in text or '\\' in text -%}
    {%- set verbatim = run_query('set spark.sql.parser.escapedStringLiterals').rows[0][1] -%}
    {%- if verbatim | string | trim | lower == 'true' -%}
      {%- do exceptions.raise_compiler_error(
          'With spark.sql.parser.escapedStringLiterals zcube has no literal for ' ~ text
          ~ ', which has a quote or a backslash. Set it to false.'
      ) -%}
    {%- endif -%}
  {%- endif -%}
  {%- do return("'" ~ (text | replace('\\', '\\\\') | replace("'", "\\'")) ~ "'") -%}
{% endmacro %}


{#- An OPTIONS clause, without the options that have no value. -#}
{% macro options_clause(options) %}
  {%- set pairs = [] -%}
  {%- for key, value in options.items() if value is not none -%}
    {%- do pairs.append("'" ~ key ~ "' = " ~ zcube.literal(value | string)) -%}
  {%- endfor -%}
  {%- do return('options (' ~ (pairs | join(', ')) ~ ')' if pairs else '') -%}
{% endmacro %}


{#- Weights as the option takes them: {'day': 3} is `day`=3. -#}
{% macro weights(pairs) %}
  {%- if pairs is none -%}
    {%- do return(none) -%}
  {%- endif -%}
  {%- set written = [] -%}
  {%- for column, weight in pairs.items() -%}
    {%- do written.append(zcube.qualified(zcube.name_parts(column)) ~ '=' ~ weight) -%}
  {%- endfor -%}
  {%- do return(written | join(',')) -%}
{% endmacro %}


{#- A text such as 'false' would count as true to Jinja. -#}
{% macro switch(name, value) %}
  {%- if value is not boolean -%}
    {%- do exceptions.raise_compiler_error(name ~ ' is true or false, not ' ~ value ~ '.') -%}
  {%- endif -%}
  {%- do return(value) -%}
{% endmacro %}
