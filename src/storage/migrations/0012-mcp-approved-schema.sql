-- The arguments that a tool took when it was approved, to show beside those that it takes now.
ALTER TABLE mcp_tool ADD COLUMN approved_schema TEXT;
UPDATE mcp_tool SET approved_schema = schema WHERE approved_hash = hash;
