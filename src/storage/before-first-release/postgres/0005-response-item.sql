-- Items of recent responses: a client may send the id of one in place of the item. used_at is in
-- milliseconds since 1970.
CREATE TABLE response_item (
  tenant_id TEXT COLLATE "C" NOT NULL REFERENCES tenant (id) ON DELETE CASCADE,
  id TEXT COLLATE "C" NOT NULL,
  key_id TEXT COLLATE "C" NOT NULL,
  bytes BIGINT NOT NULL,
  used_at BIGINT NOT NULL,
  item TEXT COLLATE "C" NOT NULL,
  PRIMARY KEY (tenant_id, id)
);
CREATE INDEX response_item_by_use ON response_item (tenant_id, used_at, id, bytes);
CREATE INDEX response_item_by_age ON response_item (used_at);
