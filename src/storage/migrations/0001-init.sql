-- All tables, by subject: tenants and people, credentials, assistants, conversations, knowledge,
-- tools, devices, links for visitors, and what is counted and logged. Times named *_at are ISO 8601
-- UTC text in some tables and epoch milliseconds in those where they are INTEGER; `day` counts days
-- since the epoch.

-- Tenants and people ------------------------------------------------------------------------------

CREATE TABLE tenant (
  id TEXT PRIMARY KEY,
  -- Null: named after its first owner.
  name TEXT,
  created_at TEXT NOT NULL,
  -- When its last member was deleted; what it holds is removed in steps.
  gone_at INTEGER
) STRICT;
CREATE INDEX tenant_gone ON tenant (gone_at) WHERE gone_at IS NOT NULL;

CREATE TABLE user (
  id TEXT PRIMARY KEY,
  -- The tenant that the person is in now.
  tenant_id TEXT NOT NULL REFERENCES tenant (id) ON DELETE CASCADE,
  email TEXT NOT NULL UNIQUE,
  -- Runs the server.
  operator INTEGER NOT NULL DEFAULT 0,
  -- May no longer sign in.
  disabled INTEGER NOT NULL DEFAULT 0,
  -- In each console session; a session of an earlier one has ended.
  session_epoch INTEGER NOT NULL DEFAULT 0,
  signed_in_at TEXT,
  created_at TEXT NOT NULL
) STRICT;

-- Who belongs to a tenant, and as what. user_id and joined_at are null until the person of the
-- address has signed in.
CREATE TABLE member (
  id TEXT PRIMARY KEY,
  tenant_id TEXT NOT NULL REFERENCES tenant (id) ON DELETE CASCADE,
  email TEXT NOT NULL,
  -- owner, editor or viewer.
  role TEXT NOT NULL,
  -- Each change of the role raises it, so that what was granted to the earlier role ends with it.
  epoch INTEGER NOT NULL DEFAULT 0,
  user_id TEXT REFERENCES user (id) ON DELETE CASCADE,
  -- The id of the person who invited; null for the first owner.
  invited_by TEXT,
  invited_at TEXT NOT NULL,
  joined_at TEXT
) STRICT;
CREATE UNIQUE INDEX member_by_email ON member (tenant_id, email);
CREATE INDEX member_by_user ON member (user_id) WHERE user_id IS NOT NULL;
CREATE INDEX member_invited ON member (email) WHERE user_id IS NULL;

-- Sessions of the console that have ended before their token expires, or that are in another tenant
-- than the person's own. No token is in it.
CREATE TABLE console_session (
  id TEXT PRIMARY KEY,
  tenant_id TEXT,
  ended INTEGER NOT NULL DEFAULT 0,
  -- When the token expires, in epoch milliseconds.
  expires_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX console_session_by_expiry ON console_session (expires_at);

-- What the console sets for the whole server, by the name of the environment's setting. Every value
-- is sealed, so none is public by accident.
CREATE TABLE system_setting (
  name TEXT PRIMARY KEY,
  value_sealed BLOB NOT NULL
) STRICT, WITHOUT ROWID;

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
  -- The name that the target had then.
  target_name TEXT,
  address TEXT NOT NULL,
  PRIMARY KEY (tenant_id, id)
) STRICT, WITHOUT ROWID;
CREATE INDEX audit_by_ts ON audit (ts);

-- Credentials -------------------------------------------------------------------------------------

CREATE TABLE api_key (
  id TEXT PRIMARY KEY,
  tenant_id TEXT NOT NULL REFERENCES tenant (id) ON DELETE CASCADE,
  hash TEXT NOT NULL UNIQUE,
  -- The first and the last signs, by which people tell keys apart.
  prefix TEXT NOT NULL,
  tail TEXT,
  name TEXT NOT NULL DEFAULT '',
  rate_limit INTEGER NOT NULL,
  -- 0: no budget.
  daily_tokens INTEGER NOT NULL DEFAULT 0,
  app_id TEXT,
  device_id TEXT,
  -- The key that made it; null: a person.
  made_by TEXT,
  -- The id of the person who made it; null where no person did.
  person_id TEXT,
  created_at INTEGER NOT NULL,
  revoked_at INTEGER
) STRICT;
CREATE INDEX api_key_by_tenant ON api_key (tenant_id, created_at DESC);
CREATE INDEX api_key_by_device ON api_key (device_id) WHERE device_id IS NOT NULL;

