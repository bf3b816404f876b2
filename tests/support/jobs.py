"""Which Spark jobs ran, by their descriptions."""

from contextlib import contextmanager


def _all(spark):
    context = spark._jsc.sc()
    context.listenerBus().waitUntilEmpty()
    jobs = context.statusStore().jobsList(None)
    found = {}
    for i in range(jobs.size()):
        job = jobs.apply(i)
        description = job.description()
        found[job.jobId()] = description.get() if description.isDefined() else ""
    return found


@contextmanager
def recorded(spark):
    """Yield a list that holds the descriptions of the jobs of the block, once it is left."""
    before = _all(spark)
    descriptions = []
    yield descriptions
    after = _all(spark)
    descriptions += [after[job] for job in sorted(after.keys() - before.keys())]
