"""The columns of published tables that hold metrics of db_bench."""

from __future__ import annotations

from stepgrid.model.metrics.metric import MetricSet, columns

PUBLISHED = {
    "db_bench": columns(
        """
        qps=ops_sec mb_per_s=mb_sec lsm_bytes=lsm_sz blob_bytes=blob_sz write_amplification_published=w_amp
        compaction_write_bytes=c_wgb compaction_write_mb_per_s=c_mbps compaction_seconds=c_wsecs
        compaction_cpu_seconds=c_csecs blob_read_bytes=b_rgb blob_write_bytes=b_wgb usec_per_op=usec_op
        p50_us=p50 p99_us=p99 p99_9_us=p99.9 p99_99_us=p99.99 max_us=pmax uptime_seconds=uptime stall_pct=stall%
        stalls=Nstall process_rss_bytes=rss
        """
    ),
    "mixgraph": columns(
        """
        qps=o/s gets_per_s=get/s puts_per_s=put/s seeks_per_s=seek/s device_reads_per_s=r/s
        device_read_mb_per_s=rMB/s device_write_mb_per_s=wMB/s reads_per_op=r/o read_kb_per_op=rKB/o
        write_kb_per_op=wKB/o reads_per_lookup=r/s+g read_kb_per_lookup=rKB/s+g write_kb_per_put=wKB/p
        """
    ),
}

OWN = MetricSet(published=PUBLISHED)
