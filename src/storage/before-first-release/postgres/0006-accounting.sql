-- The last batch of usage sums that each process has stored, so that one whose answer was lost is
-- not added twice. written_at is epoch milliseconds.
CREATE TABLE usage_writer (
  id TEXT COLLATE "C" PRIMARY KEY,
  batch BIGINT NOT NULL,
  written_at BIGINT NOT NULL
);

-- The key that made it; null: a person, or an earlier version. Of a device, who issued its code.
ALTER TABLE api_key ADD COLUMN made_by TEXT COLLATE "C";
ALTER TABLE device ADD COLUMN made_by TEXT COLLATE "C";
ALTER TABLE share ADD COLUMN made_by TEXT COLLATE "C";

-- Tokens that visitors may use a day, input and output together; 0: no budget.
ALTER TABLE share ADD COLUMN daily_tokens BIGINT NOT NULL DEFAULT 0;
