-- What a tool said of itself when it was approved, to show beside what it says now.
ALTER TABLE mcp_tool ADD COLUMN approved_description TEXT;
UPDATE mcp_tool SET approved_description = description WHERE approved_hash = hash;