-- When each key was last used (epoch milliseconds). Apart from the keys, which are read from memory
-- until one of them is written.
CREATE TABLE key_use (
  tenant_id TEXT NOT NULL REFERENCES tenant (id) ON DELETE CASCADE,
  key_id TEXT NOT NULL,
  last_used_at INTEGER NOT NULL,
  PRIMARY KEY (tenant_id, key_id)
) STRICT, WITHOUT ROWID;

-- A tenant's own model channel. The key is sealed (AES-256-GCM, the tenant authenticated with it);
-- revision changes with every save.
CREATE TABLE provider (
  tenant_id TEXT PRIMARY KEY REFERENCES tenant (id) ON DELETE CASCADE,
  base_url TEXT NOT NULL,
  key_sealed BLOB NOT NULL,
  failover INTEGER NOT NULL,
  revision TEXT NOT NULL
) STRICT;

-- Assistants --------------------------------------------------------------------------------------

CREATE TABLE persona (
  id TEXT PRIMARY KEY,
  tenant_id TEXT NOT NULL REFERENCES tenant (id) ON DELETE CASCADE,
  name TEXT NOT NULL,
  prompt TEXT NOT NULL,
  is_default INTEGER NOT NULL DEFAULT 0,
  created_at INTEGER NOT NULL
) STRICT;
CREATE INDEX persona_by_tenant ON persona (tenant_id, created_at DESC);
CREATE UNIQUE INDEX persona_default ON persona (tenant_id) WHERE is_default = 1;

CREATE TABLE app (
  id TEXT PRIMARY KEY,
  tenant_id TEXT NOT NULL REFERENCES tenant (id) ON DELETE CASCADE,
  name TEXT NOT NULL,
  system_prompt TEXT,
  persona_id TEXT,
  model TEXT,
  thinking INTEGER,
  temperature REAL,
  kb_enabled INTEGER NOT NULL DEFAULT 1,
  tools_enabled TEXT,
  created_at TEXT NOT NULL
) STRICT;
CREATE INDEX app_by_tenant ON app (tenant_id, created_at DESC);

CREATE TABLE tenant_settings (
  tenant_id TEXT PRIMARY KEY REFERENCES tenant (id) ON DELETE CASCADE,
  model TEXT,
  thinking INTEGER NOT NULL DEFAULT 0,
  temperature REAL,
  -- What a million tokens cost the tenant, for its estimates; null: unknown.
  price_in REAL,
  price_out REAL,
  -- Names of tools for turns without an app, a JSON array.
  mcp_tools TEXT NOT NULL DEFAULT '[]'
) STRICT;

-- Conversations -----------------------------------------------------------------------------------

-- One row a conversation. The turns up to folded_through are in the memory of a model as summary.
CREATE TABLE session (
  tenant_id TEXT NOT NULL REFERENCES tenant (id) ON DELETE CASCADE,
  id TEXT NOT NULL,
  -- A number of its own for the index, because a row's id is not kept by every copy.
  num INTEGER,
  -- What a person called it; null: its first text is its title.
  title TEXT,
  turn_count INTEGER NOT NULL,
  first_at TEXT NOT NULL,
  last_at TEXT NOT NULL,
  app_id TEXT,
  device_id TEXT,
  -- The person who began it in the console; null for every other session.
  user_id TEXT,
  summary TEXT NOT NULL DEFAULT '',
  folded_through INTEGER NOT NULL DEFAULT 0,
  -- The turns below it wait to be indexed, the newest first.
  index_below INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY (tenant_id, id)
) STRICT;
CREATE INDEX session_by_activity ON session (tenant_id, last_at DESC);
CREATE UNIQUE INDEX session_by_num ON session (num);
CREATE INDEX session_to_index ON session (last_at DESC) WHERE index_below > 0;
CREATE TRIGGER session_numbered AFTER INSERT ON session WHEN new.num IS NULL BEGIN
  UPDATE session SET num = (SELECT coalesce(max(num), 0) + 1 FROM session)
  WHERE tenant_id = new.tenant_id AND id = new.id;
END;

-- A turn is one exchange, so that it is stored whole or not at all. In rows of their own turns take
-- half the disk that they take inside their key, where a long text fills pages alone.
CREATE TABLE turn (
  tenant_id TEXT NOT NULL,
  session_id TEXT NOT NULL,
  seq INTEGER NOT NULL,
  -- The app that answered.
  app_id TEXT,
  user_text TEXT NOT NULL,
  reply TEXT NOT NULL,
  created_at TEXT NOT NULL,
  -- JSON: how the turn was answered; null: unknown.
  details TEXT,
  PRIMARY KEY (tenant_id, session_id, seq),
  FOREIGN KEY (tenant_id, session_id) REFERENCES session (tenant_id, id) ON DELETE CASCADE
) STRICT;

