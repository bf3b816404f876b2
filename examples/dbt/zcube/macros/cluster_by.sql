{#- The model's config zcube_cluster_by: a column, or a list of them; none if it has none. -#}
{% macro declared_columns() %}
  {%- set columns = config.get('zcube_cluster_by') -%}
  {%- if not columns -%}
    {%- set columns = (config.get('meta') or {}).get('zcube_cluster_by') -%}
  {%- endif -%}
  {%- if not columns -%}
    {%- do return(none) -%}
  {%- endif -%}
  {%- if config.get('file_format') != 'delta' -%}
    {%- do exceptions.raise_compiler_error("zcube_cluster_by needs a Delta table: file_format='delta'.") -%}
  {%- endif -%}
  {%- do return([columns] if columns is string else columns) -%}
{% endmacro %}


{#-
  dbt-spark writes a model's CREATE TABLE, and asks this macro for its clause of buckets. With

    dispatch: [{macro_namespace: dbt, search_order: [PROJECT, zcube, dbt]}]

  in dbt_project.yml the clause of clustering columns goes there too, so that no version of the table is without.
-#}
{% macro spark__clustered_cols(label, required=false) %}
  {%- set columns = zcube.declared_columns() -%}
  {{ dbt.spark__clustered_cols(label, required) }}
  {%- if columns %}
    cluster by {{ zcube.column_list(columns, 'zcube_cluster_by') }}
  {%- endif -%}
{% endmacro %}
