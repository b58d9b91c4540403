-- How many rows of the request log there are, so that its summary need not read them all.
CREATE TABLE request_log_count (
  tenant_id TEXT COLLATE "C" NOT NULL,
  -- Days since the epoch; -1 for all of them together.
  day BIGINT NOT NULL,
  status BIGINT NOT NULL,
  -- -1 for rows without a measured latency.
  latency_ms BIGINT NOT NULL,
  count BIGINT NOT NULL,
  PRIMARY KEY (tenant_id, day, status, latency_ms)
) WITH (fillfactor = 70);
INSERT INTO request_log_count (tenant_id, day, status, latency_ms, count)
SELECT tenant_id, ts / 86400000, status, coalesce(latency_ms, -1), count(*)
FROM request_log GROUP BY 1, 2, 3, 4;
INSERT INTO request_log_count (tenant_id, day, status, latency_ms, count)
SELECT tenant_id, -1, status, latency_ms, sum(count)
FROM request_log_count GROUP BY 1, 3, 4;

-- The lock keeps two servers, which write their rows in different orders, from a deadlock.
CREATE FUNCTION count_log_row() RETURNS TRIGGER LANGUAGE plpgsql AS $$
BEGIN
  PERFORM pg_advisory_xact_lock(hashtextextended('moonbase request_log_count', 0));
  IF TG_OP = 'INSERT' THEN
    INSERT INTO request_log_count AS counted (tenant_id, day, status, latency_ms, count)
    VALUES (new.tenant_id, new.ts / 86400000, new.status, coalesce(new.latency_ms, -1), 1),
      (new.tenant_id, -1, new.status, coalesce(new.latency_ms, -1), 1)
    ON CONFLICT (tenant_id, day, status, latency_ms) DO UPDATE SET count = counted.count + 1;
  ELSE
    UPDATE request_log_count SET count = count - 1
    WHERE tenant_id = old.tenant_id AND day IN (-1, old.ts / 86400000) AND status = old.status
      AND latency_ms = coalesce(old.latency_ms, -1);
    DELETE FROM request_log_count
    WHERE tenant_id = old.tenant_id AND day IN (-1, old.ts / 86400000) AND status = old.status
      AND latency_ms = coalesce(old.latency_ms, -1) AND count = 0;
  END IF;
  RETURN NULL;
END
$$;
CREATE TRIGGER request_log_counted AFTER INSERT OR DELETE ON request_log
FOR EACH ROW EXECUTE FUNCTION count_log_row();

CREATE INDEX request_log_by_status ON request_log (tenant_id, status, ts, id);
CREATE INDEX request_log_by_session ON request_log (tenant_id, session_id, ts, id)
  WHERE session_id IS NOT NULL;
