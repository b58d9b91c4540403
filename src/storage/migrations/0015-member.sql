-- Who belongs to a tenant, and as what. user_id and joined_at are null until the person of the
-- address has signed in. user.tenant_id is the tenant that the person is in now.
CREATE TABLE member (
  id TEXT PRIMARY KEY,
  tenant_id TEXT NOT NULL REFERENCES tenant (id) ON DELETE CASCADE,
  email TEXT NOT NULL,
  -- owner, editor or viewer.
  role TEXT NOT NULL,
  user_id TEXT REFERENCES user (id) ON DELETE CASCADE,
  invited_at TEXT NOT NULL,
  joined_at TEXT
) STRICT;
CREATE UNIQUE INDEX member_by_email ON member (tenant_id, email);
CREATE INDEX member_by_user ON member (user_id) WHERE user_id IS NOT NULL;
CREATE INDEX member_invited ON member (email) WHERE user_id IS NULL;
INSERT INTO member (id, tenant_id, email, role, user_id, invited_at, joined_at)
SELECT id, tenant_id, email, 'owner', id, created_at, created_at FROM user;

-- Null: named after its first owner.
ALTER TABLE tenant ADD COLUMN name TEXT;
-- The person who began it in the console; null for every other session.
ALTER TABLE session ADD COLUMN user_id TEXT;
