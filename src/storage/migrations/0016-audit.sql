-- Who changed what, without values. tenant_id is empty for changes to the server itself; ids sort
-- by time.
CREATE TABLE audit (
  tenant_id TEXT NOT NULL,
  id TEXT NOT NULL,
  ts INTEGER NOT NULL,
  person TEXT,
  key_id TEXT,
  action TEXT NOT NULL,
  target TEXT,
  address TEXT NOT NULL,
  PRIMARY KEY (tenant_id, id)
) STRICT, WITHOUT ROWID;
CREATE INDEX audit_by_ts ON audit (ts);
