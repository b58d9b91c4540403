-- As index of SQLite, where tables and columns are explained.
ALTER TABLE session ADD COLUMN index_from BIGINT NOT NULL DEFAULT 0;
DROP INDEX session_to_index;
CREATE INDEX session_to_index ON session (tenant_id, last_at DESC) WHERE index_below > 0;

DROP TRIGGER request_log_counted ON request_log;
CREATE TRIGGER request_log_counted AFTER DELETE ON request_log
FOR EACH ROW EXECUTE FUNCTION count_log_row();
