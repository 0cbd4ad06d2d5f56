#!/bin/sh
# Starts the standby of compose.yaml, after a copy of the primary if it has no data yet.
set -eu
if [ ! -s "$PGDATA/PG_VERSION" ]; then
  # PostgreSQL refuses a folder that others can read.
  chmod 0700 "$PGDATA"
  PGPASSWORD=$POSTGRES_PASSWORD pg_basebackup -h db1 -U "$POSTGRES_USER" -D "$PGDATA" -R -X stream -c fast
fi
exec "$@"
