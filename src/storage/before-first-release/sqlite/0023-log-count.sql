-- How many rows of the request log there are, so that its summary need not read them all.
CREATE TABLE request_log_count (
  tenant_id TEXT NOT NULL,
  -- Days since the epoch; -1 for all of them together.
  day INTEGER NOT NULL,
  status INTEGER NOT NULL,
  -- -1 for rows without a measured latency.
  latency_ms INTEGER NOT NULL,
  count INTEGER NOT NULL,
  PRIMARY KEY (tenant_id, day, status, latency_ms)
) STRICT, WITHOUT ROWID;
INSERT INTO request_log_count (tenant_id, day, status, latency_ms, count)
SELECT tenant_id, ts / 86400000, status, coalesce(latency_ms, -1), count(*)
FROM request_log GROUP BY 1, 2, 3, 4;
INSERT INTO request_log_count (tenant_id, day, status, latency_ms, count)
SELECT tenant_id, -1, status, latency_ms, sum(count)
FROM request_log_count GROUP BY 1, 3, 4;

CREATE TRIGGER request_log_counted AFTER INSERT ON request_log BEGIN
  INSERT INTO request_log_count (tenant_id, day, status, latency_ms, count)
  VALUES (new.tenant_id, new.ts / 86400000, new.status, coalesce(new.latency_ms, -1), 1),
    (new.tenant_id, -1, new.status, coalesce(new.latency_ms, -1), 1)
  ON CONFLICT (tenant_id, day, status, latency_ms) DO UPDATE SET count = count + 1;
END;
CREATE TRIGGER request_log_uncounted AFTER DELETE ON request_log BEGIN
  UPDATE request_log_count SET count = count - 1
  WHERE tenant_id = old.tenant_id AND day IN (-1, old.ts / 86400000) AND status = old.status
    AND latency_ms = coalesce(old.latency_ms, -1);
  DELETE FROM request_log_count
  WHERE tenant_id = old.tenant_id AND day IN (-1, old.ts / 86400000) AND status = old.status
    AND latency_ms = coalesce(old.latency_ms, -1) AND count = 0;
END;

CREATE INDEX request_log_by_status ON request_log (tenant_id, status, ts, id);
CREATE INDEX request_log_by_session ON request_log (tenant_id, session_id, ts, id)
  WHERE session_id IS NOT NULL;