-- Which turn holds which term, as hashes: what is left of a deleted turn before SQLite merges its
-- entries tells nothing. The row id is num * 16777216 + seq; seq 0 is the title.
CREATE VIRTUAL TABLE turn_word USING fts5 (
  terms,
  content = '',
  contentless_delete = 1,
  detail = none,
  tokenize = 'ascii'
);
CREATE TRIGGER turn_forgotten AFTER DELETE ON turn BEGIN
  DELETE FROM turn_word WHERE rowid = old.seq + (
    SELECT num * 16777216 FROM session WHERE tenant_id = old.tenant_id AND id = old.session_id);
END;
CREATE TRIGGER session_forgotten AFTER DELETE ON session BEGIN
  DELETE FROM turn_word WHERE rowid BETWEEN old.num * 16777216 AND old.num * 16777216 + 16777215;
END;

-- Items of recent responses: a client may send the id of one in place of the item. used_at is in
-- epoch milliseconds.
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

-- Knowledge ---------------------------------------------------------------------------------------

-- Files and web pages that documents are made of.
CREATE TABLE kb_source (
  id TEXT PRIMARY KEY,
  tenant_id TEXT NOT NULL REFERENCES tenant (id) ON DELETE CASCADE,
  kind TEXT NOT NULL,
  title TEXT NOT NULL,
  -- The title was given; that of the page does not replace it.
  is_named INTEGER NOT NULL,
  file_name TEXT NOT NULL,
  media_type TEXT NOT NULL,
  bytes INTEGER NOT NULL,
  url TEXT,
  refresh TEXT,
  state TEXT NOT NULL,
  error_class TEXT,
  error TEXT,
  pages INTEGER,
  created_at TEXT NOT NULL,
  checked_at TEXT,
  changed_at TEXT,
  -- When it is to be worked on (epoch milliseconds); null: not before somebody asks.
  due_at INTEGER,
  -- Failures of the embedder in a row, and checks in a row that found no page.
  attempts INTEGER NOT NULL DEFAULT 0,
  misses INTEGER NOT NULL DEFAULT 0,
  -- Of the text that its documents have.
  text_hash TEXT,
  etag TEXT,
  last_modified TEXT
) STRICT;
CREATE INDEX kb_source_by_tenant ON kb_source (tenant_id, created_at DESC);
CREATE INDEX kb_source_by_due ON kb_source (due_at) WHERE due_at IS NOT NULL;

