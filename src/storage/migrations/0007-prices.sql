-- What a million tokens cost the tenant, for its estimates; null: unknown.
ALTER TABLE tenant_settings ADD COLUMN price_in REAL;
ALTER TABLE tenant_settings ADD COLUMN price_out REAL;
