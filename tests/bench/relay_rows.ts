/** The rows of the relay: both executors with our harness, through one rendezvous on loopback. */
import type { Row } from "./rows.ts";

const MEDIAN = 0.5;
/** Bound of our share of a handshake, in milliseconds. */
const HANDSHAKE_LIMIT_MS = 3;
/** Bound of the memory of an idle stream, in KB. */
const STREAM_LIMIT_KB = 100;

export const RELAY_ROWS = [
  {
    id: "relay-noise-harness",
    title: "handshake, what the harness computes",
    unit: "ms",
    quantile: MEDIAN,
    target: {},
    limit: HANDSHAKE_LIMIT_MS,
  },
  {
    id: "relay-noise-executor",
    title: "handshake, what the executor computes",
    unit: "ms",
    quantile: MEDIAN,
    target: {},
    limit: HANDSHAKE_LIMIT_MS,
  },
  {
    id: "relay-open",
    title: "registry, rendezvous and handshake, until a stream is open",
    unit: "ms",
    quantile: MEDIAN,
    target: {},
  },
  { id: "relay-status", title: "a small request", unit: "ms", quantile: MEDIAN, target: {} },
  {
    id: "relay-small",
    title: "records of 200 bytes, one each way for a request, 64 in flight",
    unit: "/s",
    quantile: MEDIAN,
    target: { relay: 1.0 },
  },
  {
    id: "relay-up",
    title: "records of 60 KiB to the executor, 8 in flight",
    unit: "/s",
    quantile: MEDIAN,
    target: { relay: 1.0 },
  },
  {
    id: "relay-down",
    title: "records of 60 KiB from the executor, 8 in flight",
    unit: "/s",
    quantile: MEDIAN,
    target: { relay: 1.0 },
  },
  {
    id: "relay-200mb",
    title: "200 MB of output",
    unit: "MB/s",
    quantile: MEDIAN,
    target: { relay: 1.0 },
  },
  {
    id: "relay-100-streams",
    title: "10 requests on each of 100 streams at once",
    unit: "ms",
    quantile: MEDIAN,
    target: { relay: 1.0 },
  },
  {
    id: "relay-stream-memory",
    title: "memory of an idle stream with its session",
    unit: "KB",
    quantile: MEDIAN,
    target: {},
    limit: STREAM_LIMIT_KB,
  },
] as const satisfies readonly Row[];
