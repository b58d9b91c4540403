-- Which key called, and of streams when the first word came and when the last.
ALTER TABLE request_log ADD COLUMN key_id TEXT;
ALTER TABLE request_log ADD COLUMN first_ms INTEGER;
ALTER TABLE request_log ADD COLUMN total_ms INTEGER;
