import * as v from "valibot";
import { addresses, databaseUrl, duration, file, files, host, integer, keyPrefix, text, yesOrNo } from "../fields.ts";
import type { Group } from "../setting.ts";

/** Settings of the connection to PostgreSQL. */
export const DATABASE = {
  DATABASE_URL: {
    schema: v.optional(databaseUrl),
    secret: true,
    defaultText: "none: everything is in `DATA_DIR`",
    meaning:
      "PostgreSQL 14 or newer that keeps events, jobs, sessions and failed logins: `postgres://user:password@host:5432/database`. Several hosts, separated by commas, are tried in turn until one accepts writes. `sslmode=verify-full` encrypts the connection, and `sslrootcert` names the PEM file of its authority. `host` in the query names the folder of a socket.",
    example: "/etc/authserve/database_url",
  },
  DATABASE_POOL_SIZE: {
    schema: v.optional(integer(2, 100), "10"),
    meaning: "Most connections to PostgreSQL at once.",
    example: "20",
  },
  DATABASE_TIMEOUT: {
    schema: v.optional(duration(100, "5s"), "5s"),
    meaning:
      "Longest time of an operation on PostgreSQL, with all its statements. After it the client gets 503 `store_unavailable`. A delivery gets it after 8 s at the latest.",
    example: "2s",
  },
  DATABASE_WAIT: {
    schema: v.optional(duration(0, "2m"), "30s"),
    meaning:
      "How long a start waits for PostgreSQL, as during a failover. After it the start ends with exit code 1. Commands do not wait.",
    example: "2m",
  },
} satisfies Group;

/** Settings of the encryption of payloads. */
export const ENCRYPTION = {
  ENCRYPTION_KEYS: {
    schema: v.optional(files),
    defaultText: "none: payloads are stored as they are",
    meaning:
      "Files with keys, separated by commas: 32 bytes in base64 or hex each, as `openssl rand -base64 32` makes them. The first key encrypts payloads, headers, answers and signing keys in the store, and all decrypt. See [private payloads](../private-payloads.md#encrypt).",
    example: "/etc/authserve/key-2027,/etc/authserve/key-2026",
  },
} satisfies Group;

/** Settings of the connection to Redis. */
export const REDIS = {
  REDIS_HOST: {
    schema: v.optional(host),
    meaning:
      "Redis 6.0 or newer, or Valkey, that keeps sessions and failed logins instead of the SQLite file. Several servers may share it if they have the same `DEMO_PASSWORD` hash.",
    example: "redis.internal",
  },
  REDIS_PORT: {
    schema: v.optional(integer(1, 65_535), "6379"),
    meaning: "Port of `REDIS_HOST`.",
    example: "6380",
  },
  REDIS_USERNAME: {
    schema: v.optional(text),
    meaning:
      "User of Redis, where access lists name one. It needs `~authserve:* +@read +@write +eval +ping`, with a `REDIS_DB` also `+select`, and in a cluster also `+cluster|slots +cluster|info`. `+info` lets the server recognize a replica or an eviction policy that loses sessions.",
    example: "authserve",
  },
  REDIS_PASSWORD: {
    schema: v.optional(text),
    secret: true,
    meaning: "Password of Redis.",
    example: "/etc/authserve/redis_password",
  },
  REDIS_DB: {
    schema: v.optional(integer(0, 999), "0"),
    meaning: "Number of the database in Redis. A cluster has database 0 only.",
    example: "2",
  },
  REDIS_TLS: {
    schema: v.optional(yesOrNo, "false"),
    meaning: "Whether connections use TLS and check certificates, also those to sentinels and cluster nodes.",
    example: "true",
  },
  REDIS_TLS_CA_FILE: {
    schema: v.optional(file),
    defaultText: "the authorities of Node and of the system",
    meaning: "PEM certificates of the authority that signed the certificate of Redis. It needs `REDIS_TLS=true`.",
    example: "/etc/authserve/redis-ca.pem",
  },
  REDIS_SENTINELS: {
    schema: v.optional(addresses),
    meaning:
      "Sentinels that name the master, instead of `REDIS_HOST`. List all of them: only these are asked after a failover.",
    example: "10.0.0.1:26379,10.0.0.2:26379,10.0.0.3:26379",
  },
  REDIS_SENTINEL_PASSWORD: {
    schema: v.optional(text),
    secret: true,
    meaning: "Password of the sentinels.",
    example: "/etc/authserve/sentinel_password",
  },
  REDIS_MASTER_NAME: {
    schema: v.optional(text, "mymaster"),
    meaning: "Name under which the sentinels know the master.",
    example: "sessions",
  },
  REDIS_CLUSTER: {
    schema: v.optional(addresses),
    meaning: "Some nodes of a Redis Cluster, instead of `REDIS_HOST`.",
    example: "10.0.0.1:6379,10.0.0.2:6379",
  },
  REDIS_KEY_PREFIX: {
    schema: v.optional(keyPrefix, "authserve:"),
    meaning: "Prefix of every key, so that several services can share one Redis.",
    example: "staging:",
  },
  REDIS_TIMEOUT: {
    schema: v.optional(duration(10, "1s"), "1s"),
    meaning: "Longest wait for each answer of Redis. After it the client gets 503 `store_unavailable`.",
    example: "500ms",
  },
} satisfies Group;