CREATE TABLE kb_doc (
  num INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  tenant_id TEXT NOT NULL REFERENCES tenant (id) ON DELETE CASCADE,
  title TEXT NOT NULL,
  char_count INTEGER NOT NULL,
  chunk_count INTEGER NOT NULL,
  created_at TEXT NOT NULL,
  -- The documents of a source are its parts, numbered from 1; typed ones have none of the three.
  source_id TEXT,
  part INTEGER,
  parts INTEGER,
  -- live; or new: not all parts are stored yet; or old: to be removed. Only live ones are seen.
  stage TEXT NOT NULL DEFAULT 'live',
  -- The model whose vectors the chunks have; another one than the server's: to be embedded anew.
  embed_model TEXT NOT NULL,
  embed_attempts INTEGER NOT NULL DEFAULT 0,
  -- Not tried again before (epoch milliseconds).
  embed_after INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE INDEX kb_doc_by_tenant ON kb_doc (tenant_id, created_at DESC);
CREATE INDEX kb_doc_by_model ON kb_doc (embed_model);
CREATE INDEX kb_doc_by_source ON kb_doc (source_id) WHERE source_id IS NOT NULL;
CREATE INDEX kb_doc_by_stage ON kb_doc (stage) WHERE stage <> 'live';
-- Each search asks how many passages the tenant has.
CREATE INDEX kb_doc_by_size ON kb_doc (tenant_id, stage, chunk_count);

-- The key of a chunk in both indexes is doc_num * 1024 + seq.
CREATE TABLE kb_chunk (
  doc_num INTEGER NOT NULL REFERENCES kb_doc (num) ON DELETE CASCADE,
  seq INTEGER NOT NULL,
  text TEXT NOT NULL,
  page INTEGER,
  heading TEXT,
  PRIMARY KEY (doc_num, seq)
) STRICT, WITHOUT ROWID;

-- Which chunk holds which term, and no text.
CREATE VIRTUAL TABLE kb_word USING fts5 (
  terms,
  content = '',
  contentless_delete = 1,
  tokenize = "ascii tokenchars '-_./+#:@''&'"
);

CREATE TABLE kb_vector (
  -- doc_num * 1024 + seq, as in kb_word.
  key INTEGER PRIMARY KEY,
  -- Tenant and model; only vectors of one space are compared.
  space TEXT NOT NULL,
  -- float32 of unit length, little-endian.
  vector BLOB NOT NULL
) STRICT;

-- A bit for each dimension of the chunks of a document, in order, which a search reads first.
CREATE TABLE kb_vector_code (
  doc_num INTEGER PRIMARY KEY,
  space TEXT NOT NULL,
  codes BLOB NOT NULL
) STRICT;
CREATE INDEX kb_vector_code_by_space ON kb_vector_code (space);

-- How many searches of turns showed passages of a document, by day.
CREATE TABLE kb_citation (
  doc_num INTEGER NOT NULL REFERENCES kb_doc (num) ON DELETE CASCADE,
  day INTEGER NOT NULL,
  count INTEGER NOT NULL,
  PRIMARY KEY (doc_num, day)
) STRICT, WITHOUT ROWID;

-- Tools -------------------------------------------------------------------------------------------

-- Servers whose tools a tenant's assistants may use. A header is sealed as a provider's key is;
-- revision changes with each save that makes a listing under way worthless.
CREATE TABLE mcp_server (
  id TEXT PRIMARY KEY,
  tenant_id TEXT NOT NULL REFERENCES tenant (id) ON DELETE CASCADE,
  name TEXT NOT NULL,
  url TEXT NOT NULL,
  header_name TEXT,
  header_sealed BLOB,
  enabled INTEGER NOT NULL,
  revision TEXT NOT NULL,
  -- never, ready or failed.
  state TEXT NOT NULL DEFAULT 'never',
  error_class TEXT,
  protocol TEXT,
  latency_ms INTEGER,
  checked_at TEXT,
  -- Epoch milliseconds: until when the listing is believed, and when it is tried again.
  fresh_until INTEGER,
  retry_at INTEGER,
  -- In a row.
  failures INTEGER NOT NULL DEFAULT 0,
  created_at TEXT NOT NULL
) STRICT;
CREATE UNIQUE INDEX mcp_server_by_name ON mcp_server (tenant_id, name);
CREATE INDEX mcp_server_by_retry ON mcp_server (retry_at) WHERE retry_at IS NOT NULL;

-- What a server listed last, in its order.
CREATE TABLE mcp_tool (
  server_id TEXT NOT NULL REFERENCES mcp_server (id) ON DELETE CASCADE,
  name TEXT NOT NULL,
  position INTEGER NOT NULL,
  title TEXT,
  description TEXT NOT NULL,
  read_only INTEGER NOT NULL,
  destructive INTEGER NOT NULL,
  -- JSON as the model is offered it; empty where reason says why it cannot be.
  schema TEXT NOT NULL,
  schema_chars INTEGER NOT NULL,
  param_headers TEXT NOT NULL,
  reason TEXT,
  -- Of the definition as it is, and as it was when somebody approved it.
  hash TEXT NOT NULL,
  approved_hash TEXT,
  -- What the tool said of itself then, and the arguments that it took, to show beside those of now.
  approved_description TEXT,
  approved_schema TEXT,
  PRIMARY KEY (server_id, name)
) STRICT, WITHOUT ROWID;

-- Devices -----------------------------------------------------------------------------------------

-- code_hash outlives the code's use, so that a second try can be told from an unknown code;
-- code_expires_at is null once the code was used.
CREATE TABLE device (
  id TEXT PRIMARY KEY,
  tenant_id TEXT NOT NULL REFERENCES tenant (id) ON DELETE CASCADE,
  name TEXT NOT NULL,
  app_id TEXT,
  hw_model TEXT,
  firmware TEXT,
  -- The board that it was paired with by its own firmware. Both together name it at its later
  -- starts; the client's id, which nobody but the board knows, is kept as a hash.
  mac TEXT,
  client_hash TEXT,
  code_hash TEXT NOT NULL UNIQUE,
  code_expires_at TEXT,
  -- The key that the current code was exchanged for; null while the code waits.
  key_id TEXT,
  -- The key that issued the code; null: a person.
  made_by TEXT,
  activated_at TEXT,
  last_seen_at TEXT,
  created_at TEXT NOT NULL
) STRICT;
CREATE INDEX device_by_tenant ON device (tenant_id, created_at DESC);
CREATE INDEX device_by_board ON device (mac, client_hash) WHERE mac IS NOT NULL;

-- Links for visitors ------------------------------------------------------------------------------

-- Links by which visitors talk to an app. origins is a JSON array; expires_at null: never.
CREATE TABLE share (
  id TEXT PRIMARY KEY,
  tenant_id TEXT NOT NULL REFERENCES tenant (id) ON DELETE CASCADE,
  app_id TEXT NOT NULL REFERENCES app (id) ON DELETE CASCADE,
  name TEXT NOT NULL,
  hash TEXT NOT NULL UNIQUE,
  origins TEXT NOT NULL,
  daily_turns INTEGER NOT NULL,
  -- Tokens that visitors may use a day, input and output together; 0: no budget.
  daily_tokens INTEGER NOT NULL DEFAULT 0,
  -- The key that made it; null: a person.
  made_by TEXT,
  expires_at TEXT,
  created_at TEXT NOT NULL
) STRICT;
CREATE INDEX share_by_app ON share (app_id, created_at DESC);

-- Turns of visitors a day.
CREATE TABLE share_day (
  share_id TEXT NOT NULL REFERENCES share (id) ON DELETE CASCADE,
  day INTEGER NOT NULL,
  turns INTEGER NOT NULL,
  PRIMARY KEY (share_id, day)
) STRICT, WITHOUT ROWID;

-- What is counted and logged ----------------------------------------------------------------------

-- Calls and tokens a day and app; the sums of all time are made from these rows. app_id '' is a key
-- without an app.
CREATE TABLE usage_day (
  tenant_id TEXT NOT NULL REFERENCES tenant (id) ON DELETE CASCADE,
  day INTEGER NOT NULL,
  app_id TEXT NOT NULL,
  calls INTEGER NOT NULL,
  input_tokens INTEGER NOT NULL DEFAULT 0,
  output_tokens INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY (tenant_id, day, app_id)
) STRICT, WITHOUT ROWID;

-- The same by key and channel. key_id '' is the playground, channel '' the calls, which have none.
CREATE TABLE usage_key_day (
  tenant_id TEXT NOT NULL REFERENCES tenant (id) ON DELETE CASCADE,
  day INTEGER NOT NULL,
  key_id TEXT NOT NULL,
  app_id TEXT NOT NULL,
  channel TEXT NOT NULL,
  calls INTEGER NOT NULL,
  input_tokens INTEGER NOT NULL,
  output_tokens INTEGER NOT NULL,
  PRIMARY KEY (tenant_id, day, key_id, app_id, channel)
) STRICT, WITHOUT ROWID;

-- The last batch of usage sums that each process has stored, so that one whose answer was lost is
-- not added twice. written_at is epoch milliseconds.
CREATE TABLE usage_writer (
  id TEXT PRIMARY KEY NOT NULL,
  batch INTEGER NOT NULL,
  written_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- Metadata only: there is no column that could hold what was said. Rows of a tenant lie together in
-- the order of time, which is how they are read, summed up and pruned.
CREATE TABLE request_log (
  tenant_id TEXT NOT NULL,
  ts INTEGER NOT NULL,
  id TEXT NOT NULL,
  app_id TEXT,
  device_id TEXT,
  key_id TEXT,
  endpoint TEXT NOT NULL,
  status INTEGER NOT NULL,
  latency_ms INTEGER,
  -- Of streams: when the first word came and when the last.
  first_ms INTEGER,
  total_ms INTEGER,
  session_id TEXT,
  text_chars INTEGER,
  error_class TEXT,
  channel TEXT,
  PRIMARY KEY (tenant_id, ts, id)
) STRICT, WITHOUT ROWID;
CREATE INDEX request_log_by_status ON request_log (tenant_id, status, ts, id);
CREATE INDEX request_log_by_session ON request_log (tenant_id, session_id, ts, id)
  WHERE session_id IS NOT NULL;

-- How many rows of the request log there are, so that its summary need not read them all.
CREATE TABLE request_log_count (
  tenant_id TEXT NOT NULL,
  -- -1 for all days together.
  day INTEGER NOT NULL,
  status INTEGER NOT NULL,
  -- -1 for rows without a measured latency.
  latency_ms INTEGER NOT NULL,
  count INTEGER NOT NULL,
  PRIMARY KEY (tenant_id, day, status, latency_ms)
) STRICT, WITHOUT ROWID;
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
