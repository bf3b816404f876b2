{#-
  Cluster a table. In a model: post_hook="{{ zcube.zcube_optimize(this) }}"; the quotes are needed, so that it runs
  behind the model. By hand: dbt run-operation zcube_optimize --args '{relation: orders}'

  relation: a relation of dbt's, or a name: "orders" in the target's schema, "shop.orders", "delta.`/data/orders`".
  All others: as ClusteredTable.optimize of the Python package has them. Jinja rejects any other by name.

  In a model with zcube_cluster_by the table gets these columns first, if it has others.
-#}
{% macro zcube_optimize(
    relation, zorder_by=none, where=none, full=false, dry_run=false, curve=none, weights=none, workload=none,
    merge_policy=none, max_bytes=none, max_duration=none, min_cube_size=none, target_cube_size=none,
    max_file_size=none
) %}
  {%- if execute -%}
    {%- set table = zcube.table_name(relation) -%}
    {%- set declared = zcube.declared_columns() if model is defined and relation == this else none -%}
    {%- if declared and not dry_run -%}
      {%- do zcube.align_columns(table, declared) -%}
    {%- endif -%}
    {%- set options = {
        'where': where, 'curve': curve, 'weights': zcube.weights(weights),
        'workload': tojson(workload) if workload is not none and workload is not string else workload,
        'mergePolicy': merge_policy, 'maxBytes': max_bytes, 'maxDuration': max_duration,
        'minCubeSize': min_cube_size, 'targetCubeSize': target_cube_size, 'maxFileSize': max_file_size,
    } -%}
    {%- set parts = ['optimize', table] -%}
    {%- do parts.append('full') if zcube.switch('full', full) -%}
    {%- do parts.append('zorder by ' ~ zcube.column_list(zorder_by, 'zorder_by')) if zorder_by is not none -%}
    {%- do parts.append(zcube.options_clause(options)) -%}
    {%- do parts.append('dry run') if zcube.switch('dry_run', dry_run) -%}
    {%- set statement = parts | select | join(' ') -%}
    {%- set result = run_query(statement) -%}
    {%- if dry_run -%}
      {%- do result.print_table(max_rows=none, max_columns=none) -%}
    {%- else -%}
      {%- do log('zcube: ' ~ table ~ ': ' ~ zcube.what_was_done(result), info=true) -%}
    {%- endif -%}
  {%- endif -%}
{% endmacro %}


{#- Of Delta's metrics; a struct comes as a list from a session, as an object by Thrift and ODBC. -#}
{% macro what_was_done(result) %}
  {%- set metrics = fromjson(result.rows[0]['metrics']) -%}
  {%- if metrics is mapping -%}
    {%- set metrics = [metrics['numFilesAdded'], metrics['numFilesRemoved']] -%}
  {%- endif -%}
  {%- do return(metrics[1] ~ ' files rewritten into ' ~ metrics[0]) -%}
{% endmacro %}


{#- Make these the table's clustering columns, if others are. It commits metadata only. -#}
{% macro align_columns(table, columns) %}
  {%- set detail = run_query('describe detail ' ~ table).rows[0] -%}
  {%- if zcube.folded(fromjson(detail['clusteringColumns'] or '[]')) != zcube.folded(columns) -%}
    {%- do run_query('alter table ' ~ table ~ ' cluster by ' ~ zcube.column_list(columns, 'zcube_cluster_by')) -%}
  {%- endif -%}
{% endmacro %}
