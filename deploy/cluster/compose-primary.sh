#!/bin/sh
# Prepares the primary of compose.yaml for its standby. The image runs this once, before PostgreSQL listens on the network.
set -eu
echo "host replication $POSTGRES_USER all scram-sha-256" >>"$PGDATA/pg_hba.conf"
# It takes effect at the next start, after the set-up. Before, no standby could confirm a commit.
psql -v ON_ERROR_STOP=1 -U "$POSTGRES_USER" -d "$POSTGRES_DB" \
  -c "ALTER SYSTEM SET synchronous_standby_names = 'ANY 1 (db1, db2)'" -c "ALTER SYSTEM SET wal_log_hints = on"
