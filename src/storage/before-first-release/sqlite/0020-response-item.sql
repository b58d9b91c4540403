-- Items of recent responses: a client may send the id of one in place of the item. used_at is in
-- milliseconds since 1970.
CREATE TABLE response_item (
  tenant_id TEXT NOT NULL REFERENCES tenant (id) ON DELETE CASCADE,
  id TEXT NOT NULL,
  key_id TEXT NOT NULL,
  bytes INTEGER NOT NULL,
  used_at INTEGER NOT NULL,
  item TEXT NOT NULL,
  PRIMARY KEY (tenant_id, id)
) STRICT;
CREATE INDEX response_item_by_use ON response_item (tenant_id, used_at, id, bytes);
CREATE INDEX response_item_by_age ON response_item (used_at);
