{{ config(
    materialized='incremental',
    incremental_strategy='append',
    file_format='delta',
    zcube_cluster_by=['day', 'customer'],
    post_hook="{{ zcube.zcube_optimize(this, max_bytes='10g') }}",
) }}

select
    id,
    date_add(date'2026-01-01', cast(id div 100 as int)) as day,
    cast(pmod(hash(id), 500) as int) as customer,
    pmod(hash(id, 1), 1000) / 10.0 as amount
from range({{ var('first') }}, {{ var('last') }}, 1, 8)
