-- The board that a device was paired with by its own firmware. Both together name it at its later
-- starts; the client's id, which nobody but the board knows, is kept as a hash.
ALTER TABLE device ADD COLUMN mac TEXT;
ALTER TABLE device ADD COLUMN client_hash TEXT;
CREATE INDEX device_by_board ON device (mac, client_hash) WHERE mac IS NOT NULL;
